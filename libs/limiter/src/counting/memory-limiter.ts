import {
  type Admission,
  type AdmitRequest,
  FAILURE_BLOCK_MS,
  FAILURE_WINDOW_MS,
  type FailureBlock,
  type LimitRefusal,
  type LimitsState,
  type UnderWay,
} from '@svc/contracts';
import { FailureCounts } from './failure-counts.js';
import { LeasingLimiter } from './leasing-limiter.js';
import {
  CONCURRENCY_REFUSAL,
  type CountedWindow,
  FAILURES_REFUSAL,
  type WindowCount,
  type WindowLimit,
  admissionOf,
  refusalOf,
  windowLimits,
} from './windows.js';

/** Limits are per minute, in windows that start on the minute. */
export const WINDOW_MS = 60_000;

/** A request of a dead process no longer counts as running after this time. */
export const LEASE_MS = 60_000;

/** Windows and running requests remembered at most; nothing beyond that is refused. */
const MAX_REMEMBERED = 1_000_000;

/** How often per lease lapsed requests are removed, even if their places are not needed. */
const SWEEPS_PER_LEASE = 10;

/** The times used for counting. */
export interface LimiterTimes {
  readonly windowMs: number;
  /** Should not be shorter than a window: a lapsed request is no longer corrected. */
  readonly leaseMs: number;
  readonly failureWindowMs: number;
  readonly failureBlockMs: number;
}

export const STANDARD_TIMES: LimiterTimes = {
  windowMs: WINDOW_MS,
  leaseMs: LEASE_MS,
  failureWindowMs: FAILURE_WINDOW_MS,
  failureBlockMs: FAILURE_BLOCK_MS,
};

export interface MemoryLimiterOptions extends Partial<LimiterTimes> {
  /** The fraction of each limit given out here, from 0 to 1. A limit above 0 always admits one request. */
  readonly share?: number;
  /** Unix milliseconds, for windows. Default: `Date.now`. */
  readonly nowMs?: () => number;
  /** A monotonic clock in milliseconds, for leases and blocks. Default: `performance.now`. */
  readonly elapsedMs?: () => number;
}

interface Taken {
  readonly accountId: string;
  readonly tokens: number;
  readonly windows: readonly WindowCount[];
  /** On the clock of `elapsedMs`. */
  lapsesAtMs: number;
}

/**
 * The limiter of a single process. It is exact, because every request passes through it. A restart forgets
 * the current window, so that window may admit more.
 */
export class MemoryLimiter extends LeasingLimiter {
  private readonly times: LimiterTimes;
  private readonly share: number;
  private readonly nowMs: () => number;
  private readonly elapsedMs: () => number;
  private readonly failures: FailureCounts;
  private readonly windows = new Map<string, WindowCount>();
  private endsAtMs = 0;
  /** By request id, in the order in which their leases end. */
  private readonly underWay = new Map<string, Taken>();
  private readonly underWayOf = new Map<string, number>();
  private sweepsAtMs = 0;
  private readonly since = new Date().toISOString();

  constructor({ share = 1, nowMs = Date.now, elapsedMs = monotonicMs, ...times }: MemoryLimiterOptions = {}) {
    super();
    this.times = { ...STANDARD_TIMES, ...times };
    this.share = share;
    this.nowMs = nowMs;
    this.elapsedMs = elapsedMs;
    this.failures = new FailureCounts({ ...this.times, elapsedMs });
  }

  override admit(request: AdmitRequest): Promise<Admission> {
    this.turn(this.nowMs());
    const elapsedMs = this.elapsedMs();
    if (elapsedMs >= this.sweepsAtMs) this.sweep(elapsedMs);
    const { tokens, subject, bookedResetAtMs } = request;
    const isBooked = bookedResetAtMs !== undefined;
    const blockedForMs = isBooked ? 0 : this.failures.blockedForMs(subject);
    const counts: WindowCount[] = [];
    const windows: CountedWindow[] = [];
    for (const limit of windowLimits(request)) {
      const count = this.count(limit.key);
      counts.push(count);
      windows.push({ limit, count, room: this.room(limit, tokens) });
    }
    const refusal = blockedForMs > 0 ? FAILURES_REFUSAL : this.refusal(request, windows, elapsedMs);
    const refusedBy = isBooked ? undefined : refusal;
    const isOver = isBooked && bookedResetAtMs < this.endsAtMs;
    if (isBooked) this.sweep(elapsedMs);
    if (!refusedBy && !(isBooked && this.underWay.has(request.requestId)))
      this.take(request, isOver ? [] : counts, elapsedMs);
    return Promise.resolve(admissionOf(windows, { refusedBy, blockedForMs, resetAtMs: this.endsAtMs }));
  }

  override settle(request: AdmitRequest, _admission: Admission, tokensUsed: number): Promise<void> {
    const taken = this.end(request.requestId);
    // A window that has ended is no longer reachable, so correcting it does no harm.
    for (const window of taken?.windows ?? [])
      window.tokens = Math.max(0, window.tokens + tokensUsed - (taken?.tokens ?? 0));
    return Promise.resolve();
  }

  override release(request: AdmitRequest, _admission: Admission): Promise<void> {
    const taken = this.end(request.requestId);
    for (const window of taken?.windows ?? []) {
      window.requests -= 1;
      window.tokens = Math.max(0, window.tokens - (taken?.tokens ?? 0));
    }
    return Promise.resolve();
  }

  override renew(live: readonly UnderWay[]): Promise<void> {
    const elapsedMs = this.elapsedMs();
    this.sweep(elapsedMs);
    for (const { requestId } of live) {
      const taken = this.underWay.get(requestId);
      if (!taken) continue;
      taken.lapsesAtMs = elapsedMs + this.times.leaseMs;
      this.underWay.delete(requestId);
      this.underWay.set(requestId, taken);
    }
    return Promise.resolve();
  }

  override blocked(subject: string): Promise<FailureBlock> {
    return Promise.resolve(blockOf(this.failures.blockedForMs(subject)));
  }

  override failed(subject: string): Promise<FailureBlock> {
    return Promise.resolve(blockOf(this.failures.failed(subject)));
  }

  override state(): LimitsState {
    return { mode: 'shared', since: this.since, localAdmits: 0, localRefusals: 0, faults: 0, waiting: 0 };
  }

  /** Opens the next windows. They all end together, so clearing the map is enough. */
  private turn(nowMs: number): void {
    const { windowMs } = this.times;
    // If the clock was set back a little, the current window stays open.
    if (nowMs < this.endsAtMs && nowMs >= this.endsAtMs - 2 * windowMs) return;
    this.windows.clear();
    this.endsAtMs = (Math.floor(nowMs / windowMs) + 1) * windowMs;
  }

  private count(key: string): WindowCount {
    let count = this.windows.get(key);
    if (!count) {
      count = { requests: 0, tokens: 0 };
      if (this.windows.size < MAX_REMEMBERED) this.windows.set(key, count);
    }
    return count;
  }

  private room(limit: WindowLimit, tokens: number): WindowCount {
    if (this.share === 1) return limit;
    return {
      requests: this.part(limit.requests),
      // A request that fits into the whole limit must fit into an empty share of it.
      tokens: Math.max(this.part(limit.tokens), Math.min(limit.tokens, tokens)),
    };
  }

  private part(limit: number): number {
    return Math.min(limit, Math.max(1, Math.floor(limit * this.share)));
  }

  private refusal(
    request: AdmitRequest,
    windows: readonly CountedWindow[],
    elapsedMs: number,
  ): LimitRefusal | undefined {
    return (
      refusalOf(windows, request.tokens) ??
      (this.hasPlace(request, elapsedMs) ? undefined : CONCURRENCY_REFUSAL)
    );
  }

  private hasPlace({ accountId, concurrent }: AdmitRequest, elapsedMs: number): boolean {
    if (concurrent === undefined) return true;
    const places = this.part(concurrent);
    if ((this.underWayOf.get(accountId) ?? 0) < places) return true;
    this.sweep(elapsedMs);
    return (this.underWayOf.get(accountId) ?? 0) < places;
  }

  private take(request: AdmitRequest, windows: readonly WindowCount[], elapsedMs: number): void {
    const { requestId, accountId, tokens } = request;
    for (const window of windows) {
      window.requests += 1;
      window.tokens += tokens;
    }
    this.end(requestId);
    if (this.underWay.size >= MAX_REMEMBERED) return;
    this.underWay.set(requestId, { accountId, tokens, windows, lapsesAtMs: elapsedMs + this.times.leaseMs });
    this.underWayOf.set(accountId, (this.underWayOf.get(accountId) ?? 0) + 1);
  }

  /** Ends a running request and returns what it took; undefined if it had ended before. */
  private end(requestId: string): Taken | undefined {
    const taken = this.underWay.get(requestId);
    if (!taken) return undefined;
    this.underWay.delete(requestId);
    const left = (this.underWayOf.get(taken.accountId) ?? 1) - 1;
    if (left > 0) this.underWayOf.set(taken.accountId, left);
    else this.underWayOf.delete(taken.accountId);
    return taken;
  }

  private sweep(elapsedMs: number): void {
    this.sweepsAtMs = elapsedMs + this.times.leaseMs / SWEEPS_PER_LEASE;
    for (const [requestId, { lapsesAtMs }] of this.underWay) {
      if (lapsesAtMs > elapsedMs) return;
      this.end(requestId);
    }
  }
}

const monotonicMs = (): number => performance.now();

const blockOf = (forMs: number): FailureBlock => (forMs > 0 ? { forMs } : {});
