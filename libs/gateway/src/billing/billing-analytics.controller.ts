import { Controller, Query } from '@nestjs/common';
import {
  type BillingAnalytics,
  BillingAnalyticsQuery,
  type BillingDays,
  BillingReportQuery,
} from '@svc/api/billing';
import { type Caller, type UsageDay, UsageHistory } from '@svc/contracts/ports';
import { routes } from '@svc/api';
import { Serves } from '@svc/runtime';
import { CallerOf } from '@svc/identity/auth';
import { usageDaysView } from './usage-days-view.js';
import { UsageNames } from './usage-names.js';
import { type Days, daysOfAnalytics } from './usage-period.js';
import { type ReportNames, usageReport } from './usage-report.js';
import { usageScope, within } from './usage-scope.js';

/** Summarizes usage by day, key and model. */
@Controller()
export class BillingAnalyticsController {
  constructor(
    private readonly history: UsageHistory,
    private readonly names: UsageNames,
  ) {}

  @Serves(routes.billingUsageAnalytics)
  async analytics(@CallerOf() caller: Caller, @Query() query: BillingReportQuery): Promise<BillingAnalytics> {
    const { days, sums, names } = await this.read(caller, query);
    return usageReport(sums, { days, top: query.top }, names);
  }

  @Serves(routes.billingUsageDays)
  async daily(@CallerOf() caller: Caller, @Query() query: BillingAnalyticsQuery): Promise<BillingDays> {
    const { days, sums, names } = await this.read(caller, query);
    return { lookback: `${days.count}d`, data: usageDaysView(sums, names) };
  }

  private async read(
    caller: Caller,
    query: BillingAnalyticsQuery,
  ): Promise<{ days: Days; sums: UsageDay[]; names: ReportNames }> {
    const scope = usageScope(caller, query);
    const days = daysOfAnalytics(query, new Date());
    const found = within(await this.history.days(scope.accountId, days.from, days.until), scope);
    const { names, tagsOf } = await this.names.of(scope.accountId, found);
    const { tag } = query;
    const sums = tag === undefined ? found : found.filter(({ keyId }) => tagsOf(keyId).includes(tag));
    return { days, sums, names };
  }
}
