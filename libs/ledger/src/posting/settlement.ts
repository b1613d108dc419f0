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
