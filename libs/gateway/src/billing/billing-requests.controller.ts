import { Controller, Query } from '@nestjs/common';
import { type BillingRequests, BillingRequestsQuery } from '@svc/api/billing';
import { routes } from '@svc/api';
import { usdNumber } from '@svc/contracts/money';
import { type Caller, type RequestPlace, type UsageEntry, UsageHistory } from '@svc/contracts/ports';
import { invalidRequest } from '@svc/contracts/problems';
import { CallerOf } from '@svc/identity/auth';
import { Serves } from '@svc/runtime';
import { tokensOf, usageEntryView } from './usage-entry-view.js';
import { UsageNames } from './usage-names.js';
import { spanOfHistory } from './usage-period.js';
import { type ReportNames, shownKeyId } from './usage-report.js';
import { usageScope, within } from './usage-scope.js';

/** Lists charged requests. */
@Controller()
export class BillingRequestsController {
  constructor(
    private readonly history: UsageHistory,
    private readonly names: UsageNames,
  ) {}

  @Serves(routes.billingRequests)
  async requests(@CallerOf() caller: Caller, @Query() query: BillingRequestsQuery): Promise<BillingRequests> {
    const { requestId, limit, cursor } = query;
    const scope = usageScope(caller, query);
    const filter = { ...scope, ...spanOfHistory(query), ...(requestId !== undefined && { requestId }) };
    const step = { limit, ...(cursor !== undefined && { before: placeIn(cursor) }) };
    const { entries, next } = await this.history.requests(filter, step);
    const { names } = await this.names.of(scope.accountId, entries);
    const requests = Map.groupBy(within(entries, scope), (entry) => entry.requestId);
    return {
      data: [...requests.values()].flatMap((each) => rowOf(each, names) ?? []),
      nextCursor: next ? `${next.at.getTime()}_${next.requestId}` : null,
    };
  }
}

function rowOf(
  entries: readonly UsageEntry[],
  names: ReportNames,
): BillingRequests['data'][number] | undefined {
  const [first] = entries;
  if (!first) return undefined;
  const spentNano = (currency: UsageEntry['currency']): bigint =>
    entries.reduce((sum, entry) => (entry.currency === currency ? sum + entry.amountNano : sum), 0n);
  return {
    requestId: first.requestId,
    timestamp: first.at.toISOString(),
    apiKeyId: shownKeyId(first.keyId),
    description: names.keyName(first.keyId),
    modelName: first.model,
    usd: usdNumber(spentNano('USD')),
    diem: usdNumber(spentNano('DIEM')),
    ...tokensOf(first),
    durationMs: first.durationMs,
    lines: entries.map(usageEntryView),
  };
}

/** It only selects among the caller's own requests, so it needs no seal. Refuses: INVALID_REQUEST. */
function placeIn(cursor: string): RequestPlace {
  const [, ms, requestId] = /^(\d{1,15})_([\x20-\x7e]{1,200})$/.exec(cursor) ?? [];
  const at = new Date(Number(ms));
  if (requestId === undefined || Number.isNaN(at.getTime()))
    throw invalidRequest([{ path: ['cursor'], message: 'must be `nextCursor` of the previous page' }]);
  return { at, requestId };
}
