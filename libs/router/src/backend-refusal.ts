import { Problem } from '@svc/contracts';
import { ExchangeAborted, ExchangeTimedOut } from './exchange.js';

/** A problem with what another backend might do about it. */
export interface Refusal {
  readonly problem: Problem;
  /** Whether the next backend should be asked. */
  readonly elsewhere: boolean;
  /** Whether this backend should rest. */
  readonly coolDown: boolean;
}

/** A backend's answer that is none, with what it means. */
export class BackendFailure extends Error {
  override readonly name = 'BackendFailure';

  constructor(readonly refusal: Refusal) {
    super(refusal.problem.message, { cause: refusal.problem });
  }
}

/** A failure that says no more than why; another backend may do better. */
export function failed(why: string): BackendFailure {
  const problem = new Problem('INFERENCE_FAILED', { cause: new Error(why) });
  return new BackendFailure({ problem, elsewhere: true, coolDown: false });
}

interface BackendError {
  readonly message: string | undefined;
  readonly code: string | undefined;
  readonly param: string | undefined;
}

/** What a backend's answer with a status other than 200 means for the client. */
export function refusalOf(status: number, body: string, retryAfterSeconds: number | undefined): Refusal {
  const { message, code, param } = readError(body);
  const cause = new Error(`backend answered ${status}: ${(message ?? body).slice(0, 500)}`);
  if (status === 429 || status === 503) {
    const wait = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
    return {
      problem: new Problem('MODEL_AT_CAPACITY', { cause, ...wait }),
      elsewhere: true,
      coolDown: false,
    };
  }
  if (code === 'context_length_exceeded') {
    return {
      problem: new Problem('TOO_MANY_TOKENS', { param: 'messages', cause }),
      elsewhere: false,
      coolDown: false,
    };
  }
  if (status === 400 || status === 413 || status === 422) {
    const said = { ...(message && { message }), ...(param && { param }) };
    return { problem: new Problem('INVALID_REQUEST', { ...said, cause }), elsewhere: false, coolDown: false };
  }
  if (status === 504 || status === 408) {
    return { problem: new Problem('REQUEST_TIMEOUT', { cause }), elsewhere: true, coolDown: false };
  }
  // 401, 403 and 404 are between the operator and the backend; to a client they are a failure.
  return { problem: new Problem('INFERENCE_FAILED', { cause }), elsewhere: true, coolDown: status >= 500 };
}

/** What a failure of the connection means for the client. */
export function failureOf(error: unknown): Refusal {
  if (error instanceof BackendFailure) return error.refusal;
  if (error instanceof ExchangeAborted) {
    return { problem: new Problem('INFERENCE_FAILED', { cause: error }), elsewhere: false, coolDown: false };
  }
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (error instanceof ExchangeTimedOut || code === 'UND_ERR_BODY_TIMEOUT') {
    return { problem: new Problem('REQUEST_TIMEOUT', { cause: error }), elsewhere: false, coolDown: true };
  }
  if (UNREACHABLE.has(code)) {
    return { problem: new Problem('MODEL_OFFLINE', { cause: error }), elsewhere: true, coolDown: true };
  }
  return { problem: new Problem('INFERENCE_FAILED', { cause: error }), elsewhere: true, coolDown: true };
}

/** Nothing was sent, or nothing could have been: the backend is not there. */
const UNREACHABLE = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** What the names of an error say of its status, where it has no number. */
const STATUS_OF_NAMES: readonly (readonly [RegExp, number])[] = [
  [/rate_?limit|too_?many|quota/i, 429],
  [/overload|capacity|unavailable|busy/i, 503],
  [/time_?d?_?out/i, 504],
  [/invalid_?request|bad_?request|context_length|exceed_context/i, 400],
];

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
  if (status !== undefined) return status;
  const names = [error['type'], error['code']].join(' ');
  return STATUS_OF_NAMES.find(([pattern]) => pattern.test(names))?.[1] ?? 500;
}

/** The error in a body of OpenAI's shape, or of the flat shape that some servers use. */
function readError(body: string): BackendError {
  const value = objectIn(body);
  if (!value) return { message: undefined, code: undefined, param: undefined };
  const error = isObject(value['error']) ? value['error'] : value;
  return {
    message: text(error['message']) ?? text(value['error']),
    code: text(error['code']),
    param: text(error['param']),
  };
}

function objectIn(body: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;
