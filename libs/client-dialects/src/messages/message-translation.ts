import type { Model } from '@svc/catalog';
import type { CountTokensRequest, MessagesRequest } from '@svc/api/messages';
import type { JsonText } from '@svc/runtime';
import { type JsonPart, elementsOf, membersOf, objectPart, partOf } from '@svc/paid/json';
import { allEmpty, type Origin, type TranslatedRequest, translated } from '@svc/text/request';
import type { Path } from './content-translation.js';
import { Conversation, type MessageOrigin } from './conversation.js';
import { showsThinking, thinkingMembers } from './thinking.js';
import { translatedTools } from './tool-translation.js';

type Members = ReadonlyMap<string, JsonPart>;

/** Members that chat completions have under the same name. */
const SAME = [
  'model',
  'max_tokens',
  'stream',
  'temperature',
  'top_p',
  'top_k',
  'session_id',
  'models',
  'fallbacks',
  'fallback_on',
];

/** Members that chat completions have under another name. */
const ORIGINS: Readonly<Record<string, Path>> = {
  stop: ['stop_sequences'],
  response_format: ['output_config', 'format'],
  reasoning_effort: ['thinking'],
  reasoning: ['thinking'],
  parallel_tool_calls: ['tool_choice', 'disable_parallel_tool_use'],
  user: ['metadata', 'user_id'],
};

/** A message as a chat completion. Refuses: INVALID_REQUEST. */
export async function chatRequestFor(
  request: MessagesRequest | CountTokensRequest,
  json: JsonText,
  model: Pick<Model, 'capabilities' | 'reasoning'>,
): Promise<TranslatedRequest> {
  const members = givenMembers({ value: request, text: json.text });
  const conversation = new Conversation(json.strings);
  const system = members.get('system');
  if (system) await conversation.addSystem(system, ['system']);
  for (const [index, message] of elementsOf(members.get('messages') ?? partOf([])).entries())
    await conversation.addMessage(message, ['messages', index]);
  const messages = conversation.list;
  if ((messages.value as readonly unknown[]).length === 0) throw allEmpty();
  const tools = translatedTools(request, members.get('tools'));
  const stops = members.get('stop_sequences');
  const metadata = givenMembers(members.get('metadata'));
  const chat = objectPart([
    ...SAME.map((name) => [name, members.get(name)] as const),
    ['messages', messages],
    ['stop', stops && elementsOf(stops).length > 0 ? stops : undefined],
    ['user', metadata.get('user_id')],
    ['response_format', formatOf(members)],
    ...thinkingMembers(request, model),
    ...tools.members,
    ['svc_parameters', parametersOf(request, members.get('svc_parameters'), tools.search)],
  ]);
  return translated(json, chat, originWith(conversation.origins, tools.origins));
}

/** Made here because a closure in the translation would keep its texts in memory. */
function originWith(messages: readonly MessageOrigin[], tools: readonly number[]): Origin {
  return ([first, ...rest]) => {
    if (first === undefined) return [];
    if (first === 'messages') return rest.length === 0 ? ['messages'] : messagePath(messages, rest);
    if (first === 'tools' && rest[0] !== undefined) return toolPath(tools[Number(rest[0])], rest);
    return ORIGINS[first] ?? [first, ...rest];
  };
}

function messagePath(origins: readonly MessageOrigin[], [index, member, at]: Path): Path {
  const origin = origins[Number(index)];
  if (!origin) return ['messages'];
  return (member === 'content' ? origin.paths[Number(at)] : undefined) ?? origin.path;
}

function toolPath(index: number | undefined, [, member, field]: Path): Path {
  const at = index === undefined ? ['tools'] : ['tools', index];
  if (member !== 'function' || field === undefined) return at;
  return [...at, field === 'parameters' ? 'input_schema' : field];
}

/** The members that are not null. */
function givenMembers(part: JsonPart | undefined): Members {
  if (!part) return new Map();
  return new Map([...membersOf(part)].filter(([, { value }]) => value !== null));
}

function formatOf(members: Members): JsonPart | undefined {
  const format = givenMembers(members.get('output_config')).get('format') ?? members.get('output_format');
  const schema = format && membersOf(format).get('schema');
  if (!schema) return undefined;
  const jsonSchema = objectPart([
    ['name', partOf('output')],
    ['strict', partOf(true)],
    ['schema', schema],
  ]);
  return objectPart([
    ['type', partOf('json_schema')],
    ['json_schema', jsonSchema],
  ]);
}

/** The client's own options take precedence. */
function parametersOf(
  request: MessagesRequest | CountTokensRequest,
  own: JsonPart | undefined,
  search: string | undefined,
): JsonPart {
  return objectPart([
    ['strip_thinking_response', showsThinking(request) ? undefined : partOf(true)],
    ['enable_web_search', search === undefined ? undefined : partOf(search)],
    ...givenMembers(own),
  ]);
}
