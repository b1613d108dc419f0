import { Injectable } from '@nestjs/common';
import { type AccountBalances, NO_MONEY, type Spender } from '@svc/contracts';
import { Database } from '@svc/storage';
import { SnapshotStore } from '../usage/snapshot.store.js';

/** Days such as `2026-11-21`, both included. */
export interface SpendingPeriod {
  readonly from: string;
  readonly until: string;
  readonly limit: number;
}

interface BalancesRow {
  readonly id: string;
  readonly usd_nano: bigint;
  readonly diem_nano: bigint;
}

interface SpenderRow {
  readonly account_id: string;
  readonly tokens: bigint;
  readonly usd_nano: bigint;
  readonly diem_nano: bigint;
  readonly refunded_usd_nano: bigint;
  readonly refunded_diem_nano: bigint;
}

/** The balances of many accounts, and who spends most. */
@Injectable()
export class SpendersStore {
  constructor(
    private readonly database: Database,
    private readonly snapshots: SnapshotStore,
  ) {}

  /** In the order of the ids; zero for an account without transfers. */
  async balances(accountIds: readonly string[]): Promise<AccountBalances[]> {
    const rows = await this.database.query<BalancesRow>(
      'SELECT id, usd_nano, diem_nano FROM ledger.accounts WHERE id = ANY($1::uuid[])',
      [accountIds],
    );
    const known = new Map(
      rows.map(({ id, usd_nano: usdNano, diem_nano: diemNano }) => [id, { usdNano, diemNano }]),
    );
    return accountIds.map((accountId) => ({ accountId, ...(known.get(accountId) ?? NO_MONEY) }));
  }

  /** Those who spent most, highest first. */
  async spenders({ from, until, limit }: SpendingPeriod): Promise<Spender[]> {
    const { rows } = await this.snapshots.read((client) =>
      client.query<SpenderRow>(SPENDERS, [from, until, limit]),
    );
    return rows.map((row) => ({
      accountId: row.account_id,
      tokens: row.tokens,
      charged: { usdNano: row.usd_nano, diemNano: row.diem_nano },
      refunded: { usdNano: row.refunded_usd_nano, diemNano: row.refunded_diem_nano },
    }));
  }
}

/** Lines of earlier releases have no unit; their SKU ends with it. */
const SPENDERS = `
  WITH spent AS (
    SELECT account_id, sum(usd_nano) AS usd_nano, sum(diem_nano) AS diem_nano,
      sum(units) FILTER (WHERE unit = 'token' OR (unit IS NULL AND sku LIKE '%-mtoken')) AS tokens
    FROM ledger.usage_days WHERE day BETWEEN $1::date AND $2::date GROUP BY account_id
  ), refunded AS (
    SELECT account_id, sum(usd_nano) AS refunded_usd_nano, sum(diem_nano) AS refunded_diem_nano
    FROM ledger.refunds
    WHERE at >= $1::date::timestamp AT TIME ZONE 'UTC' AND at < ($2::date + 1)::timestamp AT TIME ZONE 'UTC'
    GROUP BY account_id
  )
  SELECT account_id, coalesce(tokens, 0)::bigint AS tokens, coalesce(usd_nano, 0)::bigint AS usd_nano,
    coalesce(diem_nano, 0)::bigint AS diem_nano, coalesce(refunded_usd_nano, 0)::bigint AS refunded_usd_nano,
    coalesce(refunded_diem_nano, 0)::bigint AS refunded_diem_nano
  FROM spent LEFT JOIN refunded USING (account_id)
  ORDER BY usd_nano + diem_nano - coalesce(refunded_usd_nano + refunded_diem_nano, 0) DESC, account_id
  LIMIT $3`;
