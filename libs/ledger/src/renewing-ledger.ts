import type { OnModuleDestroy, OnModuleInit } from '@nestjs/common';
import {
  type Balances,
  type Charge,
  type Extension,
  HOLDS_PER_RENEWAL,
  type Hold,
  type HoldRequest,
  Ledger,
} from '@svc/contracts';
import type { RootLogger } from '@svc/runtime';

interface LiveHold {
  hold: Hold;
  readonly sinceMs: number;
}

export interface RenewalTimes {
  /** The lease of a hold, as the ledger counts it. */
  readonly leaseMs: number;
  /** A hold that is older was forgotten and is left to lapse. */
  readonly maxMs: number;
}

/** Renewals in the time of a lease: two may fail before a live hold lapses. */
const RENEWALS = 3;

/**
 * The ledger of a process that makes requests: it renews the holds that this process took and has not ended, so that
 * they live as long as it does. To be put around the ledger itself, wherever that is.
 */
export class RenewingLedger extends Ledger implements OnModuleInit, OnModuleDestroy {
  /** Oldest first. */
  private readonly live = new Map<string, LiveHold>();
  private timer: NodeJS.Timeout | undefined;
  private isRenewing = false;

  constructor(
    private readonly ledger: Ledger,
    private readonly times: RenewalTimes,
    private readonly log: Pick<RootLogger['log'], 'warn' | 'error'>,
  ) {
    super();
  }

  onModuleInit(): void {
    const everyMs = Math.max(1, Math.floor(this.times.leaseMs / RENEWALS));
    // A renewal logs its own failure.
    this.timer = setInterval(() => void this.renewAll(), everyMs).unref();
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }

  /** Holds that were neither settled nor released. */
  get size(): number {
    return this.live.size;
  }

  override async hold(request: HoldRequest): Promise<Hold> {
    const hold = await this.ledger.hold(request);
    this.live.set(hold.requestId, { hold, sinceMs: performance.now() });
    return hold;
  }

  override available(accountId: string): Promise<Balances> {
    return this.ledger.available(accountId);
  }

  override async extend(hold: Hold, extension: Extension): Promise<Hold> {
    const grown = await this.ledger.extend(hold, extension);
    const live = this.live.get(hold.requestId);
    if (live) live.hold = grown;
    return grown;
  }

  override renew(holds: readonly Hold[]): Promise<void> {
    return this.ledger.renew(holds);
  }

  /** However it ends, the hold is the ledger's from then on. */
  override async settle(hold: Hold, charge: Charge): Promise<void> {
    try {
      await this.ledger.settle(hold, charge);
    } finally {
      this.live.delete(hold.requestId);
    }
  }

  override release(hold: Hold): Promise<void> {
    this.live.delete(hold.requestId);
    return this.ledger.release(hold);
  }

  /** Renews every live hold, but those that are older than any request can be. Never rejects. */
  async renewAll(): Promise<void> {
    if (this.isRenewing) return;
    this.isRenewing = true;
    this.forgetOld();
    try {
      const all = [...this.live.keys()];
      for (let from = 0; from < all.length; from += HOLDS_PER_RENEWAL)
        await this.renewLive(all.slice(from, from + HOLDS_PER_RENEWAL));
    } catch (error) {
      this.log.warn({ error: String(error) }, 'holds could not be renewed');
    } finally {
      this.isRenewing = false;
    }
  }

  /** Those that have ended meanwhile are left out: renewed, they would be taken again. */
  private async renewLive(requestIds: readonly string[]): Promise<void> {
    const holds = requestIds.flatMap((requestId) => this.live.get(requestId)?.hold ?? []);
    await this.ledger.renew(holds);
  }

  private forgetOld(): void {
    const oldestMs = performance.now() - this.times.maxMs;
    let forgotten = 0;
    for (const [requestId, { sinceMs }] of this.live) {
      if (sinceMs > oldestMs) break;
      this.live.delete(requestId);
      forgotten += 1;
    }
    if (forgotten > 0) this.log.error({ holds: forgotten }, 'holds were neither settled nor released');
  }
}
