import {
  type Admission,
  type AdmitRequest,
  type Amounts,
  FAILURE_BLOCK_MS,
  FAILURE_WINDOW_MS,
  type FailureBlock,
  LIMIT_UNITS,
  type Limit,
  type LimitRefusal,
  type LimitUnit,
  type LimitsPeek,
  type LimitsState,
  type TakenLimits,
  type UnderWay,
} from '@svc/contracts/ports';
import { PROVISIONAL_MS } from '@svc/contracts/problems';
import { PassingMap } from '@svc/runtime';
import { FailureCounts } from './failure-counts.js';
import { LeasingLimiter } from './renewing-limiter.js';
import {
  NO_COUNTS,
  type OpenWindow,
  OpenWindows,
  type Room,
  WHOLE,
  type WindowCounts,
  admissionOf,
  refusalOf,
  windowKey,
  windowsOf,
} from './windows.js';

/** A request of a dead process no longer counts as running after this time. */
export const LEASE_MS = 60_000;

/** Running requests remembered at most; nothing beyond that is refused. */
const MAX_REMEMBERED = 1_000_000;

/** How often per lease lapsed requests are removed, even if their places are not needed. */
const SWEEPS_PER_LEASE = 10;

/** The times used for counting. */
export interface LimiterTimes {
  /** Should not be shorter than a minute: a lapsed request is no longer corrected. */
  readonly leaseMs: number;
  readonly failureWindowMs: number;
  readonly failureBlockMs: number;
}

export const STANDARD_TIMES: LimiterTimes = {
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
  readonly amounts: Amounts;
  /** The windows that count it. */
  readonly windows: readonly OpenWindow[];
  /** On the clock of `elapsedMs`. */
  lapsesAtMs: number;
}

/** The running requests of an account: their number, and when the last one began. */
interface Running {
  count: number;
  takenAtMs: number;
}

/**
 * The limiter of a single process. It is exact, because every request passes through it. A restart forgets
 * the current window, so that window may admit more.
 */
export class MemoryLimiter extends LeasingLimiter {
  private readonly times: LimiterTimes;
  private readonly share: number;
  /** Memory of windows that have not ended. */
  private readonly windows = new OpenWindows();
  private readonly nowMs: () => number;
  private readonly elapsedMs: () => number;
  private readonly failures: FailureCounts;
  /** By request id, in the order in which their leases end. */
  private readonly underWay = new PassingMap<string, Taken>();
  private readonly underWayOf = new PassingMap<string, Running>();
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

  override admit(request: AdmitRequest): Admission {
    const nowMs = this.nowMs();
    const elapsedMs = this.elapsedMs();
    if (elapsedMs >= this.sweepsAtMs) this.sweep(elapsedMs);
    const { amounts, subject, bookedEndsAtMs } = request;
    const isBooked = bookedEndsAtMs !== undefined;
    const blockedForMs = isBooked ? 0 : this.failures.blockedForMs(subject);
    const room = this.roomFor(amounts);
    const windows = this.windows.openAll(windowsOf(request), nowMs);
    // A booking counts only in the windows that are still open.
    const counting = isBooked
      ? windows.filter(({ endsAtMs }, index) => (bookedEndsAtMs[index] ?? 0) >= endsAtMs)
      : windows;
    let refusedBy: LimitRefusal | undefined;
    if (isBooked) this.sweep(elapsedMs);
    else if (blockedForMs > 0) refusedBy = { of: 'failures' };
    else
      refusedBy =
        refusalOf(windows, amounts, room) ??
        (this.hasPlace(request, elapsedMs) ? undefined : { of: 'concurrent' });
    if (!refusedBy && !(isBooked && this.underWay.has(request.requestId)))
      this.take(request, counting, elapsedMs);
    const isProvisional = refusedBy !== undefined && this.mayPass(refusedBy, request, windows);
    return admissionOf(windows, { refusedBy, isProvisional, blockedForMs }, room);
  }

  override settle(request: AdmitRequest, _admission: Admission, used: Amounts): undefined {
    const taken = this.end(request.requestId);
    if (taken) correct(taken, used);
  }

  override release(request: AdmitRequest, _admission: Admission): undefined {
    const taken = this.end(request.requestId);
    if (taken) correct(taken, NO_COUNTS);
  }

  override peek({ accountId, keyId, limits }: LimitsPeek): Promise<TakenLimits> {
    const nowMs = this.nowMs();
    const taken = limits.map(({ resource, limit }) => {
      const key = windowKey(limit, { accountId, keyId, resource });
      const { counts, endsAtMs } = this.windows.read(key, limit.windowMs, nowMs);
      return { taken: counts[limit.unit], resetAtMs: endsAtMs };
    });
    return Promise.resolve({ limits: taken });
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

  /** The part of each limit that is given out here, for a request of these amounts. */
  private roomFor(amounts: Amounts): Room {
    if (this.share === 1) return WHOLE;
    return ({ unit, max }: Limit) =>
      // A request that fits into the whole limit must fit into an empty share of it.
      Math.max(this.part(max), Math.min(max, amounts[unit] ?? 0));
  }

  private part(limit: number): number {
    return Math.min(limit, Math.max(1, Math.floor(limit * this.share)));
  }

  /** Whether what a request lacks was taken so recently that it may be given back. */
  private mayPass(
    refusedBy: LimitRefusal,
    { accountId }: AdmitRequest,
    windows: readonly OpenWindow[],
  ): boolean {
    const sinceMs = this.elapsedMs() - PROVISIONAL_MS;
    const isNew = (this.underWayOf.get(accountId)?.takenAtMs ?? -Infinity) > sinceMs;
    if (refusedBy.of !== 'limit') return refusedBy.of === 'concurrent' && isNew;
    const { limit } = refusedBy;
    const full = windows.find(({ window }) => window.limits.includes(limit));
    return (isNew || limit.scope === 'global') && (full?.counts.takenAtMs ?? -Infinity) > sinceMs;
  }

  private hasPlace({ accountId, concurrent }: AdmitRequest, elapsedMs: number): boolean {
    if (concurrent === undefined) return true;
    const places = this.part(concurrent);
    if (this.running(accountId) < places) return true;
    this.sweep(elapsedMs);
    return this.running(accountId) < places;
  }

  private running(accountId: string): number {
    return this.underWayOf.get(accountId)?.count ?? 0;
  }

  private take(request: AdmitRequest, windows: readonly OpenWindow[], elapsedMs: number): void {
    const { requestId, accountId, amounts } = request;
    const running = this.underWayOf.get(accountId) ?? { count: 0, takenAtMs: -Infinity };
    // A booked request is running.
    const isNew = request.bookedEndsAtMs === undefined;
    for (const { counts } of windows) {
      if (isNew) counts.takenAtMs = elapsedMs;
      add(counts, amounts);
    }
    this.end(requestId);
    if (this.underWay.size >= MAX_REMEMBERED) return;
    this.underWay.set(requestId, { accountId, amounts, windows, lapsesAtMs: elapsedMs + this.times.leaseMs });
    running.count += 1;
    if (isNew) running.takenAtMs = elapsedMs;
    this.underWayOf.set(accountId, running);
  }

  /** Ends a running request and returns what it took; undefined if it had ended before. */
  private end(requestId: string): Taken | undefined {
    const taken = this.underWay.get(requestId);
    if (!taken) return undefined;
    this.underWay.delete(requestId);
    const running = this.underWayOf.get(taken.accountId);
    if (running) running.count -= 1;
    if (running?.count === 0) this.underWayOf.delete(taken.accountId);
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

/** Makes no iterator, as every request runs it. */
function add(counts: WindowCounts, amounts: Amounts): void {
  for (let at = 0; at < LIMIT_UNITS.length; at += 1) {
    const unit = LIMIT_UNITS[at] as LimitUnit;
    counts[unit] += amounts[unit] ?? 0;
  }
}

/** A window that has ended is no longer reachable, so correcting it does no harm. */
function correct({ amounts, windows }: Taken, used: Amounts): void {
  for (const unit of LIMIT_UNITS) {
    const estimated = amounts[unit] ?? 0;
    const more = (used[unit] ?? estimated) - estimated;
    if (more !== 0) for (const { counts } of windows) counts[unit] = Math.max(0, counts[unit] + more);
  }
}

const monotonicMs = (): number => performance.now();

const blockOf = (forMs: number): FailureBlock => (forMs > 0 ? { forMs } : {});
