/** What a backend says of an error, as far as it can be read. */
export interface ErrorTold {
  readonly message: string | undefined;
  /** The top field of the request that is at fault. */
  readonly field: string | undefined;
  /** Whether the request is longer than the model's context. */
  readonly isOverContext: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

/** Codes and types of an overlong request: OpenAI's and vLLM's, llama.cpp's. */
const OVER_CONTEXT = /context_length_exceeded|exceed_context_size/i;

/** The same in words, for servers that say it in no other way: vLLM, TGI, SGLang, Ollama. */
const OVER_CONTEXT_WORDS =
  /maximum context length|context (length|size|window) (of|is|exceeded)|(exceeds?|longer than) the .{0,40}context (length|size|window)|must be <= .{0,20}max_total_tokens/i;

/** What the names of an error say of its status, where it has no number. */
const STATUS_OF_NAMES: readonly (readonly [RegExp, number])[] = [
  [/rate_?limit|too_?many|quota/i, 429],
  [/overload|capacity|unavailable|busy/i, 503],
  [/time_?d?_?out/i, 504],
  [/invalid_?request|bad_?request|context_length|exceed_context/i, 400],
];

/** A message is read up to here. */
const MESSAGE_LIMIT = 2_000;

/** The error in a body of OpenAI's shape, of the flat shape that some servers use, or of FastAPI's. */
export function readError(body: string): ErrorTold {
  const value = objectIn(body);
  if (!value) return { message: undefined, field: undefined, isOverContext: false };
  const error = isObject(value['error']) ? value['error'] : value;
  const message = textIn(error['message']) ?? textIn(value['error']) ?? textIn(value['detail']);
  const names = namesOf(error);
  return {
    message,
    field: fieldOf(error['param']) ?? fieldAt(value['detail']),
    isOverContext: OVER_CONTEXT.test(names) || OVER_CONTEXT_WORDS.test(message ?? ''),
  };
}

/** The status that an error stands for which comes in an answer of status 200; `undefined` where there is none. */
export function errorStatus(text: string): number | undefined {
  if (!text.includes('"error"')) return undefined;
  const body = objectIn(text);
  if (!body) return undefined;
  const hasAnswer = Array.isArray(body['choices']) && body['choices'].length > 0;
  if (hasAnswer || (!body['error'] && body['object'] !== 'error')) return undefined;
  const error = isObject(body['error']) ? body['error'] : body;
  const told = [error['status'], error['code'], body['status'], body['code']];
  const status = told.map(Number).find((number) => number >= 400 && number < 600);
  if (status !== undefined) return Math.floor(status);
  const names = namesOf(error);
  return STATUS_OF_NAMES.find(([pattern]) => pattern.test(names))?.[1] ?? 500;
}

/** The first step of a path such as `messages[0].content`. */
const fieldOf = (path: unknown): string | undefined => textIn(path)?.split(/[.[]/, 1)[0];

/** FastAPI's `detail`: a list of faults, each with its place as `["body", "top_k"]`. */
function fieldAt(detail: unknown): string | undefined {
  const first: unknown = Array.isArray(detail) ? detail[0] : undefined;
  const place: unknown = isObject(first) ? first['loc'] : undefined;
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

const textIn = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value.slice(0, MESSAGE_LIMIT) : undefined;
