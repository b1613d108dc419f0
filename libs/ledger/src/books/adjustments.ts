import assert from 'node:assert/strict';
import { Injectable } from '@nestjs/common';
import { type Credit, type Refund, type Reversal, type Transfer, usdNumber } from '@svc/contracts';
import { money } from '@svc/telemetry';
import { BooksStore } from './books.store.js';
import { HoldBook } from '../holds/hold-book.js';
import { SettledCharges } from './settled-charges.js';
import type { Credited } from './transfers.store.js';

/** What an operator does to a balance: in the books first, then in what may be spent. */
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

  /** What a request under way holds of it is no longer covered: what it costs is written off. */
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

  /** No key spends anything by a new change. What made the version that a repeated one finds is not known. */
  private post({ isNew, balances }: Pick<Credited, 'isNew' | 'balances'>): Promise<void> {
    return this.holdBook.post([{ ...balances, requestIds: [], ...(isNew && { spends: [] }) }]);
  }
}
