import type { CallKind } from '@svc/contracts/inference';
import { ChatRequest } from '@svc/api/chat';
import { PROBLEMS, Problem } from '@svc/contracts/problems';
import { ExchangeAborted, ExchangeTimedOut, presentable, redacted } from '@svc/runtime';
import { BackendError } from './backend-error.js';
import { BackendSilent, type CooldownScope } from './health/backend-health.js';
import { type UpstreamError, readError } from './upstream-errors.js';

/** A problem, and what another backend could do about it. */
export interface Refusal {
  readonly problem: Problem;
  /** Whether to call the next backend. */
  readonly elsewhere: boolean;
  /** Whose requests call this backend last for a while. */
  readonly cooldown: CooldownScope;
  /** How long the backend has asked not to be called. */
  readonly restMs?: number;
}

/** A request as sent to a backend. */
export interface SentRequest {
  /** Default: chat. */
  readonly kind?: CallKind | undefined;
  readonly body: readonly Uint8Array[];
  /** Whether its texts are encrypted. The backend's reason may then quote what it has decrypted. */
  readonly isEncrypted?: boolean;
  /** What clients must not see even if the backend repeats it: its host, its key. */
  readonly secrets: readonly string[];
}

/** Whether the response to calls of a kind is images. */
export const isImageCall = (kind: CallKind): kind is Extract<CallKind, `image${string}`> =>
  kind.startsWith('image');

/** A backend that asks for more is called again after this time, and may ask once more. */
const LONGEST_REST_MS = 300_000;

/** Translates a backend's failure for the client. */
export function refusalOf(error: unknown, sent: SentRequest): Refusal {
  if (error instanceof BackendError) return refusalOfError(error, sent);
  if (error instanceof ExchangeAborted) {
    return {
      problem: new Problem('INFERENCE_FAILED', { cause: error }),
      elsewhere: false,
      cooldown: 'nobody',
    };
  }
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (error instanceof BackendSilent)
    return { problem: new Problem('REQUEST_TIMEOUT', { cause: error }), elsewhere: true, cooldown: 'nobody' };
  if (error instanceof ExchangeTimedOut || code === 'UND_ERR_BODY_TIMEOUT') {
    return {
      problem: new Problem('REQUEST_TIMEOUT', { cause: error }),
      elsewhere: true,
      cooldown: 'everyone',
    };
  }
  if (UNREACHABLE.has(code)) {
    return { problem: new Problem('MODEL_OFFLINE', { cause: error }), elsewhere: true, cooldown: 'everyone' };
  }
  return { problem: new Problem('INFERENCE_FAILED', { cause: error }), elsewhere: true, cooldown: 'account' };
}

function refusalOfError(backendError: BackendError, sent: SentRequest): Refusal {
  const { status, body, retryAfterSeconds } = backendError;
  const refusal = readError(body);
  const cause = new Error(reasonForLogs(backendError, sent));
  if (OVERLOADED.has(status)) {
    const wait = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
    return {
      problem: new Problem('MODEL_AT_CAPACITY', { cause, ...wait }),
      elsewhere: true,
      cooldown: 'nobody',
      ...(retryAfterSeconds !== undefined && {
        restMs: Math.min(retryAfterSeconds * 1_000, LONGEST_REST_MS),
      }),
    };
  }
  if (refusal.isOverContext && status < 500)
    return callers(
      new Problem('TOO_MANY_TOKENS', { ...overflow(refusal, sent), param: contentField(sent.kind), cause }),
    );
  if (sent.kind !== undefined && isImageCall(sent.kind) && refusal.isPolicy && status < 500)
    return callers(new Problem('CONTENT_POLICY_VIOLATION', { cause }));
  if (status === 413) return callers(new Problem('PAYLOAD_TOO_LARGE', { cause }));
  if ((REJECTIONS.has(status) && !refusal.isMisconfigured) || refusal.isInvalid)
    return callers(
      new Problem('INVALID_REQUEST', {
        ...(sent.isEncrypted ? UNDECRYPTED : rejection(refusal, sent)),
        ...(refusal.isPolicy && { isFiltered: true }),
        cause,
      }),
    );
  if (status === 504 || status === 408) {
    return { problem: new Problem('REQUEST_TIMEOUT', { cause }), elsewhere: true, cooldown: 'nobody' };
  }
  // A rejected key or model name concerns the operator; to a client it is a failure.
  const problem = new Problem('INFERENCE_FAILED', { cause });
  if (status < 500) return { problem, elsewhere: true, cooldown: 'nobody' };
  return { problem, elsewhere: true, cooldown: OF_THE_REQUEST.has(status) ? 'account' : 'everyone' };
}

/** The usual message and the backend's own, which has the numbers. */
function overflow({ message = '' }: UpstreamError, sent: SentRequest): { message?: string } {
  const reason = sent.isEncrypted ? '' : reasonIn(message, sent);
  return reason === ''
    ? {}
    : { message: `${PROBLEMS.TOO_MANY_TOKENS.message} The model's server: ${reason}` };
}

/** The field of a request that the model reads. */
function contentField(kind: CallKind = 'chat'): string {
  if (kind === 'chat' || kind === 'prompt-count') return 'messages';
  if (kind === 'rerank') return 'documents';
  return kind === 'embeddings' || kind === 'speech' || kind === 'moderation' ? 'input' : 'prompt';
}

/** One text for all reasons: different ones would say something about the plaintext. */
const UNDECRYPTED = {
  message:
    'Failed to decrypt field, or the model rejected the request. Attest again, and encrypt every message for the attested key.',
  param: 'messages',
};

/** Every backend would reject it as well. */
const callers = (problem: Problem): Refusal => ({ problem, elsewhere: false, cooldown: 'nobody' });

/** Statuses by which a backend rejects the request itself. */
const REJECTIONS: ReadonlySet<number> = new Set([400, 415, 422]);

/** Statuses of a backend that has too much to do; 529 is Anthropic's. */
const OVERLOADED: ReadonlySet<number> = new Set([429, 503, 529]);

/** Failure statuses that the request may have caused. */
const OF_THE_REQUEST: ReadonlySet<number> = new Set([500, 501]);

/** Parts of request fields, as in paths such as `tools.0.function.name`. */
const PARTS = new Set(
  'body content detail function image_url json_schema name parameters role schema type url'.split(' '),
);

const isField = (name: string): boolean => Object.hasOwn(ChatRequest.shape, name) || PARTS.has(name);

const reasonIn = (message: string, { body, secrets }: SentRequest): string =>
  presentable(message, { sent: body, secrets, isField });

/**
 * Why a backend rejected a request, for its client: the cleaned reason, and the field if the backend named
 * one.
 */
function rejection(
  { message = '', field }: UpstreamError,
  sent: SentRequest,
): { message: string; param?: string } {
  const reason = reasonIn(message, sent);
  const param = field !== undefined && isNamed(field, sent) ? { param: field } : {};
  if (reason !== '') return { message: `The model rejected the request: ${reason}`, ...param };
  const what = param.param === undefined ? 'the request' : `the value of ${param.param}`;
  return { message: `The model rejected ${what} without a reason that can be shown.`, ...param };
}

/** Whether the API or the request has this field. */
function isNamed(field: string, { body }: SentRequest): boolean {
  if (Object.hasOwn(ChatRequest.shape, field)) return true;
  return /^[a-z]\w{0,63}$/i.test(field) && body.some((part) => asBuffer(part).includes(`"${field}":`));
}

/** The same bytes, not a copy. */
const asBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

/** The backend's reason, for a log line. */
export function reasonForLogs({ status, body }: BackendError, sent: SentRequest): string {
  if (sent.isEncrypted) return `backend responded with ${status}`;
  return `backend responded with ${status}: ${redacted(readError(body).message ?? body, sent.body)}`;
}

/** Nothing was sent, or nothing could have been: the backend is unreachable. */
const UNREACHABLE = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
]);
