import { FAILURES_ALLOWED } from '@svc/contracts';
import { RecentMap } from './recent-map.js';

/** Subjects that are remembered at once. They are addresses of strangers, who may come with any number of them. */
const MAX_SUBJECTS = 100_000;

/** Failures of each subject in a sliding window, in the memory of this process, and who is blocked for them. */
export class FailureCounts {
  private readonly failures: RecentMap<number[]>;
  private readonly blocks: RecentMap<number>;

  constructor(private readonly times: { readonly failureWindowMs: number; readonly failureBlockMs: number }) {
    this.failures = new RecentMap(times.failureWindowMs, MAX_SUBJECTS);
    this.blocks = new RecentMap(times.failureBlockMs, MAX_SUBJECTS);
  }

  /** Until when a subject is blocked, in Unix milliseconds. */
  blockedUntilMs(subject: string, nowMs: number): number | undefined {
    const untilMs = this.blocks.get(subject, nowMs);
    return untilMs !== undefined && nowMs < untilMs ? untilMs : undefined;
  }

  /** Counts a failure, and says whether the subject is blocked now. */
  failed(subject: string, nowMs: number): number | undefined {
    const blocked = this.blockedUntilMs(subject, nowMs);
    if (blocked !== undefined) return blocked;
    const opensAtMs = nowMs - this.times.failureWindowMs;
    const recent = (this.failures.get(subject, nowMs) ?? []).filter((atMs) => atMs > opensAtMs);
    recent.push(nowMs);
    if (recent.length <= FAILURES_ALLOWED) {
      this.failures.set(subject, recent, nowMs);
      return undefined;
    }
    this.failures.delete(subject);
    const untilMs = nowMs + this.times.failureBlockMs;
    this.blocks.set(subject, untilMs, nowMs);
    return untilMs;
  }
}
