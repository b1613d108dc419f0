import { randomUUID } from 'node:crypto';
import { Problem } from '@svc/contracts';
import type { RootLogger } from '@svc/runtime';
import { money } from '@svc/telemetry';
import { type HoldSteps, bucketOf } from './hold-steps.js';

/** One line in so long tells of marks that were missing: there are hundreds. */
const QUIET_MS = 5_000;

/**
 * Marks in Redis that say that what it knew of a bucket of accounts it still knows. A bucket without one is new, or was
 * lost, and so was what came last where another server has taken over, or the same one has begun again from its file: charges that were settled and not posted were in its holds, so its accounts are known again only once all that
 * was recorded is posted.
 */
export class HoldMarks {
  /** Buckets whose mark is looked for. */
  private readonly sought = new Map<number, Promise<string>>();
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
    const bucket = bucketOf(accountId);
    const known = this.sought.get(bucket);
    if (known) return known;
    const seeking = this.seek(bucket).finally(() => this.sought.delete(bucket));
    this.sought.set(bucket, seeking);
    return seeking;
  }

  private async seek(bucket: number): Promise<string> {
    try {
      const there = await this.steps.mark(bucket);
      if (there !== undefined) return there;
      this.missing += 1;
      money.marksMissing.add(1);
      this.tell();
      await this.round();
      return await this.steps.marked(bucket, randomUUID());
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
