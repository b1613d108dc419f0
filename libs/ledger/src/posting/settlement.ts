import assert from 'node:assert/strict';
import { Injectable } from '@nestjs/common';
import { type Charge, EventLog, type Hold, encodeCharge, usageRecorded } from '@svc/contracts';
import { EndedHolds } from '../holds/ended-holds.js';
import { chargeFault } from './charge-fault.js';
import { DirectPosting } from './direct-posting.js';

/** Turns holds into charges that are durable: in the event log, or else in the books themselves. */
@Injectable()
export class Settlement {
  constructor(
    private readonly log: EventLog,
    private readonly direct: DirectPosting,
    private readonly ended: EndedHolds,
  ) {}

  /**
   * Resolves when the charge is durable. Refuses with UNAVAILABLE when neither way takes it in time. A charge that can
   * not be one of this hold is thrown out, and leaves no hold.
   */
  async settle(hold: Hold, charge: Charge): Promise<void> {
    try {
      assertFits(hold, charge);
    } catch (error) {
      await this.ended.release(hold);
      throw error;
    }
    try {
      await this.record(charge);
    } finally {
      // A charge that is not durable yet is still tried, so what it costs stays out of reach.
      void this.ended.shrink(hold, charge.cost);
    }
  }

  private async record(charge: Charge): Promise<void> {
    try {
      await this.log.publish(usageRecorded, encodeCharge(charge));
    } catch (error) {
      // The log may have stored it nevertheless; then it is posted once all the same.
      await this.direct.post(charge, error);
    }
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
