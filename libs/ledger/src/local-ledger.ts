import assert from 'node:assert/strict';
import { Injectable } from '@nestjs/common';
import { type Balances, usdNumber } from '@svc/contracts/money';
import type { Charge } from '@svc/contracts/messages';
import { type Extension, type Hold, type HoldRequest, Holds, Ledger } from '@svc/contracts/ports';
import { within } from '@svc/runtime';
import { money, traced } from '@svc/telemetry';
import { chargeFault } from './posting/charge-fault.js';
import { ChargeLog } from './posting/charge-log.js';
import { EarlierCharges } from './posting/earlier-charges.js';
import { EndedHolds } from './posting/ended-holds.js';
import { SettlementFallback } from './posting/settlement-fallback.js';
import type { SettlementTime } from './posting/settlement-time.js';

/**
 * The ledger of a process that settles: it uses the hold book wherever that is, and makes charges durable
 * itself: in the event log, or else in the books or the journal.
 */
@Injectable()
export class LocalLedger extends Ledger {
  constructor(
    private readonly earlier: EarlierCharges,
    private readonly book: Holds,
    private readonly log: ChargeLog,
    private readonly fallback: SettlementFallback,
    private readonly ended: EndedHolds,
  ) {
    super();
  }

  override hold(request: HoldRequest): Hold | Promise<Hold> {
    if (this.earlier.arePosted) return this.book.hold(request);
    return this.earlier.posted().then(() => this.book.hold(request));
  }

  override async available(accountId: string): Promise<Balances> {
    if (!this.earlier.arePosted) await this.earlier.posted();
    return this.book.available(accountId);
  }

  override extend(hold: Hold, extension: Extension): Promise<Hold> {
    return this.book.extend(hold, extension);
  }

  override renew(holds: readonly Hold[]): Promise<void> {
    return this.book.renew(holds);
  }

  /**
   * Resolves when the charge is durable. Rejects with UNAVAILABLE if nothing takes it within its
   * `SettlementTime`; it is then never charged. Throws if the charge does not fit the hold. After any
   * rejection, the hold is released.
   */
  override settle(hold: Hold, charge: Charge): Promise<void> {
    const startMs = performance.now();
    try {
      assertFits(hold, charge);
    } catch (error) {
      return this.refuse(hold, this.fallback.time(startMs), error);
    }
    return this.log.record(charge).then(
      () => {
        logged.add(1);
        this.settled(hold, charge);
      },
      () => this.withoutLog(hold, charge, this.fallback.time(startMs)),
    );
  }

  override release(hold: Hold): Promise<void> | undefined {
    return this.book.release(hold);
  }

  private settled(hold: Hold, charge: Charge): void {
    count(charge);
    this.ended.shrink(hold, charge.cost);
  }

  private async withoutLog(hold: Hold, charge: Charge, time: SettlementTime): Promise<void> {
    try {
      await traced('settle without the log', () => this.fallback.take(charge, time));
    } catch (error) {
      return this.refuse(hold, time, error);
    }
    this.settled(hold, charge);
  }

  private async refuse(hold: Hold, time: SettlementTime, error: unknown): Promise<never> {
    await within(time.forRefusal, this.ended.release(hold)).catch(() => undefined);
    throw error;
  }
}

const logged = money.settlements.with('log');

function count({ cost, model, lines, writeOffNano }: Charge): void {
  if (cost.usdNano > 0n) money.charged.add(usdNumber(cost.usdNano), 'USD', model);
  if (cost.diemNano > 0n) money.charged.add(usdNumber(cost.diemNano), 'DIEM', model);
  let providerNano = 0n;
  for (const line of lines) if (line.providerNano !== undefined) providerNano += line.providerNano;
  if (providerNano > 0n) money.providerCost.add(usdNumber(providerNano), model);
  if (writeOffNano > 0n) money.writtenOff.add(usdNumber(writeOffNano), 'settling');
}

function assertFits(hold: Hold, charge: Charge): void {
  if (charge.requestId !== hold.requestId) assert.fail('a charge belongs to the request of its hold');
  if (charge.accountId !== hold.accountId) assert.fail('a charge belongs to the account of its hold');
  if (charge.cost.usdNano > hold.amount.usdNano || charge.cost.diemNano > hold.amount.diemNano)
    assert.fail('a cost is within its hold');
  const fault = chargeFault(charge);
  if (fault !== undefined) assert.fail(`a charge can be posted, but ${fault}`);
}
