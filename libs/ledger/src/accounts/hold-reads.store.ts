import { Injectable } from '@nestjs/common';
import type { Balances } from '@svc/contracts/money';
import type { BookReads, KeySpent, PostedBalances } from '@svc/hold-book';
import { Database } from '@svc/storage';
import { readAccount } from './accounts.store.js';
import { USAGE_DAYS } from './returned-charges.store.js';

interface SpentRow {
  readonly version: bigint;
  readonly epoch_usd: string;
  readonly epoch_diem: string;
  readonly week_usd: string;
  readonly week_diem: string;
  readonly month_usd: string;
  readonly month_diem: string;
  readonly lifetime_usd: string;
  readonly lifetime_diem: string;
}

const spent = (name: string, where: string): string =>
  ['usd', 'diem']
    .map(
      (currency) => `coalesce(sum(${currency}_nano) FILTER (WHERE ${where}), 0)::text AS ${name}_${currency}`,
    )
    .join(', ');

/** One snapshot, so that the sums belong to the version. */
const KEY_SPENT = `
  WITH spent AS (
    SELECT day, usd_nano, diem_nano FROM ${USAGE_DAYS} WHERE key_id = $2
  )
  SELECT coalesce((SELECT version FROM ledger.accounts WHERE id = $1), 0) AS version,
    ${spent('epoch', 'day = $3::date')},
    ${spent('week', "date_trunc('week', day) = date_trunc('week', $3::date)")},
    ${spent('month', "date_trunc('month', day) = date_trunc('month', $3::date)")},
    coalesce(sum(usd_nano), 0)::text AS lifetime_usd, coalesce(sum(diem_nano), 0)::text AS lifetime_diem
  FROM spent`;

/** The hold book's reads of the books. */
@Injectable()
export class HoldReadsStore implements BookReads {
  constructor(private readonly database: Database) {}

  balances(accountId: string): Promise<PostedBalances> {
    return readAccount(this.database, accountId);
  }

  async keySpent(accountId: string, keyId: string, day: string): Promise<KeySpent> {
    const [row] = await this.database.query<SpentRow>(KEY_SPENT, [accountId, keyId, day]);
    const both = (usd: string | undefined, diem: string | undefined): Balances => ({
      usdNano: BigInt(usd ?? 0),
      diemNano: BigInt(diem ?? 0),
    });
    return {
      version: row?.version ?? 0n,
      day,
      epoch: both(row?.epoch_usd, row?.epoch_diem),
      week: both(row?.week_usd, row?.week_diem),
      month: both(row?.month_usd, row?.month_diem),
      lifetime: both(row?.lifetime_usd, row?.lifetime_diem),
    };
  }
}
