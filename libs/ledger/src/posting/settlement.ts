import assert from 'node:assert/strict';
import { Injectable } from '@nestjs/common';
import type { Charge } from '@svc/contracts/messages';
import type { Hold } from '@svc/contracts/ports';
import { usdNumber } from '@svc/contracts/money';
import { within } from '@svc/runtime';
import { money, traced } from '@svc/telemetry';
import { EndedHolds } from './ended-holds.js';
import { chargeFault } from './charge-fault.js';
import { ChargeLog } from './charge-log.js';
import { SettlementFallback } from './settlement-fallback.js';
import type { SettlementTime } from './settlement-time.js';

/** Turns holds into durable charges: in the event log, or else in the books or the journal. */
@Injectable()
export class Settlement {
  constructor(
    private readonly log: ChargeLog,
    private readonly fallback: SettlementFallback,
    private readonly ended: EndedHolds,
  ) {}

  /**
   * Resolves when the charge is durable. Rejects with UNAVAILABLE if nothing takes it within its
   * `SettlementTime`; it is then never charged. Throws if the charge does not fit the hold. After any
   * rejection, the hold is released.
   */
  settle(hold: Hold, charge: Charge): Promise<void> {
    const time = this.fallback.time();
    try {
      assertFits(hold, charge);
    } catch (error) {
      return this.refuse(hold, time, error);
    }
    return this.log.record(charge).then(
      () => {
        countLogged();
        this.settled(hold, charge);
      },
      () => this.withoutLog(hold, charge, time),
    );
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

const countLogged = (): void => money.settlements.add(1, 'log');

function count({ cost, model, lines, writeOffNano }: Charge): void {
  if (cost.usdNano > 0n) money.charged.add(usdNumber(cost.usdNano), 'USD', model);
  if (cost.diemNano > 0n) money.charged.add(usdNumber(cost.diemNano), 'DIEM', model);
  const providerNano = lines.reduce((sum, line) => sum + (line.providerNano ?? 0n), 0n);
  if (providerNano > 0n) money.providerCost.add(usdNumber(providerNano), model);
  if (writeOffNano > 0n) money.writtenOff.add(usdNumber(writeOffNano), 'settling');
}

function assertFits(hold: Hold, charge: Charge): void {
  assert.equal(charge.requestId, hold.requestId, 'a charge belongs to the request of its hold');
  assert.equal(charge.accountId, hold.accountId, 'a charge belongs to the account of its hold');
  assert(
    charge.cost.usdNano <= hold.amount.usdNano && charge.cost.diemNano <= hold.amount.diemNano,
    'a cost is within its hold',
  );
  const fault = chargeFault(charge);
  assert(fault === undefined, `a charge can be posted, but ${fault}`);
}
