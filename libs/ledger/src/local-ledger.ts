import assert from 'node:assert/strict';
import { Injectable } from '@nestjs/common';
import {
  type Balances,
  type Charge,
  type Extension,
  type Hold,
  type HoldRequest,
  Ledger,
} from '@svc/contracts';
import { chargeFault } from './posting/charge-fault.js';
import { LiveHolds } from './holds/live-holds.js';
import { Opening } from './posting/opening.js';
import { Settlement } from './posting/settlement.js';

/** The ledger within its own process. */
@Injectable()
export class LocalLedger extends Ledger {
  constructor(
    private readonly opening: Opening,
    private readonly holds: LiveHolds,
    private readonly settlement: Settlement,
  ) {
    super();
  }

  override async hold(request: HoldRequest): Promise<Hold> {
    if (!this.opening.isOpen) await this.opening.wait();
    return this.holds.hold(request);
  }

  override async available(accountId: string): Promise<Balances> {
    if (!this.opening.isOpen) await this.opening.wait();
    return this.holds.available(accountId);
  }

  override extend(hold: Hold, extension: Extension): Promise<Hold> {
    return this.holds.extend(hold, extension);
  }

  override async settle(hold: Hold, charge: Charge): Promise<void> {
    assertFits(hold, charge);
    try {
      await this.settlement.record(charge);
    } finally {
      // A charge that is not durable yet is still tried, so what it costs stays out of reach.
      await this.holds.settle(hold, charge.cost);
    }
  }

  override release(hold: Hold): Promise<void> {
    return this.holds.release(hold);
  }
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
