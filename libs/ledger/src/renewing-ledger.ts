import type { OnModuleDestroy, OnModuleInit } from '@nestjs/common';
import { type Balances, usdNumber } from '@svc/contracts/money';
import type { Charge } from '@svc/contracts/messages';
import { type Extension, HOLDS_PER_RENEWAL, type Hold, type HoldRequest, Ledger } from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import { PassingMap, type RootLogger } from '@svc/runtime';
import { money } from '@svc/telemetry';

interface LiveHold {
  hold: Hold;
  readonly sinceMs: number;
}

export interface RenewalTimes {
  /** The lease of a hold; must equal the ledger's own setting. */
  readonly leaseMs: number;
  /** An older hold was forgotten; it is no longer renewed and lapses. */
  readonly maxMs: number;
}

/** Renewals per lease: two may fail before a live hold lapses. */
const RENEWALS = 3;

/**
 * The ledger of a process that makes requests. It renews the holds that this process took and has not ended,
 * so that they live as long as the process. Wraps the actual ledger, local or remote.
 */
export class RenewingLedger extends Ledger implements OnModuleInit, OnModuleDestroy {
  /** Oldest first. */
  private readonly live = new PassingMap<string, LiveHold>();
  private timer: NodeJS.Timeout | undefined;
  private ends: readonly (() => void)[] = [];
  private isRenewing = false;
  private renewal: Promise<void> = Promise.resolve();
  /**
   * Holds that ended during a renewal call. A renewal that arrives late would take them again, so they are
   * released once it is over, and their requests hold nothing new until then.
   */
  private readonly endedMeanwhile = new Map<string, Hold>();

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
    this.ends = this.watch();
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
    for (const end of this.ends) end();
  }

  /** The number of holds neither settled nor released. */
  get size(): number {
    return this.live.size;
  }

  override hold(request: HoldRequest): Hold | Promise<Hold> {
    if (this.endedMeanwhile.has(request.requestId)) return this.renewal.then(() => this.hold(request));
    const held = timed('hold', () => this.ledger.hold(request));
    if (!(held instanceof Promise)) return this.renewed(held);
    return held.then(
      (hold) => this.renewed(hold),
      (error: unknown) => {
        if (error instanceof Problem && error.status === 402 && !error.isProvisional)
          money.refused.add(usdNumber(request.amountNano), error.code);
        throw error;
      },
    );
  }

  private renewed(hold: Hold): Hold {
    this.live.set(hold.requestId, { hold, sinceMs: performance.now() });
    return hold;
  }

  override available(accountId: string): Promise<Balances> {
    return this.ledger.available(accountId);
  }

  override async extend(hold: Hold, extension: Extension): Promise<Hold> {
    const grown = await timed('extend', () => this.ledger.extend(hold, extension));
    const live = this.live.get(hold.requestId);
    if (live) live.hold = grown;
    return grown;
  }

  override renew(holds: readonly Hold[]): Promise<void> {
    return this.ledger.renew(holds);
  }

  /** Whatever the outcome, the underlying ledger is responsible for the hold from then on. */
  override settle(hold: Hold, charge: Charge): Promise<void> {
    const startMs = performance.now();
    return this.ledger.settle(hold, charge).then(
      () => {
        measured('settle', startMs, '');
        this.forget(hold);
      },
      (error: unknown) => {
        measured('settle', startMs, faultOf(error));
        this.forget(hold);
        throw error;
      },
    );
  }

  override release(hold: Hold): Promise<void> | undefined {
    this.forget(hold);
    return timed('release', () => this.ledger.release(hold));
  }

  private forget(hold: Hold): void {
    this.live.delete(hold.requestId);
    if (this.isRenewing) this.endedMeanwhile.set(hold.requestId, hold);
  }

  /** Renews every live hold, except those older than any request can be. Never rejects. */
  renewAll(): Promise<void> {
    if (!this.isRenewing) this.renewal = this.renewLives();
    return this.renewal;
  }

  private async renewLives(): Promise<void> {
    this.isRenewing = true;
    this.forgetOld();
    const faults: unknown[] = [];
    const all = [...this.live.keys()];
    // If one part of the ledger is unavailable, the holds of the other parts are renewed anyway.
    for (let from = 0; from < all.length; from += HOLDS_PER_RENEWAL)
      await this.renewLive(all.slice(from, from + HOLDS_PER_RENEWAL)).catch((error: unknown) =>
        faults.push(error),
      );
    if (faults.length > 0) this.log.warn({ error: String(faults[0]) }, 'holds could not be renewed');
    this.isRenewing = false;
    this.endedMeanwhile.clear();
  }

  /**
   * Renews live holds. A hold that ended meanwhile may have been taken again by the renewal, so it is
   * released.
   */
  private async renewLive(requestIds: readonly string[]): Promise<void> {
    const holds = requestIds.flatMap((requestId) => this.live.get(requestId)?.hold ?? []);
    try {
      await this.ledger.renew(holds);
    } finally {
      const ended = holds.flatMap(({ requestId }) => this.endedMeanwhile.get(requestId) ?? []);
      // Releasing a settled hold has no effect.
      await Promise.all(ended.map(async (hold) => this.ledger.release(hold)));
    }
  }

  /** Reports metrics on the live holds of this process. */
  private watch(): readonly (() => void)[] {
    return [
      money.holds.observe(() => [[this.live.size]]),
      money.oldestHold.observe(() => {
        const [oldest] = this.live.values();
        return [[oldest ? (performance.now() - oldest.sinceMs) / 1_000 : 0]];
      }),
      money.held.observe(() => {
        let usdNano = 0n;
        let diemNano = 0n;
        for (const { hold } of this.live.values()) {
          usdNano += hold.amount.usdNano;
          diemNano += hold.amount.diemNano;
        }
        return [
          [usdNumber(usdNano), 'USD'],
          [usdNumber(diemNano), 'DIEM'],
        ];
      }),
    ];
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

/** Records how long a call takes. */
function timed<Result>(call: LedgerCall, work: () => Result): Result {
  const startMs = performance.now();
  const result = work();
  if (result instanceof Promise)
    result.then(
      () => measured(call, startMs, ''),
      (error: unknown) => measured(call, startMs, faultOf(error)),
    );
  else measured(call, startMs, '');
  return result;
}

/** Those of calls that succeeded, which are nearly all. */
const succeeded = {
  hold: money.callDuration.with('hold', ''),
  extend: money.callDuration.with('extend', ''),
  settle: money.callDuration.with('settle', ''),
  release: money.callDuration.with('release', ''),
};
type LedgerCall = keyof typeof succeeded;

function measured(call: LedgerCall, startMs: number, fault: string): void {
  const instrument = fault === '' ? succeeded[call] : money.callDuration.with(call, fault);
  instrument.record((performance.now() - startMs) / 1_000);
}

const faultOf = (error: unknown): string => (error instanceof Problem ? error.code : 'UNKNOWN_ERROR');
