import { ChatRequest, Problem } from '@svc/contracts';
import { ExchangeAborted, ExchangeTimedOut, presentable, redacted } from '@svc/runtime';
import type { RestScope } from './backend-rest.js';
import { BackendError } from '../dialects/backend-error.js';
import { type ErrorTold, readError } from '../dialects/openai-errors.js';

/** A problem with what another backend might do about it. */
export interface Refusal {
  readonly problem: Problem;
  /** Whether the next backend should be asked. */
  readonly elsewhere: boolean;
  /** For whom this backend should rest. */
  readonly rest: RestScope;
}

/** A request that a backend got. */
export interface SentRequest {
  readonly body: readonly Uint8Array[];
  /** What no client may see of the backend, even where it repeats it: its host, its key. */
  readonly secrets: readonly string[];
}

/** What went wrong at a backend and what it means for the client. */
export function refusalOf(error: unknown, sent: SentRequest): Refusal {
  if (error instanceof BackendError) return refusalOfError(error, sent);
  if (error instanceof ExchangeAborted) {
    return { problem: new Problem('INFERENCE_FAILED', { cause: error }), elsewhere: false, rest: 'nobody' };
  }
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (error instanceof ExchangeTimedOut || code === 'UND_ERR_BODY_TIMEOUT') {
    return { problem: new Problem('REQUEST_TIMEOUT', { cause: error }), elsewhere: false, rest: 'everyone' };
  }
  if (UNREACHABLE.has(code)) {
    return { problem: new Problem('MODEL_OFFLINE', { cause: error }), elsewhere: true, rest: 'everyone' };
  }
  return { problem: new Problem('INFERENCE_FAILED', { cause: error }), elsewhere: true, rest: 'account' };
}

function refusalOfError(backendError: BackendError, sent: SentRequest): Refusal {
  const { status, body, retryAfterSeconds } = backendError;
  const told = readError(body);
  const cause = new Error(reasonForLogs(backendError, sent));
  if (status === 429 || status === 503) {
    const wait = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
    return {
      problem: new Problem('MODEL_AT_CAPACITY', { cause, ...wait }),
      elsewhere: true,
      rest: 'nobody',
    };
  }
  if (told.isOverContext && status < 500)
    return callers(new Problem('TOO_MANY_TOKENS', { ...MESSAGES, cause }));
  if (status === 413) return callers(new Problem('PAYLOAD_TOO_LARGE', { cause }));
  if ((REJECTIONS.has(status) && !told.isMisconfigured) || told.isInvalid)
    return callers(new Problem('INVALID_REQUEST', { ...rejection(told, sent), cause }));
  if (status === 504 || status === 408) {
    return { problem: new Problem('REQUEST_TIMEOUT', { cause }), elsewhere: true, rest: 'nobody' };
  }
  // A rejected key or model name is between the operator and the backend; to a client it is a failure.
  const problem = new Problem('INFERENCE_FAILED', { cause });
  if (status < 500) return { problem, elsewhere: true, rest: 'nobody' };
  return { problem, elsewhere: true, rest: OF_THE_REQUEST.has(status) ? 'account' : 'everyone' };
}

const MESSAGES = { param: 'messages' };

/** Every backend would say the same. */
const callers = (problem: Problem): Refusal => ({ problem, elsewhere: false, rest: 'nobody' });

/** Statuses by which a backend finds fault with the request itself. */
const REJECTIONS: ReadonlySet<number> = new Set([400, 415, 422]);

/** Statuses of a failure that the request itself may have caused. */
const OF_THE_REQUEST: ReadonlySet<number> = new Set([500, 501]);

/** Parts of a request's fields, as backends name them in places such as `tools.0.function.name`. */
const PARTS = new Set(
  'body content detail function image_url json_schema name parameters role schema type url'.split(' '),
);

const isField = (name: string): boolean => Object.hasOwn(ChatRequest.shape, name) || PARTS.has(name);

/** Why a backend rejected a request, for its client: the backend's reason, cleaned, and the field where it names one. */
function rejection(
  { message = '', field }: ErrorTold,
  sent: SentRequest,
): { message: string; param?: string } {
  const reason = presentable(message, { sent: sent.body, secrets: sent.secrets, isField });
  const param = field !== undefined && isNamed(field, sent) ? { param: field } : {};
  if (reason !== '') return { message: `The model rejected the request: ${reason}`, ...param };
  const what = param.param === undefined ? 'the request' : `the value of ${param.param}`;
  return { message: `The model rejected ${what} and gave no reason that can be shown.`, ...param };
}

/** Whether a field is one of the interface, or a further one that the request has. */
function isNamed(field: string, { body }: SentRequest): boolean {
  if (Object.hasOwn(ChatRequest.shape, field)) return true;
  return /^[a-z]\w{0,63}$/i.test(field) && body.some((part) => asBuffer(part).includes(`"${field}":`));
}

/** The same bytes, not a copy. */
const asBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

/** What a backend reported, for a log line. */
export function reasonForLogs({ status, body }: BackendError, sent: SentRequest): string {
  return `backend answered ${status}: ${redacted(readError(body).message ?? body, sent.body)}`;
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
