import { Injectable } from '@nestjs/common';
import type { Balances } from '@svc/contracts/money';
import { isEndUser } from '@svc/contracts/ports';
import type { BookReads, KeySpent, PostedBalances } from '@svc/hold-book';
import { Database } from '@svc/storage';
import { readAccount } from './accounts.store.js';
import { USAGE_DAYS, USER_DAYS, spentSums } from './returned-charges.store.js';

interface SpentRow {
  readonly version: bigint;
  readonly epoch_usd: bigint;
  readonly epoch_diem: bigint;
  readonly week_usd: bigint;
  readonly week_diem: bigint;
  readonly month_usd: bigint;
  readonly month_diem: bigint;
  readonly lifetime_usd: bigint;
  readonly lifetime_diem: bigint;
}

/** One snapshot, so that the sums belong to the version. */
const sumsOf = (rows: string): string => `
  WITH spent AS (SELECT day, usd_nano, diem_nano FROM ${rows} = $2)
  SELECT coalesce((SELECT version FROM ledger.accounts WHERE id = $1), 0) AS version,
    ${spentSums('epoch', 'day = $3::date')},
    ${spentSums('week', "date_trunc('week', day) = date_trunc('week', $3::date)")},
    ${spentSums('month', "date_trunc('month', day) = date_trunc('month', $3::date)")},
    ${spentSums('lifetime', 'true')}
  FROM spent`;

const KEY_SPENT = sumsOf(`${USAGE_DAYS} WHERE key_id`);
const USER_SPENT = sumsOf(`${USER_DAYS} WHERE end_user`);

/** The hold book's reads of the books. */
@Injectable()
export class HoldReadsStore implements BookReads {
  constructor(private readonly database: Database) {}

  balances(accountId: string): Promise<PostedBalances> {
    return readAccount(this.database, accountId);
  }

  async spentOf(accountId: string, id: string, day: string): Promise<KeySpent> {
    const sql = isEndUser(id) ? USER_SPENT : KEY_SPENT;
    const [row] = await this.database.query<SpentRow>(sql, [accountId, id, day]);
    const both = (usd: bigint | undefined, diem: bigint | undefined): Balances => ({
      usdNano: usd ?? 0n,
      diemNano: diem ?? 0n,
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
