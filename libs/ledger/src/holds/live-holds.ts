import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import type { Balances, Extension, Hold, HoldRequest } from '@svc/contracts';
import { RootLogger } from '@svc/runtime';
import { HoldBook } from './hold-book.js';
import { LedgerSettings } from '../ledger.config.js';

interface LiveHold {
  hold: Hold;
  readonly sinceMs: number;
}

/** Renewals in the time of a lease: two may fail before a live hold lapses. */
const RENEWALS = 3;

/** The holds that this process took and has not ended. It renews their leases. */
@Injectable()
export class LiveHolds implements OnModuleInit, OnModuleDestroy {
  private readonly live = new Map<string, LiveHold>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly book: HoldBook,
    private readonly settings: LedgerSettings,
    private readonly logger: RootLogger,
  ) {}

  onModuleInit(): void {
    const everyMs = Math.max(1, Math.floor(this.settings.config.LEDGER_HOLD_LEASE_MS / RENEWALS));
    // A renewal logs its own failure.
    this.timer = setInterval(() => void this.renew(), everyMs).unref();
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }

  get size(): number {
    return this.live.size;
  }

  async hold(request: HoldRequest): Promise<Hold> {
    const hold = await this.book.hold(request);
    this.live.set(hold.requestId, { hold, sinceMs: performance.now() });
    return hold;
  }

  available(accountId: string): Promise<Balances> {
    return this.book.available(accountId);
  }

  async extend(hold: Hold, extension: Extension): Promise<Hold> {
    const grown = await this.book.extend(hold, extension);
    const live = this.live.get(hold.requestId);
    if (live) live.hold = grown;
    return grown;
  }

  /** To be called once the charge is recorded. Never rejects: a hold that could not be shrunk ends with the posting. */
  async settle(hold: Hold, cost: Balances): Promise<void> {
    this.live.delete(hold.requestId);
    try {
      await this.book.settle(hold, cost);
    } catch (error) {
      this.logger.log.warn(
        { requestId: hold.requestId, error: String(error) },
        'a hold could not be settled',
      );
    }
  }

  release(hold: Hold): Promise<void> {
    this.live.delete(hold.requestId);
    return this.book.release(hold);
  }

  /** Renews every live hold, but those that are older than any request can be. */
  async renew(): Promise<void> {
    const now = performance.now();
    const oldestMs = now - this.settings.config.LEDGER_HOLD_MAX_MS;
    let forgotten = 0;
    for (const [requestId, { sinceMs }] of this.live) {
      if (sinceMs > oldestMs) continue;
      this.live.delete(requestId);
      forgotten += 1;
    }
    if (forgotten > 0) this.logger.log.error({ holds: forgotten }, 'holds were neither settled nor released');
    try {
      await this.book.renew(Array.from(this.live.values(), ({ hold }) => hold));
    } catch (error) {
      this.logger.log.warn({ error: String(error) }, 'holds could not be renewed');
    }
  }
}
