import { Injectable } from '@nestjs/common';
import { type KeySpend, type UsageDay, weekOf } from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import { type Balances, NO_MONEY, unitOf } from '@svc/contracts/money';
import { NOT_REFUNDED, USAGE_DAYS, spentSums } from '../accounts/returned-charges.store.js';
import { Clock, utcDay } from '../clock.js';
import { SnapshotStore } from './snapshot.store.js';

/** Maximum number of sums in one response. */
const MOST_SUMS = 100_000;
const DAY_MS = 86_400_000;

interface DayRow {
  readonly day: string;
  readonly key_id: string;
  readonly model: string;
  readonly sku: string;
  readonly unit: string | null;
  readonly units: bigint;
  readonly usd_nano: bigint;
  readonly diem_nano: bigint;
}

type SpendRow = { readonly key_id: string } & Readonly<
  Record<`${'recent' | 'hour' | 'epoch' | 'week' | 'month' | 'lifetime'}_${'usd' | 'diem'}`, bigint>
>;

/** The daily sums. */
@Injectable()
export class UsageDaysStore {
  constructor(
    private readonly snapshots: SnapshotStore,
    private readonly clock: Clock,
  ) {}

  async days(accountId: string, from: string, until: string): Promise<UsageDay[]> {
    const { rows } = await this.snapshots.read((client) =>
      client.query<DayRow>(
        `SELECT to_char(day, 'YYYY-MM-DD') AS day, key_id, model, sku, max(unit) AS unit,
           sum(units)::bigint AS units, sum(usd_nano)::bigint AS usd_nano, sum(diem_nano)::bigint AS diem_nano
         FROM ${USAGE_DAYS} WHERE day BETWEEN $2::date AND $3::date
         GROUP BY usage_day.day, key_id, model, sku HAVING sum(usd_entries + diem_entries) > 0
         ORDER BY usage_day.day, key_id, model, sku LIMIT $4`,
        [accountId, from, until, MOST_SUMS + 1],
      ),
    );
    if (rows.length > MOST_SUMS)
      throw new Problem('INVALID_REQUEST', {
        message: 'These days have too much usage for one response. Request fewer days.',
      });
    return rows.map(({ key_id: keyId, usd_nano: usdNano, diem_nano: diemNano, ...rest }) => ({
      ...rest,
      unit: unitOf(rest),
      keyId,
      usdNano,
      diemNano,
    }));
  }

  async keys(
    accountId: string,
    keyIds: readonly string[],
    hourlyIds: readonly string[],
  ): Promise<KeySpend[]> {
    const now = this.clock.now();
    const today = utcDay(now);
    const { rows } = await this.snapshots.read((client) =>
      client.query<SpendRow>(KEYS, [
        accountId,
        keyIds,
        utcDay(new Date(now.getTime() - 6 * DAY_MS)),
        today,
        `${today.slice(0, 7)}-01`,
        weekOf(today),
        hourlyIds,
        `${now.toISOString().slice(0, 13)}:00:00Z`,
      ]),
    );
    const byKey = new Map(rows.map((row) => [row.key_id, row]));
    return keyIds.map((keyId) => ({
      ...keySpend(keyId, byKey.get(keyId)),
      ...(hourlyIds.includes(keyId) && { hour: hourOf(byKey.get(keyId)) }),
    }));
  }
}

/** The charges of an hour are read only if one of the keys is to have them. */
const KEYS = `WITH hour AS (
    SELECT key_id, sum(usd_nano)::bigint AS usd, sum(diem_nano)::bigint AS diem FROM ledger.charges AS charge
    WHERE account_id = $1 AND key_id = ANY($7::text[]) AND cardinality($7::text[]) > 0
      AND at >= $8::timestamptz AND at < $8::timestamptz + interval '1 hour' AND ${NOT_REFUNDED} GROUP BY key_id
  )
  SELECT key_id, coalesce((SELECT usd FROM hour WHERE hour.key_id = usage_day.key_id), 0) AS hour_usd,
    coalesce((SELECT diem FROM hour WHERE hour.key_id = usage_day.key_id), 0) AS hour_diem, ${spentSums('recent', 'day BETWEEN $3::date AND $4::date')}, ${spentSums('epoch', 'day = $4::date')},
    ${spentSums('week', 'day BETWEEN $6::date AND $4::date')}, ${spentSums('month', 'day BETWEEN $5::date AND $4::date')},
    ${spentSums('lifetime', 'true')}
  FROM ${USAGE_DAYS} WHERE key_id = ANY($2::text[]) GROUP BY key_id`;

const hourOf = (row: SpendRow | undefined): Balances =>
  row ? { usdNano: row.hour_usd, diemNano: row.hour_diem } : NO_MONEY;

function keySpend(keyId: string, row: SpendRow | undefined): KeySpend {
  if (!row) {
    const none = NO_MONEY;
    return { keyId, trailingSevenDays: none, epoch: none, week: none, month: none, lifetime: none };
  }
  return {
    keyId,
    trailingSevenDays: { usdNano: row.recent_usd, diemNano: row.recent_diem },
    epoch: { usdNano: row.epoch_usd, diemNano: row.epoch_diem },
    week: { usdNano: row.week_usd, diemNano: row.week_diem },
    month: { usdNano: row.month_usd, diemNano: row.month_diem },
    lifetime: { usdNano: row.lifetime_usd, diemNano: row.lifetime_diem },
  };
}
