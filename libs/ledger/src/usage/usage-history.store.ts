import { Injectable } from '@nestjs/common';
import type { Currency } from '@svc/contracts/money';
import type { UsageEntry, UsageFilter, UsageHistory, UsagePage, UsagePlace } from '@svc/contracts/ports';
import type { PoolClient } from 'pg';
import { NOT_REFUNDED } from '../accounts/returned-charges.store.js';
import { SnapshotStore } from './snapshot.store.js';
import { countEntries } from './usage-counts.store.js';
import { ofUser } from './charge-users.store.js';
import { type EntryRow, placeOf, usageEntry } from './usage-entries.js';

export type UsagePageRequest = Parameters<UsageHistory['page']>[1];
export type WalkStep = Parameters<UsageHistory['walk']>[1];
export type WalkFound = Awaited<ReturnType<UsageHistory['walk']>>;

/** Charges per step of a filtered walk, which may match only few of them. */
const CHARGES_PER_STEP = 20_000;
const DAY_MS = 86_400_000;

const EARLIEST = new Date('2000-01-01T00:00:00Z');
const LATEST = new Date('2200-01-01T00:00:00Z');
const LAST_LINE = 2_147_483_647;

/** Includes `from`, excludes `until`. */
interface Span {
  readonly from: Date;
  readonly until: Date;
}

/** The entries of posted charges. */
@Injectable()
export class UsageHistoryStore {
  constructor(private readonly snapshots: SnapshotStore) {}

  /** Reads only the days of the page, so that a late page costs no more than an early one. */
  page(filter: UsageFilter, { limit, page, order }: UsagePageRequest): Promise<UsagePage> {
    const span = spanOf(filter);
    return this.snapshots.read(async (client) => {
      const days = await countEntries(client, { ...filter, ...span });
      const total = days.reduce((sum, { entries }) => sum + entries, 0);
      let skipped = (page - 1) * limit;
      if (skipped >= total) return { entries: [], total };
      for (const { day, entries } of order === 'asc' ? days : days.toReversed()) {
        if (skipped < entries) {
          const read = { limit, skipped, order, span: narrowed(span, day, order) };
          return { entries: await readPage(client, filter, read), total };
        }
        skipped -= entries;
      }
      return { entries: [], total };
    });
  }

  walk(filter: UsageFilter, { limit, after }: WalkStep): Promise<WalkFound> {
    const span = spanOf(filter);
    const start = after ?? { at: span.from, requestId: '', line: -1, currency: 'DIEM' as const };
    const from = later(span.from, start.at);
    return this.snapshots.read(async (client) => {
      const read = { limit: limit + 1, start, span: { from, until: span.until } };
      const isSparse = [filter.currency, filter.keyId, filter.model, filter.endUser].some(
        (each) => each !== undefined,
      );
      const last = !isSparse ? undefined : await findLast(client, filter, read);
      const rows = await readOn(client, filter, { ...read, last });
      const entries = rows.slice(0, limit).map(usageEntry);
      const end = rows[limit - 1];
      if (rows.length > limit && end) return { entries, next: placeOf(end) };
      return last ? { entries, next: last } : { entries };
    });
  }
}

/**
 * Every line of a charge, once per currency that paid it; a line without payment counts as USD. `OFFSET 0`
 * makes PostgreSQL read the charges first and in order: joined the other way, a page would read the whole
 * month.
 */
export const ENTRIES = `
  SELECT charge.at, charge.request_id, line.line, paid.currency, charge.key_id, charge.model, line.sku, line.unit, line.units,
    line.price_nano_per_million, line.usd_nano, line.diem_nano, charge.prompt_tokens, charge.completion_tokens,
    charge.duration_ms
  FROM ledger.charges AS charge
  CROSS JOIN LATERAL (
    SELECT * FROM ledger.charge_lines AS line
    WHERE line.request_id = charge.request_id AND line.at = charge.at OFFSET 0
  ) AS line
  CROSS JOIN (VALUES ('DIEM' COLLATE "C"), ('USD')) AS paid (currency)
  WHERE charge.account_id = $1 AND charge.at >= $2 AND charge.at < $3 AND ${NOT_REFUNDED}
    AND ($5::text IS NULL OR charge.key_id = $5) AND ($6::text IS NULL OR charge.model = $6)
    AND ${ofUser('$7')}
    AND ($4::text IS NULL OR paid.currency = $4) AND ($4 IS DISTINCT FROM 'DIEM' OR charge.diem_nano > 0)
    AND CASE paid.currency WHEN 'DIEM' THEN line.diem_nano > 0 ELSE line.usd_nano > 0 OR line.diem_nano = 0 END`;

/** The values of `ENTRIES`. */
export function entryValues(filter: UsageFilter, { from, until }: Span) {
  const { accountId, currency, keyId, model, endUser } = filter;
  return [accountId, from, until, currency ?? null, keyId ?? null, model ?? null, endUser ?? null];
}

async function readPage(
  client: PoolClient,
  filter: UsageFilter,
  page: { limit: number; skipped: number; order: 'asc' | 'desc'; span: Span },
): Promise<UsageEntry[]> {
  const way = page.order === 'asc' ? 'ASC' : 'DESC';
  const { rows } = await client.query<EntryRow>(
    `${ENTRIES}
     ORDER BY charge.at ${way}, charge.request_id ${way}, line.line ${way}, paid.currency ${way}
     LIMIT $8 OFFSET $9`,
    [...entryValues(filter, page.span), page.limit, page.skipped],
  );
  return rows.map(usageEntry);
}

async function readOn(
  client: PoolClient,
  filter: UsageFilter,
  step: { limit: number; start: UsagePlace; span: Span; last: UsagePlace | undefined },
): Promise<EntryRow[]> {
  const { start, last, span } = step;
  const { rows } = await client.query<EntryRow>(
    `${ENTRIES}
       AND (charge.at, charge.request_id) >= ($8::timestamptz, $9::text)
       AND (charge.at, charge.request_id, line.line, paid.currency) > ($8, $9, $10::int, $11::text)
       AND ($12::timestamptz IS NULL OR (charge.at, charge.request_id) <= ($12, $13::text))
     ORDER BY charge.at, charge.request_id, line.line, paid.currency
     LIMIT $14`,
    [
      ...entryValues(filter, span),
      start.at,
      start.requestId,
      start.line,
      start.currency,
      last?.at ?? null,
      last?.requestId ?? null,
      step.limit,
    ],
  );
  return rows;
}

/** The end of the last charge in a step; undefined if the step reaches the end of the history. */
async function findLast(
  client: PoolClient,
  { accountId }: UsageFilter,
  { start, span }: { start: UsagePlace; span: Span },
): Promise<UsagePlace | undefined> {
  const { rows } = await client.query<{ at: Date; request_id: string }>(
    `SELECT at, request_id FROM ledger.charges
     WHERE account_id = $1 AND at >= $2 AND at < $3 AND (at, request_id) >= ($4::timestamptz, $5::text)
     ORDER BY at, request_id LIMIT 1 OFFSET $6`,
    [accountId, span.from, span.until, start.at, start.requestId, CHARGES_PER_STEP],
  );
  const last: Currency = 'USD';
  return rows[0] && { at: rows[0].at, requestId: rows[0].request_id, line: LAST_LINE, currency: last };
}

export function spanOf({ from = EARLIEST, until = LATEST }: UsageFilter): Span {
  return { from: later(from, EARLIEST), until: until < LATEST ? until : LATEST };
}

/** Cuts a span to start with a day, or for descending order to end with it. */
function narrowed({ from, until }: Span, day: string, order: 'asc' | 'desc'): Span {
  const midnight = Date.parse(day);
  if (order === 'asc') return { from: later(from, new Date(midnight)), until };
  return { from, until: new Date(Math.min(until.getTime(), midnight + DAY_MS)) };
}

function later(a: Date, b: Date): Date {
  return a > b ? a : b;
}
