import { FAILURES_ALLOWED } from '@svc/contracts';
import { LRUCache } from 'lru-cache';

/** Subjects that are remembered at once. They are addresses of strangers, who may come with any number of them. */
const MAX_SUBJECTS = 100_000;

/** Of a subject either its latest failures are known or its block, on the clock of `elapsedMs`. */
type Subject = { readonly failedAtMs: readonly number[] } | { readonly blockedUntilMs: number };

interface FailureTimes {
  readonly failureWindowMs: number;
  readonly failureBlockMs: number;
  /** A clock that nobody sets, in milliseconds. */
  readonly elapsedMs: () => number;
}

/** Failures of each subject in a sliding window, in the memory of this process, and who is blocked for them. */
export class FailureCounts {
  private readonly subjects: LRUCache<string, Subject>;

  constructor(private readonly times: FailureTimes) {
    this.subjects = new LRUCache({
      // Each counts as 1. Unlike `max`, this bound takes no memory before it is needed.
      maxSize: MAX_SUBJECTS,
      sizeCalculation: () => 1,
      ttlResolution: 0,
      perf: { now: times.elapsedMs },
    });
  }

  /** How much longer a subject is blocked, in whole milliseconds; 0 when it is not. */
  blockedForMs(subject: string): number {
    const known = this.subjects.get(subject);
    if (!known || !('blockedUntilMs' in known)) return 0;
    return Math.max(0, Math.ceil(known.blockedUntilMs - this.times.elapsedMs()));
  }

  /** Counts a failure, and says how much longer the subject is blocked. */
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
