import assert from 'node:assert/strict';
import { Injectable } from '@nestjs/common';
import type {
  AuditReport,
  AuditScope,
  Balances,
  DepositsWanted,
  Page,
  PostedCharge,
  Transfer,
} from '@svc/contracts';
import { money } from '@svc/telemetry';
import { AuditStore } from '../audit/audit.store.js';
import { BooksStore } from './books.store.js';
import { PostingProgress } from '../posting/posting-progress.js';

/** Reads of the books that include every charge settled before them. */
@Injectable()
export class SettledBooks {
  constructor(
    private readonly store: BooksStore,
    private readonly audits: AuditStore,
    private readonly progress: PostingProgress,
  ) {}

  async balances(accountId: string): Promise<Balances> {
    await this.progress.beforeRead();
    const { balances } = await this.store.balances(accountId);
    return balances;
  }

  async transfers(accountId: string, page: Page): Promise<readonly Transfer[]> {
    assert(page.limit > 0, 'a page has room');
    await this.progress.beforeRead();
    return this.store.transfers(accountId, page);
  }

  async charge(requestId: string): Promise<PostedCharge> {
    await this.progress.beforeRead();
    return this.store.charge(requestId);
  }

  /** Deposits involve no charges, so this does not wait for postings. */
  deposits(wanted: DepositsWanted): Promise<readonly Transfer[]> {
    return this.store.deposits(wanted);
  }

  /** Reports its result as a metric too. */
  async audit(scope: AuditScope): Promise<AuditReport> {
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
}
