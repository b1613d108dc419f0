import { Injectable } from '@nestjs/common';
import {
  type AccountingEntry,
  type MonthEntry,
  STATEMENT_ENTRIES,
  type StatementEntry,
} from '@svc/contracts/accounting';
import type { Currency } from '@svc/contracts/money';
import { Problem } from '@svc/contracts/problems';
import type { TransferKind } from '@svc/contracts/ports';
import { Database } from '@svc/storage';
import type { PoolClient } from 'pg';
import { customerAccount } from '../accounts/accounts.js';
import { KEEP_MONTHS } from '../accounts/months.store.js';
import { NEVER_CHARGED } from '../accounts/returned-charges.store.js';
import { AUDIT_SETTINGS, longQuery } from '../audit/audit-query.store.js';
import { SnapshotStore } from '../usage/snapshot.store.js';

/** By what factor a transfer of each kind changes its customer's balance. */
const EFFECTS: Readonly<Record<TransferKind, -1n | 0n | 1n>> = {
  credit: 1n,
  deposit: 1n,
  refund: 1n,
  grant: 1n,
  debt: 1n,
  charge: -1n,
  expiry: -1n,
  reversal: -1n,
  repayment: -1n,
  debit: -1n,
  credit_reversal: -1n,
  write_off: 0n,
};

const CURRENCIES: readonly Currency[] = ['USD', 'DIEM'];

/** Sums of a month, and statements of accounts. */
@Injectable()
export class StatementsStore {
  private isReading = false;

  constructor(
    private readonly database: Database,
    private readonly snapshots: SnapshotStore,
  ) {}

  /** Rejects: UNAVAILABLE while another month is read. */
  async month(month: string): Promise<MonthEntry[]> {
    if (this.isReading)
      throw new Problem('UNAVAILABLE', { message: 'Another month is being read. Please try again.' });
    this.isReading = true;
    try {
      return await this.database.transaction(async (client) => {
        await client.query(`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY; ${KEEP_MONTHS}`);
        await client.query(AUDIT_SETTINGS);
        return sumsOf(client, spanOf(month));
      });
    } finally {
      this.isReading = false;
    }
  }

  /** Rejects: INVALID_REQUEST beyond `STATEMENT_ENTRIES`; UNAVAILABLE; REQUEST_TIMEOUT. */
  statement(accountId: string, month: string): Promise<StatementEntry[]> {
    return this.snapshots.read((client) => statementOf(client, accountId, spanOf(month)));
  }
}

/** As SQL literals. */
interface Span {
  readonly from: Date;
  readonly until: Date;
  /** SQL: whether `at` is in it. */
  readonly within: string;
}

function spanOf(month: string): Span {
  const [year = 0, number = 1] = month.split('-').map(Number);
  const [from, until] = [new Date(Date.UTC(year, number - 1)), new Date(Date.UTC(year, number))];
  return { from, until, within: `at >= '${from.toISOString()}' AND at < '${until.toISOString()}'` };
}

interface SumRow {
  readonly kind: TransferKind;
  readonly detail: string;
  readonly currency: Currency;
  readonly nano: string;
}

/** SQL: what a transfer's sum is divided by. */
const DETAIL = `CASE
  WHEN kind IN ('credit', 'deposit') THEN debit_account
  WHEN kind IN ('reversal', 'debit', 'credit_reversal') THEN credit_account
  WHEN kind = 'refund' AND starts_with(reference, '${NEVER_CHARGED}') THEN 'failed_request'
  WHEN kind = 'refund' THEN 'operator'
  ELSE '' END`;

/** SQL: the rows of charges as sums by model, in both currencies and written off. */
const chargeSums = (charges: string): string => `
  SELECT part.kind, model AS detail, part.currency, sum(part.nano)::text AS nano
  FROM ${charges} AS charge, LATERAL (VALUES ('charge', 'USD', charge.usd_nano),
    ('charge', 'DIEM', charge.diem_nano), ('write_off', 'USD', charge.write_off_nano)) AS part (kind, currency, nano)
  WHERE part.nano > 0 GROUP BY part.kind, model, part.currency`;

async function sumsOf(client: PoolClient, span: Span): Promise<MonthEntry[]> {
  const balances = await balancesAt(client, span, "LIKE 'customer:%'");
  const charges = await longQuery<SumRow>(
    client,
    `${chargeSums(`(SELECT * FROM ledger.charges WHERE ${span.within})`)} ORDER BY 1, 3 DESC, 2`,
  );
  const others = await longQuery<SumRow>(
    client,
    `SELECT kind, ${DETAIL} AS detail, currency, sum(amount_nano)::text AS nano FROM ledger.transfers
     WHERE ${span.within} AND kind NOT IN ('charge', 'write_off') GROUP BY 1, 2, 3 ORDER BY 1, 3 DESC, 2`,
  );
  return [
    ...balances.opening.map((balance) => ({ entry: 'opening_balance' as const, ...balance })),
    ...[...others, ...charges].map(entryOf),
    ...(await marginsOf(client, span)),
    ...balances.closing.map((balance) => ({ entry: 'closing_balance' as const, ...balance })),
  ];
}

interface MarginRow {
  readonly model: string;
  readonly cost: string;
  readonly margin: string;
}

/** By model, of the lines whose cost at a provider is known. */
async function marginsOf(client: PoolClient, span: Span): Promise<MonthEntry[]> {
  const rows = await longQuery<MarginRow>(
    client,
    `SELECT model, sum(provider_nano)::text AS cost,
       sum(line.usd_nano + line.diem_nano - provider_nano)::text AS margin
     FROM (SELECT * FROM ledger.charges WHERE ${span.within}) AS charge
     JOIN (SELECT * FROM ledger.charge_lines WHERE ${span.within} AND provider_nano IS NOT NULL) AS line
       USING (request_id, at) GROUP BY 1 ORDER BY 1`,
  );
  const entries = (entry: MonthEntry['entry'], nano: (row: MarginRow) => string): MonthEntry[] =>
    rows.map((row) => ({
      entry,
      detail: row.model,
      currency: 'USD',
      amountNano: BigInt(nano(row)),
      changeNano: 0n,
    }));
  return [...entries('provider_cost', ({ cost }) => cost), ...entries('margin', ({ margin }) => margin)];
}

const entryOf = ({ kind: entry, detail, currency, nano }: SumRow): AccountingEntry => ({
  entry,
  detail,
  currency,
  amountNano: BigInt(nano),
  changeNano: EFFECTS[entry] * BigInt(nano),
});

type Balance = Omit<AccountingEntry, 'entry'>;

interface BalancesRow {
  readonly currency: Currency;
  readonly now: string;
  readonly in_span: string;
  readonly later: string;
}

/**
 * The balances of the customers whose accounts match, at both ends of a month: today's less what was moved
 * since. So earlier months need not be read.
 */
async function balancesAt(client: PoolClient, { from, until }: Span, accounts: string) {
  const end = `'${until.toISOString()}'`;
  const rows = await longQuery<BalancesRow>(
    client,
    `WITH moved AS (
       SELECT currency, at >= ${end} AS is_later,
         sum(CASE WHEN credit_account ${accounts} THEN amount_nano ELSE 0 END
           - CASE WHEN debit_account ${accounts} THEN amount_nano ELSE 0 END) AS nano
       FROM ledger.transfers WHERE at >= '${from.toISOString()}' AND (debit_account ${accounts} OR credit_account ${accounts})
       GROUP BY 1, 2
     ), balance AS (
       SELECT sum(usd_nano) AS usd_nano, sum(diem_nano) AS diem_nano FROM ledger.accounts
       WHERE 'customer:' || id ${accounts}
     )
     SELECT currency, coalesce(CASE currency WHEN 'USD' THEN usd_nano ELSE diem_nano END, 0)::text AS now,
       coalesce((SELECT sum(nano) FROM moved WHERE moved.currency = each.currency AND NOT is_later), 0)::text AS in_span,
       coalesce((SELECT sum(nano) FROM moved WHERE moved.currency = each.currency AND is_later), 0)::text AS later
     FROM unnest(ARRAY['USD', 'DIEM']) AS each (currency), balance`,
  );
  const at = (before: (row: BalancesRow) => bigint): Balance[] =>
    CURRENCIES.map((currency) => {
      const row = rows.find((each) => each.currency === currency);
      const amountNano = row ? BigInt(row.now) - before(row) : 0n;
      return { detail: 'customers', currency, amountNano, changeNano: 0n };
    });
  return {
    opening: at(({ in_span, later }) => BigInt(in_span) + BigInt(later)),
    closing: at(({ later }) => BigInt(later)),
  };
}

interface TransferRow extends SumRow {
  readonly at: Date;
  readonly reference: string;
}

async function statementOf(client: PoolClient, accountId: string, span: Span): Promise<StatementEntry[]> {
  const balances = await balancesAt(client, span, `= '${customerAccount(accountId)}'`);
  const { rows } = await client.query<TransferRow>(
    `SELECT at, kind, ${DETAIL} AS detail, reference, currency, amount_nano::text AS nano FROM ledger.transfers
     WHERE account_id = $1 AND ${span.within} AND kind NOT IN ('charge', 'write_off') ORDER BY id LIMIT $2`,
    [accountId, STATEMENT_ENTRIES + 1],
  );
  if (rows.length > STATEMENT_ENTRIES)
    throw new Problem('INVALID_REQUEST', {
      param: 'month',
      message: `The account has more than ${STATEMENT_ENTRIES} transfers in this month. List its transfers instead.`,
    });
  const charges = await client.query<TransferRow>(
    `SELECT day AS at, kind, detail, '' AS reference, currency, nano FROM (
       SELECT DISTINCT date_trunc('day', at, 'UTC') AS day FROM ledger.charges WHERE account_id = $1 AND ${span.within}
     ) AS days, LATERAL (${chargeSums(
       `(SELECT * FROM ledger.charges WHERE account_id = $1 AND at >= day AND at < day + INTERVAL '1 day')`,
     )}) AS sums`,
    [accountId],
  );
  const entries = [...rows, ...charges.rows]
    .map((row) => ({ ...entryOf(row), at: row.at, reference: row.reference }))
    .toSorted((a, b) => a.at.getTime() - b.at.getTime());
  const balance = (entry: 'opening_balance' | 'closing_balance', at: Date, list: readonly Balance[]) =>
    list.map((each): StatementEntry => ({ entry, ...each, detail: '', at, reference: '' }));
  return [
    ...balance('opening_balance', span.from, balances.opening),
    ...entries,
    ...balance('closing_balance', span.until, balances.closing),
  ];
}
