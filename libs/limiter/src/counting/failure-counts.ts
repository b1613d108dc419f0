import { FAILURES_ALLOWED } from '@svc/contracts/ports';
import { LRUCache } from 'lru-cache';

/** Subjects remembered at once. Unknown clients can use any number of addresses. */
const MAX_SUBJECTS = 100_000;

/** A subject has either its latest failures or its block, on the clock of `elapsedMs`. */
type Subject = { readonly failedAtMs: readonly number[] } | { readonly blockedUntilMs: number };

interface FailureTimes {
  readonly failureWindowMs: number;
  readonly failureBlockMs: number;
  /** A monotonic clock, in milliseconds. */
  readonly elapsedMs: () => number;
}

/** Failures of each subject in a sliding window, and the resulting blocks, in the memory of this process. */
export class FailureCounts {
  private readonly subjects: LRUCache<string, Subject>;

  constructor(private readonly times: FailureTimes) {
    this.subjects = new LRUCache({
      // Each counts as 1. Unlike `max`, this limit allocates no memory in advance.
      maxSize: MAX_SUBJECTS,
      sizeCalculation: () => 1,
      ttlResolution: 0,
      perf: { now: times.elapsedMs },
    });
  }

  /** Remaining block of a subject in whole milliseconds; 0 if it is not blocked. */
  blockedForMs(subject: string): number {
    const known = this.subjects.get(subject);
    if (!known || !('blockedUntilMs' in known)) return 0;
    return Math.max(0, Math.ceil(known.blockedUntilMs - this.times.elapsedMs()));
  }

  /** Counts a failure, and returns the subject's remaining block in milliseconds. */
  failed(subject: string): number {
    const blockedForMs = this.blockedForMs(subject);
    if (blockedForMs > 0) return blockedForMs;
    const { failureWindowMs, failureBlockMs } = this.times;
    const nowMs = this.times.elapsedMs();
    const known = this.subjects.get(subject);
    const failedAtMs = known && 'failedAtMs' in known ? known.failedAtMs : [];
    const recent = [...failedAtMs.filter((atMs) => atMs > nowMs - failureWindowMs), nowMs];
    if (recent.length <= FAILURES_ALLOWED) {
      this.subjects.set(subject, { failedAtMs: recent }, { ttl: failureWindowMs });
      return 0;
    }
    this.subjects.set(subject, { blockedUntilMs: nowMs + failureBlockMs }, { ttl: failureBlockMs });
    return failureBlockMs;
  }
}
