import { ApiError, invalidRequest } from '../http/api-error.js';

export type JsonRecord = { readonly [key: string]: unknown };

export interface PromptMessage extends JsonRecord {
  readonly role: string;
}

export interface FunctionTool {
  readonly name: string;
  readonly parameters: unknown;
}

/** `none` and `auto` as in the API; `required` allows any tool; otherwise the named function. */
type ToolChoice = 'none' | 'auto' | 'required' | { readonly name: string };

/**
 * The parts of a chat completion request that the simulator acts on; other fields are accepted and ignored.
 */
export interface SimulatorRequest {
  readonly model: string;
  readonly messages: readonly PromptMessage[];
  readonly stream: boolean;
  readonly includeUsage: boolean;
  readonly n: number;
  readonly maxTokens: number | undefined;
  readonly seed: number;
  readonly stop: readonly string[];
  readonly logprobs: boolean;
  readonly topLogprobs: number;
  readonly tools: readonly FunctionTool[];
  readonly toolChoice: ToolChoice;
  readonly parallelToolCalls: boolean;
  readonly responseFormat:
    { readonly type: 'text' | 'json_object' } | { readonly type: 'json_schema'; readonly schema: unknown };
  readonly thinkingOff: boolean;
  readonly body: JsonRecord;
}

/** Whether a JSON value is a plain object. */
export function isObject(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Parses the received text; throws an `ApiError` of status 400 that names the first fault. */
export function parseChatRequest(text: string): SimulatorRequest {
  const body = parseJson(text);
  const model = body['model'];
  if (typeof model !== 'string' || model === '')
    throw invalidRequest('you must provide a model parameter', 'model');
  const tools = readTools(body['tools']);
  const streamOptions = body['stream_options'];
  const maxTokensField = body['max_completion_tokens'] == null ? 'max_tokens' : 'max_completion_tokens';
  return {
    model,
    messages: readMessages(body['messages']),
    stream: readBoolean(body, 'stream', false),
    includeUsage: isObject(streamOptions) && streamOptions['include_usage'] === true,
    n: readWhole(body, 'n', [1, 128]) ?? 1,
    maxTokens: readWhole(body, maxTokensField, [1, Number.MAX_SAFE_INTEGER]),
    seed: readWhole(body, 'seed', [-(2 ** 63), 2 ** 64]) ?? 0,
    stop: readStop(body['stop']),
    logprobs: readBoolean(body, 'logprobs', false),
    topLogprobs: readWhole(body, 'top_logprobs', [0, 20]) ?? 0,
    tools,
    toolChoice: readToolChoice(body['tool_choice'], tools),
    parallelToolCalls: readBoolean(body, 'parallel_tool_calls', true),
    responseFormat: readResponseFormat(body['response_format']),
    thinkingOff: isThinkingOff(body),
    body,
  };
}

/** The object in a JSON body; throws an `ApiError` of status 400 for any other body. */
export function parseJson(text: string): JsonRecord {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw new ApiError(400, 'We could not parse the JSON body of your request.');
  }
  if (!isObject(body)) throw invalidRequest('The body of your request must be a JSON object.');
  return body;
}

function readMessages(value: unknown): PromptMessage[] {
  if (!Array.isArray(value))
    throw invalidRequest("Missing required parameter: 'messages'.", 'messages', 'missing_required_parameter');
  if (value.length === 0) throw invalidRequest("Invalid 'messages': empty array.", 'messages', 'empty_array');
  const messages: unknown[] = value;
  const wrong = messages.findIndex((message) => !isMessage(message));
  if (wrong < 0) return messages.filter(isMessage);
  throw invalidRequest(
    `Invalid 'messages[${wrong}]': expected an object with a role.`,
    `messages[${wrong}].role`,
    'invalid_type',
  );
}

function isMessage(value: unknown): value is PromptMessage {
  return isObject(value) && typeof value['role'] === 'string';
}

function readBoolean(body: JsonRecord, field: string, fallback: boolean): boolean {
  const value = body[field] ?? fallback;
  if (typeof value === 'boolean') return value;
  throw invalidRequest(`Invalid type for '${field}': expected a boolean.`, field, 'invalid_type');
}

function readWhole(
  body: JsonRecord,
  field: string,
  [low, high]: readonly [number, number],
): number | undefined {
  const value = body[field] ?? undefined;
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value >= low && value <= high) return value;
  throw invalidRequest(
    `Invalid '${field}': expected an integer from ${low} to ${high}.`,
    field,
    'invalid_value',
  );
}

function readStop(value: unknown): string[] {
  if (value == null) return [];
  const list: unknown[] = Array.isArray(value) ? value : [value];
  return list.map((item) => {
    if (typeof item === 'string') return item;
    throw invalidRequest(
      "Invalid type for 'stop': expected a string or an array of strings.",
      'stop',
      'invalid_type',
    );
  });
}

function readTools(value: unknown): FunctionTool[] {
  if (value == null) return [];
  if (!Array.isArray(value))
    throw invalidRequest("Invalid type for 'tools': expected an array.", 'tools', 'invalid_type');
  return value.flatMap((tool: unknown, i) => {
    // Tools other than functions are accepted and never called.
    if (isObject(tool) && tool['type'] !== 'function') return [];
    const fn = isObject(tool) ? tool['function'] : undefined;
    if (isObject(fn) && typeof fn['name'] === 'string')
      return [{ name: fn['name'], parameters: fn['parameters'] ?? {} }];
    throw invalidRequest(
      `Missing required parameter: 'tools[${i}].function'.`,
      `tools[${i}].function`,
      'missing_required_parameter',
    );
  });
}

function readToolChoice(value: unknown, tools: readonly FunctionTool[]): ToolChoice {
  if (value == null) return tools.length > 0 ? 'auto' : 'none';
  if (value === 'none' || (value === 'auto' && tools.length === 0)) return 'none';
  if (tools.length === 0)
    throw invalidRequest("'tool_choice' is only allowed when 'tools' are specified.", 'tool_choice');
  if (value === 'auto' || value === 'required') return value;
  const fn = isObject(value) ? value['function'] : undefined;
  const name = isObject(fn) ? fn['name'] : undefined;
  if (typeof name === 'string' && tools.some((tool) => tool.name === name)) return { name };
  throw invalidRequest(
    "Invalid 'tool_choice': expected none, auto, required or a function of 'tools'.",
    'tool_choice',
    'invalid_value',
  );
}

function readResponseFormat(value: unknown): SimulatorRequest['responseFormat'] {
  if (value == null) return { type: 'text' };
  const type = isObject(value) ? value['type'] : undefined;
  const schema = isObject(value) ? value['schema'] : undefined;
  if (type === 'json_object' && isObject(schema)) return { type: 'json_schema', schema };
  if (type === 'text' || type === 'json_object') return { type };
  const wrapper = isObject(value) ? value['json_schema'] : undefined;
  if (type === 'json_schema' && isObject(wrapper)) return { type, schema: wrapper['schema'] ?? {} };
  throw invalidRequest("Invalid 'response_format'.", 'response_format', 'invalid_value');
}

function isThinkingOff(body: JsonRecord): boolean {
  const template = body['chat_template_kwargs'];
  const reasoning = body['reasoning'];
  return (
    (isObject(template) && (template['enable_thinking'] === false || template['thinking'] === false)) ||
    body['reasoning_effort'] === 'none' ||
    (isObject(reasoning) && (reasoning['enabled'] === false || reasoning['effort'] === 'none'))
  );
}

/** The text of a message: its string, or its text parts joined. */
export function messageText(message: PromptMessage | undefined): string {
  const content = message?.['content'];
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((part: unknown) => (isObject(part) && typeof part['text'] === 'string' ? part['text'] : ''))
    .filter((text) => text !== '')
    .join('\n');
}

/** The text of the user's last message; empty without one. */
export function lastUserText(messages: readonly PromptMessage[]): string {
  return messageText(messages.findLast((message) => message.role === 'user'));
}
