import { Controller, Query, Res } from '@nestjs/common';
import {
  type BillingUsage,
  type BillingUsageHistory,
  BillingUsageHistoryQuery,
  BillingUsageQuery,
  type Caller,
  type UsageEntry,
  UsageHistory,
  invalidRequest,
  routes,
} from '@svc/contracts';
import { Serves } from '@svc/runtime';
import type { FastifyReply } from 'fastify';
import { CallerOf } from '../auth/access.js';
import { readCursor, writeCursor } from './usage-cursor.js';
import { prefersCsv, usageCsv, usageEntryView } from './usage-entry-view.js';
import { spanOfHistory, spanOfUsage } from './usage-period.js';

/** Lists an account's usage entries as JSON or CSV. */
@Controller()
export class BillingUsageController {
  constructor(private readonly history: UsageHistory) {}

  @Serves(routes.billingUsage)
  async usage(
    @CallerOf() { accountId }: Caller,
    @Query() query: BillingUsageQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<BillingUsage | string> {
    const { currency, limit, page, sortOrder: order } = query;
    const filter = { accountId, ...spanOfUsage(query), ...(currency && { currency }) };
    const { entries, total } = await this.history.page(filter, { limit, page, order });
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
    @CallerOf() { accountId }: Caller,
    @Query() query: BillingUsageHistoryQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<BillingUsageHistory | string> {
    const { filter, pageSize, after } = stepOf(query, accountId);
    const { entries, next } = await this.history.walk(filter, { limit: pageSize, ...(after && { after }) });
    const nextCursor = next ? writeCursor({ filter, pageSize, after: next }) : null;
    const csv = csvFor(reply, entries, `billing-usage-history-${compactUtc(new Date())}.csv`);
    if (csv !== undefined && nextCursor !== null) void reply.header('x-next-cursor', nextCursor);
    return csv ?? { data: entries.map(usageEntryView), nextCursor };
  }
}

const PAGE_SIZE = 1_000;

/** The start of a walk, or its continuation from a cursor. Refuses: INVALID_REQUEST. */
function stepOf(query: BillingUsageHistoryQuery, accountId: string) {
  const { cursor, ...first } = query;
  if (cursor === undefined) {
    const { currency, pageSize = PAGE_SIZE } = first;
    const filter = { accountId, ...spanOfHistory(query), ...(currency && { currency }) };
    return { filter, pageSize, after: undefined };
  }
  if (Object.keys(first).length > 0)
    throw invalidRequest([{ path: ['cursor'], message: 'must be the only query parameter' }]);
  return readCursor(cursor, accountId);
}

/** The entries as a CSV file if the client prefers that. */
function csvFor(reply: FastifyReply, entries: readonly UsageEntry[], name: string): string | undefined {
  void reply.header('vary', 'accept');
  if (!prefersCsv(reply.request.headers.accept)) return undefined;
  void reply.headers({
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': `attachment; filename=${name}`,
  });
  return usageCsv(entries);
}

/** For example `20261121T101500Z`. */
const compactUtc = (at: Date): string => at.toISOString().replaceAll(/[-:]|\.\d+/g, '');
