import { Problem } from '@svc/contracts';
import { ExchangeAborted } from './exchange.js';

/** A problem with what another backend might do about it. */
export interface Refusal {
  readonly problem: Problem;
  /** Whether the next backend should be asked. */
  readonly elsewhere: boolean;
  /** Whether this backend should rest. */
  readonly coolDown: boolean;
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
  if (error instanceof Problem) return { problem: error, elsewhere: false, coolDown: false };
  if (error instanceof ExchangeAborted) {
    return { problem: new Problem('INFERENCE_FAILED', { cause: error }), elsewhere: false, coolDown: false };
  }
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT') {
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

/** The error in a body of OpenAI's shape, or of the flat shape that some servers use. */
function readError(body: string): BackendError {
  const none = { message: undefined, code: undefined, param: undefined };
  try {
    const value: unknown = JSON.parse(body);
    if (!isObject(value)) return none;
    const error = isObject(value['error']) ? value['error'] : value;
    return {
      message: text(error['message']) ?? text(value['error']),
      code: text(error['code']),
      param: text(error['param']),
    };
  } catch {
    return none;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;
