import type { ResponseHeaders, Exchange } from '@svc/runtime';
import { BackendError } from './backend-error.js';
import { resetOf } from './health/limit-resets.js';

/** Limits for reading an error body; enough for any message. */
const ERROR_LIMIT_BYTES = 64 * 1024;
const ERROR_READ_MS = 5_000;

const TOO_MANY = 429;

/** The longest `Retry-After` of a backend that is passed on. */
const RETRY_AFTER_LIMIT_SECONDS = 3_600;

/** Throws if the response head shows a failure, or returns a promise that rejects. */
export function refuseFailure(exchange: Exchange): Promise<never> | undefined {
  const { status, headers } = exchange;
  if (status !== 200) return failureOf(exchange);
  // No encoding was requested, and a few compressed bytes can expand to any size.
  if ((headers['content-encoding'] ?? 'identity') !== 'identity')
    throw new Error('the response has an encoding that was not asked for');
  return undefined;
}

async function failureOf(exchange: Exchange): Promise<never> {
  exchange.endWithin(ERROR_READ_MS);
  const body = await exchange.beginning(ERROR_LIMIT_BYTES).catch(() => '');
  const { status, headers } = exchange;
  const waitSeconds = retryAfterOf(headers) ?? (status === TOO_MANY ? resetOf(headers) : undefined);
  throw new BackendError(status, body, waitSeconds);
}

/** Seconds, or a date, or milliseconds in a header of their own, which is more exact. */
export function retryAfterOf(headers: ResponseHeaders, nowMs = Date.now()): number | undefined {
  const { 'retry-after-ms': ms, 'retry-after': text } = headers;
  const waits = [numberIn(ms) / 1_000, numberIn(text), (dateIn(text) - nowMs) / 1_000];
  const seconds = waits.find((wait) => !Number.isNaN(wait) && wait !== Infinity);
  if (seconds === undefined || seconds < 0) return undefined;
  return Math.min(Math.ceil(seconds), RETRY_AFTER_LIMIT_SECONDS);
}

type HeaderValue = ResponseHeaders[string];

const numberIn = (value: HeaderValue): number =>
  typeof value === 'string' && value.trim() !== '' ? Number(value) : NaN;

/** HTTP dates begin with the day of the week; `Date.parse` reads much else, such as `-5`. */
const dateIn = (value: HeaderValue): number =>
  typeof value === 'string' && /^\s*[a-z]{3,9},? /i.test(value) ? Date.parse(value) : NaN;
