import { Injectable } from '@nestjs/common';
import { type Charge, Charges, Problem } from '@svc/contracts';
import { NEVER_CHARGED } from './accounts/returned-charges.store.js';
import { RefundsStore } from './books/refunds.store.js';
import { HoldBook } from './holds/hold-book.js';
import { Poster } from './posting/poster.js';

/** Posts charges to the books within their own process. */
@Injectable()
export class LocalCharges extends Charges {
  constructor(
    private readonly poster: Poster,
    private readonly refunds: RefundsStore,
    private readonly holdBook: HoldBook,
  ) {
    super();
  }

  override post(charges: readonly Charge[]): Promise<void> {
    return this.poster.post(charges);
  }

  /**
   * Returns all that is left of a posted charge, once, however often it is called: it is refunded under a
   * reference that no operator would choose. Rejects if nothing is left.
   */
  override async giveBack({ accountId, requestId }: Charge): Promise<void> {
    const refund = { accountId, requestId, reference: `${NEVER_CHARGED}${requestId}` };
    const { balances } = await this.refunds.refund(refund);
    await this.holdBook.post([{ ...balances, requestIds: [] }]);
  }
}

/** Used while no charge may be posted: callers keep their charges and retry. */
export class RefusedCharges extends Charges {
  override post(): Promise<void> {
    return Promise.reject(new Problem('UNAVAILABLE'));
  }

  override giveBack(): Promise<void> {
    return Promise.reject(new Problem('UNAVAILABLE'));
  }
}
