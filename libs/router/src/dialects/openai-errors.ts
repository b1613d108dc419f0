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
  /** Whether the backend doesn't have the model, or rejects its key, whatever the status. */
  readonly isMisconfigured: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

/** Codes and types of an overlong request: OpenAI's and vLLM's, llama.cpp's. */
const OVER_CONTEXT = /context_length_exceeded|exceed_context_size/i;

/** The same in words, for servers that report it in no other way: vLLM, TGI, SGLang, Ollama. */
const OVER_CONTEXT_WORDS =
  /maximum context length|context (length|size|window) (of|is|exceeded)|(exceeds?|longer than) the .{0,40}context (length|size|window)|must be <= .{0,20}max_total_tokens/i;

/**
 * Codes and types of a rejected key or model name: OpenAI's, and with 400 LiteLLM's and Kokoro-FastAPI's; and
 * of a workflow that ComfyUI cannot run.
 */
const MISCONFIGURED =
  /invalid_api_key|model_not_found|invalid_model|no_db_connection|prompt_(outputs_failed_validation|no_outputs)|missing_node_type/i;

/** The same in LiteLLM's words, with 400. */
const MISCONFIGURED_WORDS = /Invalid model name passed in/;

/** Codes and types of content that violates a policy: OpenAI's, Azure's. */
const POLICY = /content_policy|content_filter|moderation|responsible_?ai|safety_violation/i;

/** FastAPI's text for an invalid request; llama-cpp-python's server sends it as the message of a 500. */
const VALIDATION =
  /^\d+ validation errors?:\n\s*\{'type': '\w+', 'loc': \('body', '(\w+)'[^)]*\), 'msg': (?:'([^']*)'|"([^"]*)")/;

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
  const error = [value['error'], detail].find(isRecord) ?? value;
  const fault: unknown = Array.isArray(detail) ? detail[0] : undefined;
  const message = textIn(error['message']) ?? textIn(value['error']) ?? textIn(detail) ?? reasonOf(fault);
  // Kokoro-FastAPI has its code in `error`, beside the message.
  const names = error === detail ? `${namesOf(error)} ${String(error['error'])}` : namesOf(error);
  const invalid = VALIDATION.exec(message ?? '');
  return {
    message: invalid ? (invalid[2] ?? invalid[3]) : message,
    field: fieldOf(error['param']) ?? fieldAt(fault) ?? invalid?.[1],
    isOverContext: OVER_CONTEXT.test(names) || OVER_CONTEXT_WORDS.test(message ?? ''),
    isInvalid: invalid !== null,
    isPolicy: POLICY.test(names),
    isMisconfigured: MISCONFIGURED.test(names) || MISCONFIGURED_WORDS.test(message ?? ''),
  };
}

/** The reason in FastAPI's `detail`. */
const reasonOf = (fault: unknown): string | undefined => (isObject(fault) ? textIn(fault['msg']) : undefined);

/** HTML pages of proxies and other JSON are not messages. */
function plainError(body: string): UpstreamError {
  const message = /^\s*[^\s<{["]/.test(body) ? textIn(body) : undefined;
  const isOverContext = OVER_CONTEXT_WORDS.test(message ?? '');
  return {
    message,
    field: undefined,
    isOverContext,
    isInvalid: false,
    isPolicy: false,
    isMisconfigured: false,
  };
}

/** The error status inside a response of status 200; `undefined` if it holds no error. */
export function errorStatus(text: string): number | undefined {
  if (!text.includes('"error"')) return undefined;
  const body = objectIn(text);
  if (!body) return undefined;
  const hasReply = Array.isArray(body['choices']) && body['choices'].length > 0;
  if (hasReply || (!body['error'] && body['object'] !== 'error')) return undefined;
  const error = isObject(body['error']) ? body['error'] : body;
  const statuses = [error['status'], error['code'], body['status'], body['code']];
  const status = statuses.map(Number).find((number) => number >= 400 && number < 600);
  if (status !== undefined) return Math.floor(status);
  const names = namesOf(error);
  return STATUS_OF_NAMES.find(([pattern]) => pattern.test(names))?.[1] ?? 500;
}

/** The first step of a path such as `messages[0].content`. */
const fieldOf = (path: unknown): string | undefined => textIn(path)?.split(/[.[]/, 1)[0];

/** The field in FastAPI's `detail`, from a path such as `["body", "top_k"]`. */
function fieldAt(fault: unknown): string | undefined {
  const place: unknown = isObject(fault) ? fault['loc'] : undefined;
  return Array.isArray(place) ? textIn(place.find((step) => step !== 'body')) : undefined;
}

const namesOf = (error: Fields): string => [textIn(error['code']), textIn(error['type'])].join(' ');

function objectIn(body: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

const isRecord = (value: unknown): value is Fields => isObject(value) && !Array.isArray(value);

const textIn = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value.slice(0, MESSAGE_LIMIT) : undefined;
