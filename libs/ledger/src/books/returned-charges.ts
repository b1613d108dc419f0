import { Injectable } from '@nestjs/common';
import type { Charge } from '@svc/contracts';
import { HoldBook } from '../holds/hold-book.js';
import { ChargeReturn } from '../posting/never-charged.js';
import { RefundsStore } from './refunds.store.js';

/** Gives back by a refund, under a reference that no operator would choose. */
@Injectable()
export class ReturnedCharges extends ChargeReturn {
  constructor(
    private readonly refunds: RefundsStore,
    private readonly holdBook: HoldBook,
  ) {
    super();
  }

  override async giveBack({ accountId, requestId }: Charge): Promise<void> {
    const refund = { accountId, requestId, reference: `never charged: ${requestId}` };
    const { balances } = await this.refunds.refund(refund);
    await this.holdBook.post([{ ...balances, requestIds: [] }]);
  }
}
