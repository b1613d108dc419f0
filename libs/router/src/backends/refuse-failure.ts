import type { ResponseHeaders, Exchange } from '@svc/runtime';
import { BackendError } from '../dialects/backend-error.js';

/** Limits for reading an error body; enough for any message. */
const ERROR_LIMIT_BYTES = 64 * 1024;
const ERROR_READ_MS = 5_000;

/** The longest `Retry-After` of a backend that is passed on. */
const RETRY_AFTER_LIMIT_SECONDS = 3_600;

/** Throws if the response head shows a failure. */
export async function refuseFailure(exchange: Exchange): Promise<void> {
  const { status, headers } = exchange;
  if (status !== 200) {
    exchange.endWithin(ERROR_READ_MS);
    const body = await exchange.beginning(ERROR_LIMIT_BYTES).catch(() => '');
    throw new BackendError(status, body, retryAfterOf(headers));
  }
  // No encoding was requested, and a few compressed bytes can expand to any size.
  if ((headers['content-encoding'] ?? 'identity') !== 'identity')
    throw new Error('the response has an encoding that was not asked for');
}

function retryAfterOf({ 'retry-after': text }: ResponseHeaders): number | undefined {
  const seconds = Number(text);
  return seconds >= 0 ? Math.min(Math.ceil(seconds), RETRY_AFTER_LIMIT_SECONDS) : undefined;
}
