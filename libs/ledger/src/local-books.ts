import assert from 'node:assert/strict';
import { Injectable } from '@nestjs/common';
import {
  type AuditReport,
  type Balances,
  Books,
  type Credit,
  type Page,
  type Transfer,
} from '@svc/contracts';
import { BooksStore } from './books.store.js';
import { HoldBook } from './hold-book.js';
import { UsageDrain } from './usage-drain.js';

const NOT_DRAINED = 'Not every charge that was recorded is posted yet.';

/** The books within their own process. */
@Injectable()
export class LocalBooks extends Books {
  constructor(
    private readonly store: BooksStore,
    private readonly book: HoldBook,
    private readonly drain: UsageDrain,
  ) {
    super();
  }

  override async balances(accountId: string): Promise<Balances> {
    await this.drain.beforeRead();
    const { balances } = await this.store.balances(accountId);
    return balances;
  }

  override async credit(credit: Credit): Promise<Transfer> {
    assert(credit.usdNano > 0n, 'a credit is above zero');
    const { transfer, balances } = await this.store.credit(credit);
    await this.book.post([{ ...balances, requestIds: [] }]);
    return transfer;
  }

  override async transfers(accountId: string, page: Page): Promise<readonly Transfer[]> {
    assert(page.limit > 0, 'a page has room');
    await this.drain.beforeRead();
    return this.store.transfers(accountId, page);
  }

  override async audit(): Promise<AuditReport> {
    const drained = await this.drain.beforeRead().then(
      () => true,
      () => false,
    );
    const report = await this.store.audit();
    return drained ? report : { ...report, ok: false, mismatches: [NOT_DRAINED, ...report.mismatches] };
  }
}
