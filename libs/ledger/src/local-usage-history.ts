import { Injectable } from '@nestjs/common';
import {
  type KeySpend,
  type UsageDay,
  type UsageFilter,
  UsageHistory,
  type UsagePage,
  type UserUsage,
} from '@svc/contracts/ports';
import { ChargeUsersStore, type UserDays, type UsersWanted } from './usage/charge-users.store.js';
import { UsageDaysStore } from './usage/usage-days.store.js';
import { type RequestStep, type RequestsFound, UsageRequestsStore } from './usage/usage-requests.store.js';
import { PostingProgress } from './posting/posting-progress.js';
import {
  type UsagePageRequest,
  UsageHistoryStore,
  type WalkFound,
  type WalkStep,
} from './usage/usage-history.store.js';

/** The usage history within its own process. Reads include every charge settled before them. */
@Injectable()
export class LocalUsageHistory extends UsageHistory {
  constructor(
    private readonly progress: PostingProgress,
    private readonly history: UsageHistoryStore,
    private readonly sums: UsageDaysStore,
    private readonly byRequest: UsageRequestsStore,
    private readonly byUser: ChargeUsersStore,
  ) {
    super();
  }

  override async page(filter: UsageFilter, page: UsagePageRequest): Promise<UsagePage> {
    await this.progress.beforeRead();
    return this.history.page(filter, page);
  }

  override async walk(filter: UsageFilter, step: WalkStep): Promise<WalkFound> {
    await this.progress.beforeRead();
    return this.history.walk(filter, step);
  }

  override async requests(filter: UsageFilter, step: RequestStep): Promise<RequestsFound> {
    await this.progress.beforeRead();
    return this.byRequest.read(filter, step);
  }

  override async days(accountId: string, from: string, until: string): Promise<readonly UsageDay[]> {
    await this.progress.beforeRead();
    return this.sums.days(accountId, from, until);
  }

  override async users(
    accountId: string,
    days: UserDays,
    wanted: UsersWanted,
  ): Promise<readonly UserUsage[]> {
    await this.progress.beforeRead();
    return this.byUser.read(accountId, days, wanted);
  }

  override async forgetUser(accountId: string, endUser: string): Promise<number> {
    await this.progress.beforeRead();
    return this.byUser.forget(accountId, endUser);
  }

  override async keys(
    accountId: string,
    keyIds: readonly string[],
    hourlyIds: readonly string[] = [],
  ): Promise<readonly KeySpend[]> {
    if (keyIds.length === 0) return [];
    await this.progress.beforeRead();
    return this.sums.keys(accountId, keyIds, hourlyIds);
  }
}
