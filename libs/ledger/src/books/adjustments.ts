import assert from 'node:assert/strict';
import { Injectable } from '@nestjs/common';
import type { Credit, Refund, Transfer } from '@svc/contracts';
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

  async refund(refund: Refund): Promise<readonly Transfer[]> {
    const { transfers, balances } = await this.charges.refund(refund);
    await this.holdBook.post([{ ...balances, requestIds: [] }]);
    return transfers;
  }
}
