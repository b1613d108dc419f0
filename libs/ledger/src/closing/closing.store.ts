import type { Database } from '@svc/storage';
import { retrying } from '@svc/runtime';
import { DatabaseError, type PoolClient } from 'pg';
import { WHOLE, monthChecksOf } from '../audit/audit-checks.store.js';
import { insertMark, lastMark } from '../audit/audit-marks.store.js';
import { AUDIT_SETTINGS, WHOLE_SETTINGS } from '../audit/audit-query.store.js';
import { ClosingFault } from './closing-fault.js';
import { type Monthly, MONTHLY, type Month } from './month.js';
import {
  differencesOf,
  newRefunds,
  refuseInserts,
  replaceStatements,
  summaryStatements,
} from './month-summary.store.js';

/** Counts and totals of a month's charges. */
export interface MonthTotals {
  readonly rows: Readonly<Record<Monthly, bigint>>;
  readonly usdNano: bigint;
  readonly diemNano: bigint;
  readonly writeOffNano: bigint;
}

/** The SHA-256 of each exported table. */
export type MonthHashes = Readonly<Record<Monthly, Buffer>>;

/** What is kept of a closed month. */
export interface Seal extends MonthTotals {
  readonly hashes: MonthHashes;
}

const LOCK_NOT_AVAILABLE = '55P03';
/** Postings wait meanwhile, so it is short; an audit of the whole books holds its locks for minutes. */
const LOCK_MS = 200;
const LOCK_TRIES = { attempts: 1_800, firstMs: 500, lastMs: 1_000, isRandom: true };
const MOST_MISMATCHES = 5;

const SETTINGS = `${AUDIT_SETTINGS}; ${WHOLE_SETTINGS}; SET LOCAL statement_timeout = 0`;

/** The statements that close a month. Each can be repeated after a crash. */
export class ClosingStore {
  /** The statements of the database may take hours. */
  constructor(private readonly database: Database) {}

  async state(month: Month): Promise<'none' | 'open' | 'closed'> {
    const [row] = await this.database.query<{ closed: boolean; known: boolean }>(
      `SELECT to_regclass($1) IS NOT NULL AS known,
         EXISTS (SELECT FROM ledger.closed_months WHERE month = $2::date) AS closed`,
      [month.table('charges'), month.from.toISOString()],
    );
    return row?.closed ? 'closed' : row?.known ? 'open' : 'none';
  }

  /** From now on the month does not change: charges that arrive later are rejected. */
  async freeze(month: Month): Promise<void> {
    await this.whenFree(async (client) => {
      for (const of of MONTHLY) await client.query(refuseInserts(month.table(of)));
    });
  }

  /** Undoes `freeze`. */
  async thaw(month: Month): Promise<void> {
    await this.whenFree(async (client) => {
      for (const of of MONTHLY) await client.query(`DROP TRIGGER IF EXISTS closed ON ${month.table(of)}`);
    });
  }

  /** Whether audits without findings have covered all entries of the month. */
  async isAudited(month: Month): Promise<boolean> {
    return this.database.transaction(async (client) => {
      const mark = await lastMark(client);
      if (!mark) return false;
      const { rows } = await client.query<{ found: boolean }>(
        `SELECT EXISTS (SELECT FROM ${month.table('charges')} WHERE id > $1)
           OR EXISTS (SELECT FROM ${month.table('transfers')} WHERE id > $2) AS found`,
        [mark.chargeId, mark.transferId],
      );
      return rows[0]?.found === false;
    });
  }

  /** Proves the charges of a frozen month from its own rows. Throws ClosingFault. */
  prove(month: Month): Promise<MonthTotals> {
    return this.database.transaction(async (client) => {
      await client.query(`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; ${SETTINGS}`);
      await check(
        client,
        monthChecks(month, (of) => month.table(of)),
      );
      return totalsOf(client, month);
    });
  }

  /** Builds the tables that replace the month's partitions, and proves them equal. Throws ClosingFault. */
  summarise(month: Month): Promise<Readonly<Record<Monthly, bigint>>> {
    return this.database.transaction(async (client) => {
      await client.query(SETTINGS);
      for (const statement of summaryStatements(month)) await client.query(statement);
      await check(client, [...monthChecks(month, (of) => month.summary(of)), ...differencesOf(month)]);
      return countsOf(client, (of) => month.summary(of));
    });
  }

  /**
   * Replaces the month's partitions by their summary and keeps the seal. Returns false if a charge has been
   * refunded since `summarise`, which is to be repeated then.
   */
  replace(month: Month, seal: Seal, summary: Readonly<Record<Monthly, bigint>>): Promise<boolean> {
    return this.whenFree(async (client) => {
      const tables = MONTHLY.map((of) => `ledger.${of}`).join(', ');
      await client.query(`LOCK TABLE ${tables} IN ACCESS EXCLUSIVE MODE`);
      const { rows } = await client.query<{ refunds: bigint }>(newRefunds(month));
      if (rows[0]?.refunds !== 0n) return false;
      const mark = await lastMark(client);
      if (!mark) throw new ClosingFault('No audit has covered the month.');
      for (const statement of replaceStatements(month)) await client.query(statement);
      // The next audit compares its counts with these.
      await insertMark(client, {
        ...mark,
        number: mark.number + 1n,
        charges: mark.charges - seal.rows.charges + summary.charges,
        transfers: mark.transfers - seal.rows.transfers + summary.transfers,
      });
      await client.query(INSERT_SEAL, sealValues(month, seal));
      return true;
    });
  }

  /** Runs a transaction that locks tables, whenever they are free for an instant. */
  private whenFree<Result>(work: (client: PoolClient) => Promise<Result>): Promise<Result> {
    const once = (): Promise<Result> =>
      this.database.transaction(async (client) => {
        await client.query(`SET LOCAL lock_timeout = ${LOCK_MS}`);
        return work(client);
      });
    const isFinal = (error: unknown): boolean =>
      !(error instanceof DatabaseError && error.code === LOCK_NOT_AVAILABLE);
    return retrying(once, { ...LOCK_TRIES, isFinal });
  }
}

const monthChecks = (month: Month, table: (of: Monthly) => string): string[] =>
  monthChecksOf({
    ...WHOLE,
    charges: table('charges'),
    lines: table('charge_lines'),
    transfers: table('transfers'),
    knownDays: `(SELECT * FROM ledger.usage_days WHERE ${month.hasDay('day')})`,
  });

async function check(client: PoolClient, statements: readonly string[]): Promise<void> {
  for (const statement of statements) {
    const { rows } = await client.query<{ mismatch: string }>(
      `WITH found AS MATERIALIZED (${statement}) SELECT mismatch FROM found LIMIT ${MOST_MISMATCHES}`,
    );
    if (rows.length > 0) throw new ClosingFault(rows.map(({ mismatch }) => mismatch).join('\n'));
  }
}

async function countsOf(
  client: PoolClient,
  table: (of: Monthly) => string,
): Promise<Readonly<Record<Monthly, bigint>>> {
  const counts = MONTHLY.map((of) => `(SELECT count(*) FROM ${table(of)}) AS ${of}`).join(', ');
  const { rows } = await client.query<Record<Monthly, bigint>>(`SELECT ${counts}`);
  return rows[0] ?? { charges: 0n, charge_lines: 0n, transfers: 0n };
}

async function totalsOf(client: PoolClient, month: Month): Promise<MonthTotals> {
  const { rows } = await client.query<{ usd: string; diem: string; write_off: string }>(
    `SELECT coalesce(sum(usd_nano), 0) AS usd, coalesce(sum(diem_nano), 0) AS diem,
       coalesce(sum(write_off_nano), 0) AS write_off
     FROM ${month.table('charges')}`,
  );
  const { usd, diem, write_off: writeOff } = rows[0] ?? { usd: '0', diem: '0', write_off: '0' };
  return {
    rows: await countsOf(client, (of) => month.table(of)),
    usdNano: BigInt(usd),
    diemNano: BigInt(diem),
    writeOffNano: BigInt(writeOff),
  };
}

const INSERT_SEAL = `
  INSERT INTO ledger.closed_months (month, closed_at, charges, charge_lines, transfers, usd_nano, diem_nano,
    write_off_nano, charges_sha256, charge_lines_sha256, transfers_sha256)
  VALUES ($1::date, now(), $2, $3, $4, $5, $6, $7, $8, $9, $10)`;

const sealValues = (month: Month, { rows, hashes, ...totals }: Seal): unknown[] => [
  month.from.toISOString(),
  ...MONTHLY.map((of) => rows[of]),
  totals.usdNano,
  totals.diemNano,
  totals.writeOffNano,
  ...MONTHLY.map((of) => hashes[of]),
];
