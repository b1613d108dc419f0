import { Controller, Query, Res } from '@nestjs/common';
import {
  type BillingUsage,
  type BillingUsageHistory,
  BillingUsageHistoryQuery,
  BillingUsageQuery,
} from '@svc/api/billing';
import { type Caller, type UsageEntry, UsageHistory } from '@svc/contracts/ports';
import { invalidRequest } from '@svc/contracts/problems';
import { routes } from '@svc/api';
import { Serves } from '@svc/runtime';
import type { FastifyReply } from 'fastify';
import { CallerOf } from '@svc/identity/auth';
import { isCsvFile } from '@svc/paid/http';
import { readCursor, writeCursor } from './usage-cursor.js';
import { usageCsv, usageEntryView } from './usage-entry-view.js';
import { spanOfHistory, spanOfUsage } from './usage-period.js';
import { usageScope, within } from './usage-scope.js';

/** Lists an account's usage entries as JSON or CSV. */
@Controller()
export class BillingUsageController {
  constructor(private readonly history: UsageHistory) {}

  @Serves(routes.billingUsage)
  async usage(
    @CallerOf() caller: Caller,
    @Query() query: BillingUsageQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<BillingUsage | string> {
    const { currency, limit, page, sortOrder: order } = query;
    const scope = usageScope(caller, query);
    const span = { ...scope, ...spanOfUsage(query) };
    const { entries: found, total } =
      currency === 'BUNDLED_CREDITS'
        ? NONE
        : await this.history.page({ ...span, ...(currency && { currency }) }, { limit, page, order });
    const entries = within(found, scope);
    const totalPages = Math.ceil(total / limit);
    void reply.headers({
      'x-pagination-limit': limit,
      'x-pagination-page': page,
      'x-pagination-total': total,
      'x-pagination-total-pages': totalPages,
    });
    return (
      csvFor(reply, entries, 'billing_usage.csv') ?? {
        data: entries.map(usageEntryView),
        pagination: { limit, page, total, totalPages },
      }
    );
  }

  @Serves(routes.billingUsageHistory)
  async usageHistory(
    @CallerOf() caller: Caller,
    @Query() query: BillingUsageHistoryQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<BillingUsageHistory | string> {
    const step = stepOf(query, caller);
    const { entries: found, next } = step ? await this.history.walk(step.filter, limitsOf(step)) : NONE;
    const entries = step ? within(found, step.filter) : [];
    const nextCursor = step && next ? writeCursor({ ...step, after: next }) : null;
    const csv = csvFor(reply, entries, `billing-usage-history-${compactUtc(new Date())}.csv`);
    if (csv !== undefined && nextCursor !== null) void reply.header('x-next-cursor', nextCursor);
    return csv ?? { data: entries.map(usageEntryView), nextCursor };
  }
}

const PAGE_SIZE = 1_000;

/** What there is in a currency that no charge is paid in. */
const NONE: { readonly entries: readonly UsageEntry[]; readonly total: number; readonly next?: undefined } = {
  entries: [],
  total: 0,
};

const limitsOf = ({ pageSize: limit, after }: NonNullable<ReturnType<typeof stepOf>>) => ({
  limit,
  ...(after && { after }),
});

/**
 * The start of a walk, or its continuation from a cursor; `undefined` if there is nothing to find. Refuses:
 * INVALID_REQUEST.
 */
function stepOf(query: BillingUsageHistoryQuery, caller: Caller) {
  const { cursor, ...first } = query;
  if (cursor === undefined) {
    const { currency, pageSize = PAGE_SIZE } = first;
    const span = spanOfHistory(query);
    if (currency === 'BUNDLED_CREDITS') return undefined;
    const filter = { ...usageScope(caller, first), ...span, ...(currency && { currency }) };
    return { filter, pageSize, after: undefined };
  }
  if (Object.keys(first).length > 0)
    throw invalidRequest([{ path: ['cursor'], message: 'must be the only query parameter' }]);
  const walk = readCursor(cursor, caller.accountId);
  // A cursor may be of another key of the account.
  return { ...walk, filter: { ...walk.filter, ...usageScope(caller) } };
}

/** The entries as a CSV file if the client prefers that. */
const csvFor = (reply: FastifyReply, entries: readonly UsageEntry[], name: string): string | undefined =>
  isCsvFile(reply, name) ? usageCsv(entries) : undefined;

/** For example `20261121T101500Z`. */
const compactUtc = (at: Date): string => at.toISOString().replaceAll(/[-:]|\.\d+/g, '');
