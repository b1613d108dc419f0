import assert from 'node:assert/strict';
import { Injectable } from '@nestjs/common';
import type { AuditReport, AuditScope, Balances, DepositsWanted, Page, Transfer } from '@svc/contracts';
import { money } from '@svc/telemetry';
import { AuditStore } from '../audit/audit.store.js';
import { BooksStore } from './books.store.js';
import { PostingProgress } from '../posting/posting-progress.js';

const NOT_DRAINED = 'Not every charge that was recorded is posted yet.';

/** Reads of the books that see every charge which was settled before them. */
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

  /** No charge is among them, so none is waited for. */
  deposits(wanted: DepositsWanted): Promise<readonly Transfer[]> {
    return this.store.deposits(wanted);
  }

  /** Its result is a metric too. */
  async audit(scope: AuditScope): Promise<AuditReport> {
    try {
      const report = await this.proved(scope);
      money.audits.add(1, scope, report.ok ? 'proved' : 'wrong');
      money.auditOk.set(report.ok ? 1 : 0, scope);
      if (report.ok) money.proved.set(Date.now() / 1_000, scope);
      return report;
    } catch (error) {
      money.audits.add(1, scope, 'failed');
      throw error;
    }
  }

  private async proved(scope: AuditScope): Promise<AuditReport> {
    const drained = await this.progress.beforeRead().then(
      () => true,
      () => false,
    );
    const report = await this.audits.audit(scope);
    return drained ? report : { ...report, ok: false, mismatches: [NOT_DRAINED, ...report.mismatches] };
  }
}
