import type { OnModuleDestroy, OnModuleInit } from '@nestjs/common';
import {
  type Admission,
  type AdmitRequest,
  type Amounts,
  type FailureBlock,
  Limiter,
  type Limits,
  type LimitsPeek,
  type LimitsState,
  PLACES_PER_RENEWAL,
  type TakenLimits,
  type UnderWay,
} from '@svc/contracts/ports';
import { PassingMap } from '@svc/runtime';

/** Receives warnings for the operator. */
export interface LimiterLog {
  warn(fields: object, message: string): void;
}

/** A limiter that only leases the places of running requests, so that those of a dead process become free. */
export abstract class LeasingLimiter extends Limiter implements Limits {
  abstract renew(live: readonly UnderWay[]): Promise<void>;

  abstract state(): LimitsState;
}

/** Renewals per lease: two may fail before a running request loses its place. */
const RENEWALS = 3;

/** A request that is still running after this time was forgotten. */
const MAX_MS = 3_600_000;

interface Live {
  readonly requestId: string;
  readonly accountId: string;
  readonly countedBy: string | undefined;
  readonly sinceMs: number;
}

/**
 * The limiter of a process that makes requests: it renews the places of running requests. Only accounts with
 * a limit on concurrent requests need places, so only their requests are renewed.
 */
export class RenewingLimiter extends Limiter implements OnModuleInit, OnModuleDestroy {
  private readonly live = new PassingMap<string, Live>();
  private timer: NodeJS.Timeout | undefined;
  private isRenewing = false;

  constructor(
    private readonly limiter: LeasingLimiter,
    private readonly leaseMs: number,
    private readonly log: LimiterLog,
  ) {
    super();
  }

  onModuleInit(): void {
    // A renewal logs its own failure.
    this.timer = setInterval(() => void this.renew(), Math.max(1, this.leaseMs / RENEWALS)).unref();
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }

  override admit(request: AdmitRequest): Admission | Promise<Admission> {
    const admission = this.limiter.admit(request);
    return admission instanceof Promise
      ? admission.then((later) => this.noted(request, later))
      : this.noted(request, admission);
  }

  private noted(request: AdmitRequest, admission: Admission): Admission {
    if (admission.admitted && request.concurrent !== undefined) {
      const { requestId, accountId } = request;
      const { countedBy } = admission;
      this.live.set(requestId, { requestId, accountId, countedBy, sinceMs: performance.now() });
    }
    return admission;
  }

  override settle(request: AdmitRequest, admission: Admission, used: Amounts): Promise<void> | undefined {
    this.live.delete(request.requestId);
    return this.limiter.settle(request, admission, used);
  }

  override release(request: AdmitRequest, admission: Admission): Promise<void> | undefined {
    this.live.delete(request.requestId);
    return this.limiter.release(request, admission);
  }

  override peek(peek: LimitsPeek): Promise<TakenLimits> {
    return this.limiter.peek(peek);
  }

  override blocked(subject: string): Promise<FailureBlock> {
    return this.limiter.blocked(subject);
  }

  override failed(subject: string): Promise<FailureBlock> {
    return this.limiter.failed(subject);
  }

  /** Renews the places of all running requests, except those older than any request can be. */
  private async renew(): Promise<void> {
    if (this.isRenewing) return;
    this.isRenewing = true;
    this.forgetOld();
    try {
      const all = Array.from(this.live.values(), underWayOf);
      for (let from = 0; from < all.length; from += PLACES_PER_RENEWAL)
        await this.limiter.renew(all.slice(from, from + PLACES_PER_RENEWAL));
    } catch (error) {
      this.log.warn(
        { error: String(error) },
        'the concurrency slots of running requests could not be renewed',
      );
    } finally {
      this.isRenewing = false;
    }
  }

  private forgetOld(): void {
    const oldestMs = performance.now() - MAX_MS;
    let forgotten = 0;
    for (const [requestId, { sinceMs }] of this.live) {
      if (sinceMs > oldestMs) break;
      this.live.delete(requestId);
      forgotten += 1;
    }
    if (forgotten > 0) this.log.warn({ requests: forgotten }, 'requests were neither settled nor released');
  }
}

const underWayOf = ({ requestId, accountId, countedBy }: Live): UnderWay => ({
  requestId,
  accountId,
  ...(countedBy !== undefined && { countedBy }),
});
