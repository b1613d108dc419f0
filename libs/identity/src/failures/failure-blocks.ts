import { Injectable } from '@nestjs/common';
import {
  type Caller,
  FAILURES_ALLOWED,
  FAILURE_BLOCK_MS,
  type FailureBlock,
  Limiter,
} from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import { LRUCache } from 'lru-cache';

/** Blocks cached at once. For any other subject the limiter is called. */
const MAX_REMEMBERED = 10_000;

const MESSAGE = `Too many failed attempts (> ${FAILURES_ALLOWED}) resulting in a non-success status code. Please wait ${
  FAILURE_BLOCK_MS / 1_000
}s and try again.`;

/** The subjects of callers, which stay the same for many requests. */
const subjects = new WeakMap<Caller, string>();

/** The subject that failures of a key or wallet count for. */
export function keySubject(caller: Caller): string {
  let subject = subjects.get(caller);
  if (subject === undefined) {
    const { keyId } = caller;
    subject = keyId.startsWith('wallet:') ? keyId : `key:${keyId}`;
    subjects.set(caller, subject);
  }
  return subject;
}

/**
 * Counts failures and caches every block the limiter reports, so that refusing a blocked caller needs no
 * call.
 */
@Injectable()
export class FailureBlocks {
  /** Ends of blocks on the clock of `performance.now()`. */
  private readonly endsMs = new LRUCache<string, number>({ max: MAX_REMEMBERED });

  constructor(private readonly limiter: Limiter) {}

  /** The time left of a subject's cached block, in milliseconds; 0 without one. */
  cachedForMs(subject: string): number {
    // Usually nobody is blocked.
    if (this.endsMs.size === 0) return 0;
    const endMs = this.endsMs.get(subject);
    if (endMs === undefined) return 0;
    const leftMs = endMs - performance.now();
    if (leftMs <= 0) this.endsMs.delete(subject);
    return Math.max(0, leftMs);
  }

  /**
   * The time left of a subject's block, in milliseconds; 0 if not blocked. Calls the limiter if no block is
   * cached.
   */
  async blockedForMs(subject: string): Promise<number> {
    const cachedForMs = this.cachedForMs(subject);
    return cachedForMs > 0 ? cachedForMs : this.cache(subject, await this.limiter.blocked(subject));
  }

  /** Counts a failure. */
  async failed(subject: string): Promise<void> {
    if (this.cachedForMs(subject) === 0) this.cache(subject, await this.limiter.failed(subject));
  }

  /** Caches a block and returns its duration in milliseconds. */
  cache(subject: string, { forMs = 0 }: FailureBlock): number {
    if (forMs > 0) this.endsMs.set(subject, performance.now() + forMs);
    return forMs;
  }
}

/** The error response for a blocked caller. */
export function blockedProblem(forMs: number): Problem {
  const retryAfterSeconds = Math.max(1, Math.ceil(forMs / 1_000));
  return new Problem('RATE_LIMIT_EXCEEDED', { message: MESSAGE, retryAfterSeconds });
}
