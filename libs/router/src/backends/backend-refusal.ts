import { ChatRequest, Problem } from '@svc/contracts';
import { ExchangeAborted, ExchangeTimedOut, redacted } from '@svc/runtime';
import { type ErrorTold, readError } from './told-error.js';

/** A problem with what another backend might do about it. */
export interface Refusal {
  readonly problem: Problem;
  /** Whether the next backend should be asked. */
  readonly elsewhere: boolean;
  /** Whether this backend should rest. */
  readonly coolDown: boolean;
}

/** A backend answered with an error, by its status or inside a 200. */
export class BackendError extends Error {
  override readonly name = 'BackendError';

  constructor(
    readonly status: number,
    readonly body: string,
    readonly retryAfterSeconds?: number,
  ) {
    super(`backend answered ${status}`);
  }
}

/** What went wrong at a backend and what it means for the client. `sent` is what the backend had got. */
export function refusalOf(error: unknown, sent: readonly Uint8Array[]): Refusal {
  if (error instanceof BackendError) return refusalOfError(error, sent);
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

/** A backend's own words go into logs alone, redacted: to clients they could tell of keys, hosts and other clients. */
function refusalOfError(
  { status, body, retryAfterSeconds }: BackendError,
  sent: readonly Uint8Array[],
): Refusal {
  const told = readError(body);
  const cause = new Error(`backend answered ${status}: ${redacted(told.message ?? body, sent)}`);
  if (status === 429 || status === 503) {
    const wait = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
    return {
      problem: new Problem('MODEL_AT_CAPACITY', { cause, ...wait }),
      elsewhere: true,
      coolDown: false,
    };
  }
  if (told.isOverContext && status < 500)
    return callers(new Problem('TOO_MANY_TOKENS', { ...MESSAGES, cause }));
  if (status === 400 || status === 422) return callers(invalidRequest(told, cause));
  if (status === 413) return callers(new Problem('PAYLOAD_TOO_LARGE', { cause }));
  if (status === 504 || status === 408) {
    return { problem: new Problem('REQUEST_TIMEOUT', { cause }), elsewhere: true, coolDown: false };
  }
  // 401, 403 and 404 are between the operator and the backend; to a client they are a failure.
  return { problem: new Problem('INFERENCE_FAILED', { cause }), elsewhere: true, coolDown: status >= 500 };
}

const MESSAGES = { param: 'messages' };

/** Every backend would say the same. */
const callers = (problem: Problem): Refusal => ({ problem, elsewhere: false, coolDown: false });

/** Names the field only where it is one of the interface. */
function invalidRequest({ field }: ErrorTold, cause: Error): Problem {
  if (field === undefined || !Object.hasOwn(ChatRequest.shape, field))
    return new Problem('INVALID_REQUEST', { message: 'The model does not accept this request.', cause });
  const message = `The model does not accept this value of ${field}.`;
  return new Problem('INVALID_REQUEST', { message, param: field, cause });
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
