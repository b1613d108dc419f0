import { type Fields, fieldsOf, isFields } from '@svc/contracts/inference';
import { JsonReader } from '@svc/runtime';
import { callInput } from '../chat/other-forms.js';
import { blocksOf } from './content.js';

/** A conversation in the form of this provider's API. */
export interface AnthropicConversation {
  readonly system: readonly Fields[];
  readonly messages: readonly Turn[];
  /**
   * Whether the model may reason: it must not begin to in the middle of a turn with calls whose reasoning is
   * not known any more.
   */
  readonly mayThink: boolean;
}

/** Messages of one role that follow each other are one turn. */
interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: Fields[];
}

/** The form of a call's id that the provider accepts. */
const NO_ID = /[^a-zA-Z0-9_-]/g;

const idOf = (value: unknown): string => String(value).replaceAll(NO_ID, '_');

/** Reasoning that the provider has signed. Any other is left out: it would be refused. */
function thoughtsOf(message: Fields): Fields[] {
  return fieldsOf(message['reasoning_details']).flatMap((detail): Fields[] => {
    const { type, text, signature, data } = detail;
    if (type === 'reasoning.encrypted' && typeof data === 'string')
      return [{ type: 'redacted_thinking', data }];
    if (typeof signature !== 'string' || signature === '') return [];
    return [{ type: 'thinking', thinking: typeof text === 'string' ? text : '', signature }];
  });
}

function callsOf(message: Fields, reader: JsonReader): Fields[] {
  return fieldsOf(message['tool_calls']).map(({ id, function: called }) => {
    const { name, arguments: text } = isFields(called) ? called : {};
    return { type: 'tool_use', id: idOf(id), name, input: callInput(text, reader) };
  });
}

function resultOf(message: Fields): Fields {
  const content = blocksOf(message['content']);
  const result = { type: 'tool_result', tool_use_id: idOf(message['tool_call_id']) };
  return content.length === 0 ? result : { ...result, content };
}

/** The conversation in messages of chat completions. */
export function conversationOf(messages: unknown): AnthropicConversation {
  const system: Fields[] = [];
  const turns: Turn[] = [];
  const reader = new JsonReader();
  let mayThink = true;
  const add = (role: Turn['role'], content: readonly Fields[]): void => {
    const last = turns.at(-1);
    if (last?.role === role) last.content.push(...content);
    else if (content.length > 0) turns.push({ role, content: [...content] });
  };
  for (const message of fieldsOf(messages))
    switch (message['role']) {
      case 'system':
      case 'developer':
        system.push(...blocksOf(message['content']));
        break;
      case 'assistant': {
        const [thoughts, calls] = [thoughtsOf(message), callsOf(message, reader)];
        add('assistant', [...thoughts, ...blocksOf(message['content']), ...calls]);
        if (calls.length > 0) mayThink = thoughts.length > 0;
        break;
      }
      case 'tool':
        add('user', [resultOf(message)]);
        break;
      default:
        add('user', blocksOf(message['content']));
        mayThink = true;
    }
  trimEnd(turns);
  return { system, messages: turns, mayThink };
}

/** The provider refuses a last message of the assistant, which the model continues, that ends with spaces. */
function trimEnd(turns: readonly Turn[]): void {
  const last = turns.at(-1);
  const block = last?.content.at(-1);
  if (last?.role === 'assistant' && block && typeof block['text'] === 'string')
    block['text'] = block['text'].trimEnd();
}
