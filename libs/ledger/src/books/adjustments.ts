import assert from 'node:assert/strict';
import { Injectable } from '@nestjs/common';
import { type Credit, type Refund, type Reversal, type Transfer, usdNumber } from '@svc/contracts';
import { money } from '@svc/telemetry';
import { BooksStore } from './books.store.js';
import { HoldBook } from '../holds/hold-book.js';
import { SettledCharges } from './settled-charges.js';

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
    const { transfer, balances } = await this.books.credit(credit);
    await this.holdBook.post([{ ...balances, requestIds: [] }]);
    return transfer;
  }

  /** What a request under way holds of it is no longer covered: what it costs is written off. */
  async reverse(reversal: Reversal): Promise<Transfer> {
    const { transfer, balances } = await this.charges.reverse(reversal);
    await this.holdBook.post([{ ...balances, requestIds: [] }]);
    return transfer;
  }

  async refund(refund: Refund): Promise<readonly Transfer[]> {
    const { transfers, isNew, balances } = await this.charges.refund(refund);
    for (const { amountNano, currency } of isNew ? transfers : [])
      money.refunded.add(usdNumber(amountNano), currency);
    await this.holdBook.post([{ ...balances, requestIds: [] }]);
    return transfers;
  }
}
