import { Injectable } from '@nestjs/common';
import type { AccountBalances, Spender, SpendingPeriod } from '@svc/contracts/accounting';
import { NO_MONEY } from '@svc/contracts/money';
import { Problem } from '@svc/contracts/problems';
import { Database } from '@svc/storage';
import { SnapshotStore } from '../usage/snapshot.store.js';

interface BalancesRow {
  readonly id: string;
  readonly usd_nano: bigint;
  readonly diem_nano: bigint;
}

interface RequestsRow {
  readonly account_id: string;
  readonly requests: bigint;
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

  /** Those with the most, highest first; or these accounts in their order. */
  async spenders(period: SpendingPeriod): Promise<Spender[]> {
    const most = period.by === 'requests' ? await this.requests(period) : undefined;
    const spent = await this.spent(most ? { ...period, accountIds: [...most.keys()] } : period);
    const accountIds = period.accountIds ?? [...(most ?? spent).keys()];
    const requests = most ?? (await this.requests({ ...period, accountIds }).catch(unlessLate));
    return accountIds.map((accountId) => spenderOf(accountId, spent, requests));
  }

  private async spent({
    from,
    until,
    limit,
    by,
    accountIds,
  }: SpendingPeriod): Promise<ReadonlyMap<string, SpenderRow>> {
    const { rows } = await this.snapshots.read((client) =>
      client.query<SpenderRow>(by === 'tokens' ? MOST_TOKENS : MOST_COST, [
        from,
        until,
        accountIds?.length ?? limit,
        accountIds ?? null,
      ]),
    );
    return new Map(rows.map((row) => [row.account_id, row]));
  }

  /** The number of charged requests, highest first. */
  private async requests({
    from,
    until,
    limit,
    accountIds,
  }: SpendingPeriod): Promise<ReadonlyMap<string, bigint>> {
    const { rows } = await this.snapshots.read((client) =>
      client.query<RequestsRow>(REQUESTS, [from, until, accountIds?.length ?? limit, accountIds ?? null]),
    );
    return new Map(rows.map(({ account_id: accountId, requests }) => [accountId, requests]));
  }
}

/** Counting reads every charge, where the sums of days are enough for the rest. */
function unlessLate(error: unknown): undefined {
  if (error instanceof Problem && error.code === 'REQUEST_TIMEOUT') return;
  throw error;
}

function spenderOf(
  accountId: string,
  spent: ReadonlyMap<string, SpenderRow>,
  requests: ReadonlyMap<string, bigint> | undefined,
): Spender {
  const row = spent.get(accountId);
  return {
    accountId,
    ...(requests && { requests: requests.get(accountId) ?? 0n }),
    tokens: row?.tokens ?? 0n,
    charged: row ? { usdNano: row.usd_nano, diemNano: row.diem_nano } : NO_MONEY,
    refunded: row ? { usdNano: row.refunded_usd_nano, diemNano: row.refunded_diem_nano } : NO_MONEY,
  };
}

const WITHIN = `at >= $1::date::timestamp AT TIME ZONE 'UTC' AND at < ($2::date + 1)::timestamp AT TIME ZONE 'UTC'`;
const OF_ACCOUNTS = '($4::uuid[] IS NULL OR account_id = ANY($4::uuid[]))';

const REQUESTS = `
  SELECT account_id, count(*) AS requests FROM ledger.charges WHERE ${WITHIN} AND ${OF_ACCOUNTS}
  GROUP BY account_id ORDER BY requests DESC, account_id LIMIT $3`;

/** Lines of earlier releases have no unit; their SKU ends with it. */
const spendersBy = (order: string): string => `
  WITH spent AS (
    SELECT account_id, sum(usd_nano) AS usd_nano, sum(diem_nano) AS diem_nano,
      sum(units) FILTER (WHERE unit = 'token' OR (unit IS NULL AND sku LIKE '%-mtoken')) AS tokens
    FROM ledger.usage_days WHERE day BETWEEN $1::date AND $2::date AND ${OF_ACCOUNTS} GROUP BY account_id
  ), refunded AS (
    SELECT account_id, sum(usd_nano) AS refunded_usd_nano, sum(diem_nano) AS refunded_diem_nano
    FROM ledger.refunds
    WHERE ${WITHIN}
    GROUP BY account_id
  )
  SELECT account_id, coalesce(tokens, 0)::bigint AS tokens, coalesce(usd_nano, 0)::bigint AS usd_nano,
    coalesce(diem_nano, 0)::bigint AS diem_nano, coalesce(refunded_usd_nano, 0)::bigint AS refunded_usd_nano,
    coalesce(refunded_diem_nano, 0)::bigint AS refunded_diem_nano
  FROM spent LEFT JOIN refunded USING (account_id)
  ORDER BY ${order} DESC, account_id
  LIMIT $3`;

const MOST_COST = spendersBy('usd_nano + diem_nano - coalesce(refunded_usd_nano + refunded_diem_nano, 0)');
const MOST_TOKENS = spendersBy('tokens');
