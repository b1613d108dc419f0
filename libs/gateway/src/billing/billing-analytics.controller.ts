import { Controller, Query } from '@nestjs/common';
import { Catalog } from '@svc/catalog';
import { type BillingAnalytics, BillingAnalyticsQuery } from '@svc/api/billing';
import { type Caller, UsageHistory } from '@svc/contracts/ports';
import { routes } from '@svc/api';
import { Serves } from '@svc/runtime';
import { KeyStore } from '@svc/paid/accounts';
import { CallerOf } from '@svc/paid/auth';
import { keyNames } from './usage-key-names.js';
import { daysOfAnalytics } from './usage-period.js';
import { usageReport } from './usage-report.js';

/** Summarizes an account's usage. */
@Controller()
export class BillingAnalyticsController {
  constructor(
    private readonly history: UsageHistory,
    private readonly keys: KeyStore,
    private readonly catalog: Catalog,
  ) {}

  @Serves(routes.billingUsageAnalytics)
  async analytics(
    @CallerOf() { accountId }: Caller,
    @Query() query: BillingAnalyticsQuery,
  ): Promise<BillingAnalytics> {
    const days = daysOfAnalytics(query, new Date());
    const sums = await this.history.days(accountId, days.from, days.until);
    const keyIds = [...new Set(sums.map(({ keyId }) => keyId))].toSorted();
    const names = keyNames(keyIds, await this.keys.labels(accountId, keyIds));
    const types = new Map(this.catalog.entries().map(({ id, type }) => [id, type]));
    return usageReport(sums, days, {
      modelType: (id) => types.get(id) ?? null,
      keyName: (id) => names.get(id) ?? id,
    });
  }
}
