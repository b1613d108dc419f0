import { type Fields, fieldsOf, isFields } from '@svc/contracts/inference';
import { JsonReader } from '@svc/runtime';
import { textIn } from '../chat/backend-json.js';
import { callInput, dataIn, unsupported } from '../chat/other-forms.js';

/** A conversation in the form of the Gemini API. */
export interface GeminiConversation {
  readonly system: readonly Fields[];
  readonly contents: readonly Turn[];
}

/** Messages of one role that follow each other are one turn. */
interface Turn {
  readonly role: 'user' | 'model';
  readonly parts: Fields[];
}

/** The types of audio that have another name than their format. */
const AUDIO_TYPES: Readonly<Record<string, string>> = { mp3: 'audio/mpeg', m4a: 'audio/mp4' };

function inline(url: string): Fields {
  const data = dataIn(url);
  if (!data) throw unsupported('this model takes files as data URLs only', 'messages');
  return { inlineData: { mimeType: data.type, data: data.base64 } };
}

function partOf(part: Fields): Fields[] {
  const member = part[textIn(part['type'])];
  const own = isFields(member) ? member : {};
  switch (part['type']) {
    case 'text':
      return textIn(part['text']) === '' ? [] : [{ text: part['text'] }];
    case 'image_url':
    case 'video_url':
      return [inline(textIn(own['url']))];
    case 'file':
      return [inline(textIn(own['file_data']))];
    case 'input_audio': {
      const format = textIn(own['format']) || 'wav';
      return [{ inlineData: { mimeType: AUDIO_TYPES[format] ?? `audio/${format}`, data: own['data'] } }];
    }
    default:
      throw unsupported(`this model does not take ${String(part['type'])}`, 'messages');
  }
}

function partsOf(content: unknown): Fields[] {
  if (typeof content === 'string') return content === '' ? [] : [{ text: content }];
  return fieldsOf(content).flatMap(partOf);
}

/** A signature that clients keep with a call, as Google's own API with OpenAI's form has it. */
function signatureOf({ extra_content: extra }: Fields): Fields {
  const google = isFields(extra) && isFields(extra['google']) ? extra['google'] : {};
  const signature = google['thought_signature'];
  return typeof signature === 'string' ? { thoughtSignature: signature } : {};
}

/** What is read of a conversation from its beginning to its end. */
interface Reading {
  /** The names of calls by their ids. */
  readonly names: Map<unknown, unknown>;
  readonly reader: JsonReader;
}

function callsOf(message: Fields, { names, reader }: Reading): Fields[] {
  return fieldsOf(message['tool_calls']).map((call) => {
    const { name, arguments: text } = isFields(call['function']) ? call['function'] : {};
    names.set(call['id'], name);
    return { functionCall: { name, args: callInput(text, reader) }, ...signatureOf(call) };
  });
}

function modelParts(message: Fields, reading: Reading): Fields[] {
  const texts = partsOf(message['content']);
  const { thought_signature: signature } = message;
  const calls = callsOf(message, reading);
  if (typeof signature !== 'string' || signature === '') return [...texts, ...calls];
  // It comes with an empty text if the model has said nothing.
  const last = texts.pop() ?? { text: '' };
  return [...texts, { ...last, thoughtSignature: signature }, ...calls];
}

/** What a tool has returned: its texts, and files beside it. */
function resultParts(message: Fields, { names }: Reading): Fields[] {
  const parts = partsOf(message['content']);
  const output = parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join('\n');
  const name = names.get(message['tool_call_id']) ?? message['name'] ?? 'tool';
  return [{ functionResponse: { name, response: { output } } }, ...parts.filter((part) => !('text' in part))];
}

/** The conversation in messages of chat completions. */
export function contentsOf(messages: unknown): GeminiConversation {
  const system: Fields[] = [];
  const contents: Turn[] = [];
  const reading: Reading = { names: new Map(), reader: new JsonReader() };
  const add = (role: Turn['role'], parts: readonly Fields[]): void => {
    const last = contents.at(-1);
    if (last?.role === role) last.parts.push(...parts);
    else if (parts.length > 0) contents.push({ role, parts: [...parts] });
  };
  for (const message of fieldsOf(messages))
    switch (message['role']) {
      case 'system':
      case 'developer':
        system.push(...partsOf(message['content']));
        break;
      case 'assistant':
        add('model', modelParts(message, reading));
        break;
      case 'tool':
        add('user', resultParts(message, reading));
        break;
      default:
        add('user', partsOf(message['content']));
    }
  return { system, contents };
}
