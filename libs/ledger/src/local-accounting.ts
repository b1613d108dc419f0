import { Injectable } from '@nestjs/common';
import { type AccountBalances, Accounting, type Spender } from '@svc/contracts';
import { SpendersStore, type SpendingPeriod } from './accounting/spenders.store.js';
import { PostingProgress } from './posting/posting-progress.js';

/** Accounting within the process of the books. Reads include every charge settled before them. */
@Injectable()
export class LocalAccounting extends Accounting {
  constructor(
    private readonly progress: PostingProgress,
    private readonly store: SpendersStore,
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
}
