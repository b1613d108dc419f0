import { Controller, Query } from '@nestjs/common';
import { type BillingUsers, BillingUsersQuery } from '@svc/api/billing';
import { routes } from '@svc/api';
import { usdNumber } from '@svc/contracts/money';
import { type Caller, UsageHistory } from '@svc/contracts/ports';
import { CallerOf } from '@svc/identity/auth';
import { namedEndUser } from '@svc/identity/end-users';
import { Serves } from '@svc/runtime';
import { daysOfAnalytics } from './usage-period.js';

/** The usage of an account's end users. */
@Controller()
export class BillingUsersController {
  constructor(private readonly history: UsageHistory) {}

  @Serves(routes.billingUsers)
  async users(@CallerOf() caller: Caller, @Query() query: BillingUsersQuery): Promise<BillingUsers> {
    const { user, limit } = query;
    const { from, until, count } = daysOfAnalytics(query, new Date());
    const wanted = { limit, ...(user !== undefined && { endUser: namedEndUser(caller, user) }) };
    const users = await this.history.users(caller.accountId, { from, until }, wanted);
    return {
      lookback: `${count}d`,
      data: users.map(({ usdNano, diemNano, ...each }) => ({
        ...each,
        usd: usdNumber(usdNano),
        diem: usdNumber(diemNano),
      })),
    };
  }
}
