import { Injectable } from '@nestjs/common';
import {
  type AccountBalances,
  Accounting,
  type MonthEntry,
  type Spender,
  type SpendingPeriod,
  type StatementEntry,
} from '@svc/contracts/accounting';
import { SpendersStore } from './accounting/spenders.store.js';
import { StatementsStore } from './accounting/statements.store.js';
import { PostingProgress } from './posting/posting-progress.js';

/** Accounting within the process of the books. Reads include every charge settled before them. */
@Injectable()
export class LocalAccounting extends Accounting {
  constructor(
    private readonly progress: PostingProgress,
    private readonly store: SpendersStore,
    private readonly statements: StatementsStore,
  ) {
    super();
  }

  override async balances(accountIds: readonly string[]): Promise<readonly AccountBalances[]> {
    if (accountIds.length === 0) return [];
    await this.progress.beforeRead();
    return this.store.balances(accountIds);
  }

  override async spenders(period: SpendingPeriod): Promise<readonly Spender[]> {
    await this.progress.beforeRead();
    return this.store.spenders(period);
  }

  override async month(month: string): Promise<readonly MonthEntry[]> {
    await this.progress.beforeRead();
    return this.statements.month(month);
  }

  override async statement(accountId: string, month: string): Promise<readonly StatementEntry[]> {
    await this.progress.beforeRead();
    return this.statements.statement(accountId, month);
  }
}
