import { randomUUID } from 'node:crypto';
import { Problem } from '@svc/contracts/problems';
import type { RootLogger } from '@svc/runtime';
import { money } from '@svc/telemetry';
import { type HoldSteps, bucketOf } from './hold-steps.js';

/** Interval between log lines about missing marks: there are hundreds. */
const QUIET_MS = 5_000;

/**
 * Each bucket of accounts has a generation marker ("mark") in Redis. A missing mark means that the bucket is
 * new or that Redis lost data: it started empty, a replica took over, or it restarted from an older file. The
 * lost holds may have covered charges that were settled but not posted, so the bucket's accounts are loaded
 * again only after everything recorded is posted.
 */
export class HoldMarks {
  /** Buckets whose mark is being looked up. */
  private readonly sought = new Map<number, Promise<string>>();
  private nextRound: Promise<void> | undefined;
  private quietUntilMs = 0;
  /** How many missing marks were seen since the start. */
  missing = 0;

  constructor(
    private readonly steps: HoldSteps,
    /** Resolves once every charge recorded before the call is posted. */
    private readonly allPosted: () => Promise<void>,
    private readonly log: Pick<RootLogger['log'], 'warn'>,
  ) {}

  /** The mark of an account's bucket, created if necessary. Rejects: UNAVAILABLE. */
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
      this.logLost();
      await this.round();
      return await this.steps.marked(bucket, randomUUID());
    } catch (error) {
      throw error instanceof Problem ? error : new Problem('UNAVAILABLE', { cause: error });
    }
  }

  /** Waits for postings, starting after this call; concurrent callers share one wait. */
  private round(): Promise<void> {
    this.nextRound ??= Promise.resolve().then(() => {
      this.nextRound = undefined;
      return this.allPosted();
    });
    return this.nextRound;
  }

  private logLost(): void {
    const now = performance.now();
    if (now < this.quietUntilMs) return;
    this.quietUntilMs = now + QUIET_MS;
    this.log.warn(
      { marks: this.missing },
      'Redis has no holds for some accounts: it is new or lost data; running requests restore their holds by renewal',
    );
  }
}
