import { Injectable } from '@nestjs/common';
import type { Balances } from '@svc/contracts/money';
import { isEndUser } from '@svc/contracts/ports';
import type { BookReads, BudgetOwner, KeySpent, PostedBalances } from '@svc/hold-book';
import { Database } from '@svc/storage';
import { readAccount } from './accounts.store.js';
import { NOT_REFUNDED, USAGE_DAYS, USER_DAYS, spentSums } from './returned-charges.store.js';

interface SpentRow {
  readonly version: bigint;
  readonly hour_usd: bigint;
  readonly hour_diem: bigint;
  readonly epoch_usd: bigint;
  readonly epoch_diem: bigint;
  readonly week_usd: bigint;
  readonly week_diem: bigint;
  readonly month_usd: bigint;
  readonly month_diem: bigint;
  readonly lifetime_usd: bigint;
  readonly lifetime_diem: bigint;
}

interface SpenderRows {
  /** The sums by day. */
  readonly days: string;
  /** The charges. */
  readonly charges: string;
}

/** One snapshot, so that the sums belong to the version. The hour is read only if `$4` is true. */
const sumsOf = ({ days, charges }: SpenderRows): string => `
  WITH spent AS (SELECT day, usd_nano, diem_nano FROM ${days} = $2),
  hour AS (
    SELECT coalesce(sum(charge.usd_nano), 0)::bigint AS usd, coalesce(sum(charge.diem_nano), 0)::bigint AS diem
    FROM ${charges} = $2 AND $4 AND charge.account_id = $1 AND ${NOT_REFUNDED}
      AND charge.at >= $3::timestamptz AND charge.at < $3::timestamptz + interval '1 hour'
  )
  SELECT coalesce((SELECT version FROM ledger.accounts WHERE id = $1), 0) AS version,
    (SELECT usd FROM hour) AS hour_usd, (SELECT diem FROM hour) AS hour_diem,
    ${spentSums('epoch', 'day = $5::date')},
    ${spentSums('week', "date_trunc('week', day) = date_trunc('week', $5::date)")},
    ${spentSums('month', "date_trunc('month', day) = date_trunc('month', $5::date)")},
    ${spentSums('lifetime', 'true')}
  FROM spent`;

const KEY_SPENT = sumsOf({
  days: `${USAGE_DAYS} WHERE key_id`,
  charges: 'ledger.charges AS charge WHERE key_id',
});
const USER_SPENT = sumsOf({
  days: `${USER_DAYS} WHERE end_user`,
  charges: `ledger.charges AS charge JOIN ledger.charge_users AS whose
      ON whose.request_id = charge.request_id AND whose.at = charge.at AND whose.account_id = $1
      AND whose.at >= $3::timestamptz AND whose.at < $3::timestamptz + interval '1 hour' WHERE end_user`,
});

/** The hold book's reads of the books. */
@Injectable()
export class HoldReadsStore implements BookReads {
  constructor(private readonly database: Database) {}

  balances(accountId: string): Promise<PostedBalances> {
    return readAccount(this.database, accountId);
  }

  async spentOf(accountId: string, { id, isHourly }: BudgetOwner, hour: string): Promise<KeySpent> {
    const sql = isEndUser(id) ? USER_SPENT : KEY_SPENT;
    const values = [accountId, id, `${hour}:00:00Z`, isHourly, hour.slice(0, 10)];
    const [row] = await this.database.query<SpentRow>(sql, values);
    const both = (usd: bigint | undefined, diem: bigint | undefined): Balances => ({
      usdNano: usd ?? 0n,
      diemNano: diem ?? 0n,
    });
    return {
      version: row?.version ?? 0n,
      readIn: hour,
      ...(isHourly && { hour: both(row?.hour_usd, row?.hour_diem) }),
      epoch: both(row?.epoch_usd, row?.epoch_diem),
      week: both(row?.week_usd, row?.week_diem),
      month: both(row?.month_usd, row?.month_diem),
      lifetime: both(row?.lifetime_usd, row?.lifetime_diem),
    };
  }
}
