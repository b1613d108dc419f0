import { Injectable } from '@nestjs/common';
import { FAILURES_ALLOWED, FAILURE_BLOCK_MS, type FailureBlock, Limiter, Problem } from '@svc/contracts';
import { LRUCache } from 'lru-cache';

/** Blocks that are remembered at once. What is not remembered is asked for. */
const MAX_REMEMBERED = 10_000;

const MESSAGE = `Too many failed attempts (> ${FAILURES_ALLOWED}) resulting in a non-success status code. Please wait ${
  FAILURE_BLOCK_MS / 1_000
}s and try again.`;

/** The holder of a key, or a wallet, as failures are counted. */
export const keySubject = (keyId: string): string => (keyId.startsWith('wallet:') ? keyId : `key:${keyId}`);

/** Counts failures, and remembers every block that this process hears of: who is blocked costs no call from then on. */
@Injectable()
export class FailureBlocks {
  /** Ends of blocks on the clock of `performance.now()`. */
  private readonly endsMs = new LRUCache<string, number>({ max: MAX_REMEMBERED });

  constructor(readonly limiter: Limiter) {}

  /** How much longer a subject is blocked, as far as this process has heard, in milliseconds; 0 when it is not. */
  heardForMs(subject: string): number {
    const endMs = this.endsMs.get(subject);
    if (endMs === undefined) return 0;
    const leftMs = endMs - performance.now();
    if (leftMs <= 0) this.endsMs.delete(subject);
    return Math.max(0, leftMs);
  }

  /** How much longer a subject is blocked, in milliseconds; 0 when it is not. Asks only who has not heard. */
  async blockedForMs(subject: string): Promise<number> {
    const heardForMs = this.heardForMs(subject);
    return heardForMs > 0 ? heardForMs : this.hear(subject, await this.limiter.blocked(subject));
  }

  /** Counts a failure. */
  async failed(subject: string): Promise<void> {
    if (this.heardForMs(subject) === 0) this.hear(subject, await this.limiter.failed(subject));
  }

  /** Remembers a block, and gives how long it is. */
  hear(subject: string, { forMs = 0 }: FailureBlock): number {
    if (forMs > 0) this.endsMs.set(subject, performance.now() + forMs);
    return forMs;
  }
}

/** What a blocked caller hears. */
export function blockedProblem(forMs: number): Problem {
  const retryAfterSeconds = Math.max(1, Math.ceil(forMs / 1_000));
  return new Problem('RATE_LIMIT_EXCEEDED', { message: MESSAGE, retryAfterSeconds });
}
