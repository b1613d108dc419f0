import { hasFailed, isError } from '@svc/contracts/messages';
import { jsonOrUndefined } from '@svc/runtime';

/** The readable part of a backend's error body. */
export interface UpstreamError {
  /** The backend's reason in its own words. */
  readonly message: string | undefined;
  /** The top-level field of the request that is at fault. */
  readonly field: string | undefined;
  /** Whether the request is longer than the model's context. */
  readonly isOverContext: boolean;
  /** Whether a server that responds with 500 to everything reports that it can't read the request. */
  readonly isInvalid: boolean;
  /** Whether the content of the request violates a policy of the backend. */
  readonly isPolicy: boolean;
  /** Whether the backend doesn't have the model, or rejects its key or its bill, whatever the status. */
  readonly isMisconfigured: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

/** Codes and types of an overlong request: OpenAI's and vLLM's, llama.cpp's. */
const OVER_CONTEXT = /context_length_exceeded|exceed_context_size/i;

/** The same in words, for servers that report it in no other way, and the servers that do. */
const OVER_CONTEXT_WORDS: readonly RegExp[] = [
  // OpenAI, DeepSeek, vLLM, Mistral, llama.cpp, Ollama
  /max(?:imum)? context length|context (?:length|size|window|limit) (?:of|is|exceeded|exceeds)/i,
  // vLLM, SGLang, llama.cpp, Anthropic
  /(?:exceed(?:s|ed)?|(?:longer|larger) than) (?:the )?.{0,40}(?:context|model) (?:length|size|window|limit)/i,
  // TGI
  /must be <= .{0,20}max_total_tokens|max_new_tokens. must be <=/i,
  // Anthropic, Bedrock, Fireworks, Ollama
  /\b(?:prompt|input|request|conversation|messages) (?:(?:is|are|was) )?too long/i,
  // Gemini, Bedrock
  /\binput tokens? (?:count )?.{0,30}exceeds? (?:the )?max/i,
  // xAI, Zhipu, DashScope
  /maximum prompt length|prompt exceeds (?:the )?max|range of input length/i,
  // Moonshot, Cohere
  /exceed(?:s|ed)? (?:the )?model(?:'s)? token limit|too many tokens: .{0,60}prompt/i,
];

const isOverContextIn = (message = ''): boolean => OVER_CONTEXT_WORDS.some((words) => words.test(message));

/**
 * Codes and types of a rejected key or model name: OpenAI's, and with 400 LiteLLM's and Kokoro-FastAPI's; and
 * of a workflow that ComfyUI cannot run.
 */
const MISCONFIGURED =
  /invalid_api_key|model_not_found|invalid_model|no_db_connection|prompt_(outputs_failed_validation|no_outputs)|missing_node_type/i;

/**
 * The same in the words of LiteLLM, Gemini, Anthropic and Bedrock, with 400; and an account that cannot
 * pay.
 */
const MISCONFIGURED_WORDS =
  /Invalid model name passed in|API key (?:not valid|expired)|credit balance is too low|model identifier is invalid|with on-demand throughput/;

/** Codes and types of content that violates a policy: OpenAI's, Azure's. */
const POLICY = /content_policy|content_filter|moderation|responsible_?ai|safety_violation/i;

/**
 * The text of an invalid request by FastAPI, which some servers send as the message of an error: those of
 * llama-cpp-python with status 500, those of vLLM with the place as one text.
 */
const VALIDATION =
  /^\d+ validation errors?:\s*\{'type': '\w+', 'loc': (?:\('body', '(?<field>\w+)'[^)]*\)|'body\.(?<step>\w+)[^']*'), 'msg': (?:'(?<msg>[^']*)'|"(?<quoted>[^"]*)")/;

/** The same by Pydantic. */
const PYDANTIC = /^\d+ validation errors? for \w+\s*\n(?<field>\w+)[^\n]*\n\s+(?<msg>[^\n]*?) \[type=/;

/** HTTP status by error code or type, for errors without a numeric status. */
const STATUS_OF_NAMES: readonly (readonly [RegExp, number])[] = [
  [/rate_?limit|too_?many|quota/i, 429],
  [/overload|capacity|unavailable|busy/i, 503],
  [/time_?d?_?out/i, 504],
  [/invalid_?request|bad_?request|context_length|exceed_context/i, 400],
];

/** Longer messages are cut here. */
const MESSAGE_LIMIT = 2_000;

/**
 * Parses an error in OpenAI's shape, the flat shape of some servers, FastAPI's shape, Kokoro-FastAPI's, or
 * plain text.
 */
export function readError(body: string): UpstreamError {
  const value = objectIn(body);
  if (!value) return plainError(body);
  const { detail } = value;
  const inChoice = choicesOf(value).find(hasFailed)?.['error'];
  const error = [value['error'], detail, inChoice].find(isRecord) ?? value;
  const fault: unknown = Array.isArray(detail) ? detail[0] : undefined;
  const message = textIn(error['message']) ?? textIn(value['error']) ?? textIn(detail) ?? reasonOf(fault);
  // Kokoro-FastAPI has its code in `error`, beside the message.
  const names = error === detail ? `${namesOf(error)} ${String(error['error'])}` : namesOf(error);
  const invalid = invalidIn(message);
  return {
    message: invalid?.message ?? message,
    field: fieldOf(error['param']) ?? fieldAt(fault) ?? invalid?.field,
    isOverContext: OVER_CONTEXT.test(names) || isOverContextIn(message),
    isInvalid: invalid !== undefined,
    isPolicy: POLICY.test(names),
    isMisconfigured: MISCONFIGURED.test(names) || MISCONFIGURED_WORDS.test(message ?? ''),
  };
}

/** The first fault in the text of a validator. */
function invalidIn(message = ''): Pick<UpstreamError, 'message' | 'field'> | undefined {
  const { groups } = VALIDATION.exec(message) ?? PYDANTIC.exec(message) ?? {};
  if (!groups) return undefined;
  const { field, step, msg, quoted } = groups;
  return { message: msg ?? quoted, field: field ?? step };
}

/** The reason in FastAPI's `detail`. */
const reasonOf = (fault: unknown): string | undefined => (isObject(fault) ? textIn(fault['msg']) : undefined);

/** HTML pages of proxies and other JSON are not messages. */
function plainError(body: string): UpstreamError {
  const message = /^\s*[^\s<{["]/.test(body) ? textIn(body) : undefined;
  const isOverContext = isOverContextIn(message);
  return {
    message,
    field: undefined,
    isOverContext,
    isInvalid: false,
    isPolicy: false,
    isMisconfigured: false,
  };
}

/** Whether a text may have a failure that `errorStatus` finds. Escaped quotes are within texts. */
const MAY_FAIL = /"error"|"finish_reason"\s*:\s*(?!null|"(?:stop|length|tool_calls)")/;

/**
 * The error status inside a response of status 200; `undefined` if it reports no failure: no error, or only a
 * choice that has failed. A complete response may have choices beside an error that is of no consequence.
 */
export function errorStatus(text: string, isEvent = false): number | undefined {
  if (!MAY_FAIL.test(text)) return undefined;
  const body = objectIn(text);
  if (!body) return undefined;
  const choices = choicesOf(body);
  const failed = choices.find(hasFailed);
  const isReply = choices.length > 0 && !isEvent;
  if (!failed && (isReply || (!isError(body['error']) && body['object'] !== 'error'))) return undefined;
  const error = [failed?.['error'], body['error']].find((value) => isObject(value) && isError(value)) ?? body;
  return statusIn(isObject(error) ? error : body, body);
}

function statusIn(error: Fields, body: Fields): number {
  const statuses = [error['status'], error['code'], body['status'], body['code']];
  const status = statuses.map(Number).find((number) => number >= 400 && number < 600);
  if (status !== undefined) return Math.floor(status);
  const names = namesOf(error);
  return STATUS_OF_NAMES.find(([pattern]) => pattern.test(names))?.[1] ?? 500;
}

const choicesOf = ({ choices }: Fields): Fields[] =>
  Array.isArray(choices) ? (choices as unknown[]).filter(isObject) : [];

/** Whether an event begins a response: with anything but roles, with its end, or in an unknown format. */
export function begins(event: string): boolean {
  const body = objectIn(event);
  if (!body || !Array.isArray(body['choices'])) return true;
  return choicesOf(body).some(({ delta, message, finish_reason: reason }) => {
    const members = isObject(delta) ? delta : message;
    const hasContent =
      isObject(members) && Object.entries(members).some(([name, value]) => name !== 'role' && isSome(value));
    return hasContent || isSome(reason);
  });
}

const isSome = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== '' && !(Array.isArray(value) && value.length === 0);

/** The first step of a path such as `messages[0].content` or `body.messages.0`. */
const fieldOf = (path: unknown): string | undefined =>
  textIn(path)
    ?.replace(/^body\./, '')
    .split(/[.[]/, 1)[0];

/** The field in FastAPI's `detail`, from a path such as `["body", "top_k"]`. */
function fieldAt(fault: unknown): string | undefined {
  const place: unknown = isObject(fault) ? fault['loc'] : undefined;
  if (typeof place === 'string') return fieldOf(place);
  return Array.isArray(place) ? textIn(place.find((step) => step !== 'body')) : undefined;
}

const namesOf = (error: Fields): string => [textIn(error['code']), textIn(error['type'])].join(' ');

function objectIn(body: string): Fields | undefined {
  const value = jsonOrUndefined(body);
  return isObject(value) ? value : undefined;
}

const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

const isRecord = (value: unknown): value is Fields => isObject(value) && !Array.isArray(value);

const textIn = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value.slice(0, MESSAGE_LIMIT) : undefined;
