import { Body, Controller, Param, Req } from '@nestjs/common';
import { EndUserLimits, type EndUserLimitsReply, type ForgottenUser } from '@svc/api/end-users';
import { routes } from '@svc/api';
import { type Caller, UsageHistory } from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import type { UseLimits } from '@svc/identity/accounts';
import { CallerOf } from '@svc/identity/auth';
import { EACH_USER, EndUserLimitsStore, namedEndUser } from '@svc/identity/end-users';
import { Serves } from '@svc/runtime';
import type { FastifyRequest } from 'fastify';
import { limitNano } from './api-key-terms.js';
import { limitView, ownLimits } from './api-key-views.js';
import { KeyChanges } from './key-changes.js';

/** What an account allows its own users, on behalf of a holder of one of its ADMIN keys. */
@Controller()
export class EndUsersController {
  constructor(
    private readonly limits: EndUserLimitsStore,
    private readonly changes: KeyChanges,
    private readonly history: UsageHistory,
  ) {}

  @Serves(routes.getEndUserLimits)
  async get(@CallerOf() caller: Caller, @Param() { user }: { user: string }): Promise<EndUserLimitsReply> {
    const endUser = idOf(caller, user);
    return replyOf(endUser, await this.limits.get(caller.accountId, endUser));
  }

  @Serves(routes.setEndUserLimits)
  async set(
    @CallerOf() caller: Caller,
    @Param() { user }: { user: string },
    @Body() body: EndUserLimits,
  ): Promise<EndUserLimitsReply> {
    return this.change(caller, idOf(caller, user), termsOf(body));
  }

  @Serves(routes.removeEndUserLimits)
  remove(@CallerOf() caller: Caller, @Param() { user }: { user: string }): Promise<EndUserLimitsReply> {
    return this.change(caller, idOf(caller, user), undefined);
  }

  @Serves(routes.forgetEndUser)
  async forget(
    @CallerOf() caller: Caller,
    @Req() { url, params }: FastifyRequest<{ Params: { user: string } }>,
  ): Promise<ForgottenUser> {
    const { user } = params;
    if (NAMELESS.test(url)) throw new Problem('NOT_FOUND');
    const endUser = idOf(caller, user);
    const requests = await this.history.forgetUser(caller.accountId, endUser);
    return { success: true, data: { endUser, requests } };
  }

  private async change(
    { accountId }: Caller,
    endUser: string,
    terms: UseLimits | undefined,
  ): Promise<EndUserLimitsReply> {
    await this.limits.set(accountId, endUser, terms);
    this.changes.made(accountId);
    return replyOf(endUser, terms);
  }
}

/** `/end_users//limits` has no name, and is not the user `limits`, although other slashes may be doubled. */
const NAMELESS = /\/end_users\/\//;

const idOf = (caller: Caller, user: string): string =>
  user === EACH_USER ? EACH_USER : namedEndUser(caller, user);

function termsOf(limits: EndUserLimits): UseLimits {
  const { consumptionLimit, limitPeriod = 'EPOCH' } = limits;
  const { usd, diem } = consumptionLimit ?? {};
  return {
    usdLimitNano: limitNano(usd ?? null),
    diemLimitNano: limitNano(diem ?? null),
    limitPeriod,
    requestsPerMinute: limits.requestsPerMinute ?? null,
    tokensPerMinute: limits.tokensPerMinute ?? null,
    requestsPerDay: limits.requestsPerDay ?? null,
    tokensPerDay: limits.tokensPerDay ?? null,
  };
}

function replyOf(endUser: string, terms: UseLimits | undefined): EndUserLimitsReply {
  if (!terms) return { success: true, data: null };
  return {
    success: true,
    data: {
      ...(endUser !== EACH_USER && { endUser }),
      consumptionLimit: limitView(terms),
      limitPeriod: terms.limitPeriod,
      ...ownLimits(terms),
    },
  };
}
