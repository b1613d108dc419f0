import type { Currency } from '@svc/contracts/money';
import type { PoolClient } from 'pg';
import { ofUser } from './charge-users.store.js';
import { NOT_REFUNDED, USAGE_DAYS } from '../accounts/returned-charges.store.js';

/** The number of entries on a day (UTC). */
export interface DayCount {
  readonly day: string;
  readonly entries: number;
}

export interface CountFilter {
  readonly accountId: string;
  readonly from: Date;
  readonly until: Date;
  readonly currency?: Currency | undefined;
  readonly keyId?: string;
  readonly model?: string;
  readonly endUser?: string;
}

interface CountRow {
  readonly day: string;
  readonly usd: bigint;
  readonly diem: bigint;
}

const DAY_MS = 86_400_000;

/**
 * Counts an account's entries by day, omitting days without any. Whole days come from stored sums; a day cut
 * by the filter's times is counted line by line, as are all days of one end user.
 */
export async function countEntries(client: PoolClient, filter: CountFilter): Promise<DayCount[]> {
  const { from, until, currency } = filter;
  const first = new Date(Math.ceil(from.getTime() / DAY_MS) * DAY_MS);
  const last = new Date(Math.floor(until.getTime() / DAY_MS) * DAY_MS);
  // The sums of days are those of all end users.
  const rows =
    first < last && filter.endUser === undefined
      ? [
          ...(await countLines(client, filter, { from, until: first })),
          ...(await countDays(client, filter, { from: first, until: last })),
          ...(await countLines(client, filter, { from: last, until })),
        ]
      : await countLines(client, filter, { from, until });
  return rows.flatMap(({ day, usd, diem }) => {
    const entries = Number((currency === 'DIEM' ? 0n : usd) + (currency === 'USD' ? 0n : diem));
    return entries > 0 ? [{ day, entries }] : [];
  });
}

interface Span {
  readonly from: Date;
  readonly until: Date;
}

async function countDays(
  client: PoolClient,
  { accountId, keyId, model }: CountFilter,
  { from, until }: Span,
): Promise<CountRow[]> {
  const { rows } = await client.query<CountRow>(
    `SELECT to_char(day, 'YYYY-MM-DD') AS day, sum(usd_entries)::bigint AS usd, sum(diem_entries)::bigint AS diem
     FROM ${USAGE_DAYS} WHERE day >= $2::date AND day < $3::date
       AND ($4::text IS NULL OR key_id = $4) AND ($5::text IS NULL OR model = $5)
     GROUP BY usage_day.day ORDER BY usage_day.day`,
    [accountId, from.toISOString(), until.toISOString(), keyId ?? null, model ?? null],
  );
  return rows;
}

async function countLines(
  client: PoolClient,
  { accountId, keyId, model, endUser }: CountFilter,
  { from, until }: Span,
): Promise<CountRow[]> {
  if (from >= until) return [];
  const { rows } = await client.query<CountRow>(
    `SELECT to_char(charge.at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day,
       count(*) FILTER (WHERE line.usd_nano > 0 OR line.diem_nano = 0) AS usd,
       count(*) FILTER (WHERE line.diem_nano > 0) AS diem
     FROM ledger.charges AS charge JOIN ledger.charge_lines AS line USING (request_id, at)
     WHERE charge.account_id = $1 AND charge.at >= $2 AND charge.at < $3 AND line.at >= $2 AND line.at < $3
       AND ($4::text IS NULL OR charge.key_id = $4) AND ($5::text IS NULL OR charge.model = $5)
       AND ${ofUser('$6')} AND ${NOT_REFUNDED}
     GROUP BY day ORDER BY day`,
    [accountId, from, until, keyId ?? null, model ?? null, endUser ?? null],
  );
  return rows;
}
