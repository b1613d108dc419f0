import assert from 'node:assert/strict';
import { Injectable } from '@nestjs/common';
import {
  type Alert,
  type AuditReport,
  type AuditScope,
  Books,
  type Credit,
  type Debit,
  type DepositsWanted,
  OPEN_HOLDS_SHOWN,
  type OpenHold,
  type PostedCharge,
  type Refund,
  type Reversal,
  type Stake,
  type Transfer,
  type TransferPage,
} from '@svc/contracts/ports';
import { type Balances, totalNano, usdNumber } from '@svc/contracts/money';
import { HoldBook } from '@svc/hold-book';
import { money } from '@svc/telemetry';
import { AuditStore } from './audit/audit.store.js';
import { BooksStore } from './books/books.store.js';
import { RefundsStore } from './books/refunds.store.js';
import { ReversalsStore } from './books/reversals.store.js';
import type { Credited } from './books/transfers.store.js';
import { PostingProgress } from './posting/posting-progress.js';
import { Staking } from './staking/staking.js';

/**
 * The books within their own process. Reads include every charge settled before them. Changes apply to the
 * books first, then to the hold book.
 */
@Injectable()
export class LocalBooks extends Books {
  constructor(
    private readonly books: BooksStore,
    private readonly refunds: RefundsStore,
    private readonly reversals: ReversalsStore,
    private readonly audits: AuditStore,
    private readonly staking: Staking,
    private readonly holdBook: HoldBook,
    private readonly progress: PostingProgress,
  ) {
    super();
  }

  override async balances(accountId: string): Promise<Balances> {
    await this.progress.beforeRead();
    const { balances } = await this.books.balances(accountId);
    return balances;
  }

  override async credit(credit: Credit): Promise<Transfer> {
    assert(credit.usdNano > 0n, 'a credit is above zero');
    const { transfer, ...change } = await this.books.credit(credit);
    await this.post(change);
    return transfer;
  }

  /** A request that takes its hold at the same moment may lose its cover; its cost is then written off. */
  override async debit(debit: Debit): Promise<Transfer> {
    assert(debit.usdNano > 0n, 'a debit is above zero');
    await this.progress.beforeRead();
    const { usdNano } = await this.holdBook.available(debit.accountId);
    const { transfer, ...change } = await this.reversals.debit(debit, usdNano);
    await this.post(change);
    return transfer;
  }

  /**
   * Waits until everything spent of the credit is posted. A running request may lose the cover of its hold;
   * its cost is then written off.
   */
  override async reverse(reversal: Reversal): Promise<Transfer> {
    await this.progress.beforeRead();
    const { transfer, ...change } = await this.reversals.reverse(reversal);
    await this.post(change);
    return transfer;
  }

  /** Deposits involve no charges, so this does not wait for postings. */
  override deposits(wanted: DepositsWanted): Promise<readonly Transfer[]> {
    return this.books.deposits(wanted);
  }

  override async refund(refund: Refund): Promise<readonly Transfer[]> {
    assert(!refund.amount || totalNano(refund.amount) > 0n, 'a refund is above zero');
    await this.progress.beforeRead();
    const { transfers, ...change } = await this.refunds.refund(refund);
    for (const { amountNano, currency } of change.isNew ? transfers : [])
      money.refunded.add(usdNumber(amountNano), currency);
    await this.post(change);
    return transfers;
  }

  override async charge(requestId: string): Promise<PostedCharge> {
    await this.progress.beforeRead();
    return this.books.charge(requestId);
  }

  override openHolds(accountId: string): Promise<readonly OpenHold[]> {
    return this.holdBook.open(accountId, OPEN_HOLDS_SHOWN);
  }

  override stake(accountId: string): Promise<Stake> {
    return this.staking.stake(accountId);
  }

  override setStake(accountId: string, tokensNano: bigint): Promise<Stake> {
    return this.staking.setStake(accountId, tokensNano);
  }

  override async transfers(accountId: string, page: TransferPage): Promise<readonly Transfer[]> {
    assert(page.limit > 0, 'a page has room');
    await this.progress.beforeRead();
    return this.books.transfers(accountId, page);
  }

  override alerts(accountId: string): Promise<readonly Alert[]> {
    return this.books.alerts(accountId);
  }

  override setAlerts(accountId: string, alerts: readonly Alert[]): Promise<void> {
    return this.books.setAlerts(accountId, alerts);
  }

  /** Reports its result as a metric too. */
  override async audit(scope: AuditScope): Promise<AuditReport> {
    try {
      const report = await this.proved(scope);
      money.audits.add(1, scope, report.ok ? 'proved' : 'wrong');
      (report.ok ? money.proved : money.wrong).set(Date.now() / 1_000, scope);
      return report;
    } catch (error) {
      money.audits.add(1, scope, 'failed');
      throw error;
    }
  }

  /** Charges that wait to be posted are not a fault of the books: they are audited once posted. */
  private async proved(scope: AuditScope): Promise<AuditReport> {
    await this.progress.beforeRead().catch(() => undefined);
    return this.audits.audit(scope);
  }

  /**
   * A new change involves no key's spending. For a repeated one, the cause of the account's version is
   * unknown.
   */
  private post({ isNew, balances }: Pick<Credited, 'isNew' | 'balances'>): Promise<void> {
    return this.holdBook.post([{ ...balances, requestIds: [], ...(isNew && { spends: [] }) }]);
  }
}
