import { randomUUID } from 'node:crypto';
import { Problem } from '@svc/contracts';
import type { RootLogger } from '@svc/runtime';
import { money } from '@svc/telemetry';
import type { HoldSteps } from './hold-steps.js';

/** One line in so long tells of marks that were missing: there are hundreds. */
const QUIET_MS = 5_000;

/**
 * Marks in Redis that say that what it knew of a bucket of accounts it still knows. A bucket without one is new, or was
 * lost: charges that were settled and not posted were in its holds, so its accounts are known again only once all that
 * was recorded is posted.
 */
export class HoldMarks {
  /** Buckets whose mark is looked for, by its key. */
  private readonly sought = new Map<string, Promise<string>>();
  private nextRound: Promise<void> | undefined;
  private quietUntilMs = 0;
  /** How often a mark was missing since the start. */
  missing = 0;

  constructor(
    private readonly steps: HoldSteps,
    /** Resolves once every charge that was recorded before the call is posted. */
    private readonly allPosted: () => Promise<void>,
    private readonly log: Pick<RootLogger['log'], 'warn'>,
  ) {}

  /** The mark of an account's bucket, once it has one. Refuses with UNAVAILABLE. */
  of(accountId: string): Promise<string> {
    const key = this.steps.markKey(accountId);
    const known = this.sought.get(key);
    if (known) return known;
    const seeking = this.seek(key).finally(() => this.sought.delete(key));
    this.sought.set(key, seeking);
    return seeking;
  }

  private async seek(key: string): Promise<string> {
    const { redis } = this.steps;
    try {
      const there = await redis.get(key);
      if (there !== null) return there;
      this.missing += 1;
      money.marksMissing.add(1);
      this.tell();
      await this.round();
      await redis.set(key, randomUUID(), 'NX');
      const mark = await redis.get(key);
      if (mark !== null) return mark;
      throw new Error('the mark was lost again');
    } catch (error) {
      throw error instanceof Problem ? error : new Problem('UNAVAILABLE', { cause: error });
    }
  }

  /** A wait for the postings that begins after this call; one for all that wait meanwhile. */
  private round(): Promise<void> {
    this.nextRound ??= Promise.resolve().then(() => {
      this.nextRound = undefined;
      return this.allPosted();
    });
    return this.nextRound;
  }

  private tell(): void {
    const now = performance.now();
    if (now < this.quietUntilMs) return;
    this.quietUntilMs = now + QUIET_MS;
    this.log.warn(
      { marks: this.missing },
      'Redis knows no holds, as at its first start, or has lost them: live ones come back as they are renewed',
    );
  }
}
