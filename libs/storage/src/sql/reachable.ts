import { setTimeout as sleep } from 'node:timers/promises';
import { StartFault } from '@svc/runtime';
import { DatabaseError } from 'pg';
import { type StorageLogger, silent } from '../logger.js';

const RETRY_MS = 250;
const LOG_EVERY_MS = 10_000;

interface ReachOptions {
  readonly url: string;
  /** How long to wait for a database that does not respond. */
  readonly waitMs: number;
  readonly logger?: StorageLogger;
}

/**
 * Repeats work at the start while the database is unreachable: not up yet, in recovery, or too slow. Throws
 * StartFault after the deadline; any other error is thrown at once.
 */
export async function whenReachable<Result>(
  { url, waitMs, logger = silent }: ReachOptions,
  work: () => Promise<Result>,
): Promise<Result> {
  const { host } = new URL(url);
  const endMs = performance.now() + waitMs;
  let loggedMs = Number.NEGATIVE_INFINITY;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isOutOfReach(error)) throw error;
      const nowMs = performance.now();
      if (nowMs >= endMs) {
        const fault = `The database at ${host} could not be reached within ${waitMs / 1_000} s: ${error.message}`;
        throw new StartFault(fault, { cause: error });
      }
      if (nowMs - loggedMs >= LOG_EVERY_MS) {
        const leftSeconds = Math.ceil((endMs - nowMs) / 1_000);
        logger.warn(
          `The database at ${host} cannot be reached yet; retrying for ${leftSeconds} s: ${error.message}`,
        );
        loggedMs = nowMs;
      }
    }
    await sleep(RETRY_MS);
  }
}

/** What PostgreSQL reports while it starts, stops, recovers or has no room: classes 08 and 57P, and 53300. */
const PASSING = /^(?:08\w{3}|57P\d\d|53300)$/;

/**
 * Node's and pg's codes for a connection that fails or breaks. Other failures are faults of settings or code.
 */
const CONNECTION_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPIPE',
  'ETIMEDOUT',
]);
const CONNECTION_MESSAGE =
  /connection terminated|connection timeout|timeout expired|read timeout|not queryable/i;

/** Whether a later attempt may succeed if only the state of the database changes. */
export function isOutOfReach(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  if (error instanceof DatabaseError) return PASSING.test(error.code ?? '');
  if (error instanceof AggregateError) return error.errors.every(isOutOfReach);
  const { code, name, message, cause } = error as NodeJS.ErrnoException;
  if (name === 'DeadlineExceeded' || CONNECTION_CODES.has(code ?? '')) return true;
  return CONNECTION_MESSAGE.test(message) || isOutOfReach(cause);
}
