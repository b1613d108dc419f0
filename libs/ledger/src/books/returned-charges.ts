import { Injectable } from '@nestjs/common';
import type { Charge } from '@svc/contracts';
import { NEVER_CHARGED } from '../accounts/given-back.store.js';
import { HoldBook } from '../holds/hold-book.js';
import { RefundsStore } from './refunds.store.js';

/** Refunds under a reference that no operator would choose. */
@Injectable()
export class ReturnedCharges {
  constructor(
    private readonly refunds: RefundsStore,
    private readonly holdBook: HoldBook,
  ) {}

  /**
   * Returns all that is left of a posted charge, once, however often it is called. Rejects if nothing is
   * left.
   */
  async giveBack({ accountId, requestId }: Charge): Promise<void> {
    const refund = { accountId, requestId, reference: `${NEVER_CHARGED}${requestId}` };
    const { balances } = await this.refunds.refund(refund);
    await this.holdBook.post([{ ...balances, requestIds: [] }]);
  }
}
