import assert from 'node:assert/strict';
import { Injectable } from '@nestjs/common';
import { type Credit, type Refund, type Reversal, type Transfer, usdNumber } from '@svc/contracts';
import { money } from '@svc/telemetry';
import { BooksStore } from './books.store.js';
import { HoldBook } from '../holds/hold-book.js';
import { SettledCharges } from './settled-charges.js';
import type { Credited } from './transfers.store.js';

/** Operator changes to a balance: applied to the books first, then to the hold book. */
@Injectable()
export class Adjustments {
  constructor(
    private readonly books: BooksStore,
    private readonly charges: SettledCharges,
    private readonly holdBook: HoldBook,
  ) {}

  async credit(credit: Credit): Promise<Transfer> {
    assert(credit.usdNano > 0n, 'a credit is above zero');
    const { transfer, ...change } = await this.books.credit(credit);
    await this.post(change);
    return transfer;
  }

  /** A running request may lose the cover of its hold; its cost is then written off. */
  async reverse(reversal: Reversal): Promise<Transfer> {
    const { transfer, ...change } = await this.charges.reverse(reversal);
    await this.post(change);
    return transfer;
  }

  async refund(refund: Refund): Promise<readonly Transfer[]> {
    const { transfers, ...change } = await this.charges.refund(refund);
    for (const { amountNano, currency } of change.isNew ? transfers : [])
      money.refunded.add(usdNumber(amountNano), currency);
    await this.post(change);
    return transfers;
  }

  /**
   * A new change involves no key's spending. For a repeated one, the cause of the account's version is
   * unknown.
   */
  private post({ isNew, balances }: Pick<Credited, 'isNew' | 'balances'>): Promise<void> {
    return this.holdBook.post([{ ...balances, requestIds: [], ...(isNew && { spends: [] }) }]);
  }
}
