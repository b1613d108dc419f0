import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { OPERATOR, accountEvent, newAccountEvent } from '@svc/contracts/messages';
import type { AuditReport, AuditScope } from '@svc/contracts/ports';
import { addToOutbox } from '@svc/events';
import { Database } from '@svc/storage';
import { DatabaseError, type PoolClient } from 'pg';
import { BOOKS_LOCK } from '../accounts/accounts.store.js';
import { KEEP_MONTHS } from '../accounts/months.store.js';
import { type AuditedRows, WHOLE, checksOf, rowsSince } from './audit-checks.store.js';
import { type AuditMark, NO_MARK, keepMark, lastMark } from './audit-marks.store.js';
import { AUDIT_SETTINGS, WHOLE_SETTINGS, longQuery } from './audit-query.store.js';

/** Most mismatches listed. One is enough to make the books wrong. */
const MAX_MISMATCHES = 100;
/**
 * How long each attempt waits for open transactions to end. New postings wait meanwhile, so the audit yields
 * between attempts.
 */
const LOCK_TRIES_MS = [50, 100, 200, 400, 800];
const GIVE_WAY_MS = 200;

const BEGIN_READING = `BEGIN ISOLATION LEVEL REPEATABLE READ; ${KEEP_MONTHS}`;

const LOCK_NOT_AVAILABLE = '55P03';
/** Another audit has stored a mark in the meantime. */
const OVERTAKEN = new Set(['23505', '40001', '40P01']);

/** Proves the books. */
@Injectable()
export class AuditStore {
  constructor(private readonly database: Database) {}

  /**
   * Proves the whole book at one moment, or what was added since the last clean audit. The first audit covers
   * the whole book. A clean audit stores a mark, from which the next one starts, unless long transactions
   * left no moment without a writer.
   */
  async audit(scope: AuditScope): Promise<AuditReport> {
    const { client, isMark } = await this.begin();
    let isClean = false;
    try {
      const audited = await auditBooks(client, scope);
      await end(client, audited, isMark);
      isClean = true;
      if (!audited.report.ok) await this.notify(scope, audited.report);
      return audited.report;
    } finally {
      // Closing the connection makes the server end its transaction.
      client.release(!isClean);
    }
  }

  /** Each time the books are wrong. */
  private notify(scope: AuditScope, { mismatches }: AuditReport): Promise<void> {
    const data = { scope, mismatches: mismatches.length, first: mismatches[0] ?? null };
    const event = newAccountEvent(OPERATOR, 'ledger.audit_failed', data);
    return addToOutbox((sql, values) => this.database.query(sql, [...values]), accountEvent, event);
  }

  /**
   * Begins a transaction, if possible at a moment without a writer: no id lower than those it sees can appear
   * later. `isMark` is whether that worked.
   */
  private async begin(): Promise<{ client: PoolClient; isMark: boolean }> {
    for (const waitMs of LOCK_TRIES_MS)
      try {
        // One message, so that the lock is held no longer than the server needs.
        const client = await this.clientAfter(`
          BEGIN; SET LOCAL lock_timeout = ${waitMs}; SELECT pg_advisory_lock(${BOOKS_LOCK}); COMMIT;
          ${BEGIN_READING}; SELECT pg_advisory_unlock(${BOOKS_LOCK})`);
        return { client, isMark: true };
      } catch (error) {
        if (!(error instanceof DatabaseError && error.code === LOCK_NOT_AVAILABLE)) throw error;
        await sleep(GIVE_WAY_MS);
      }
    return { client: await this.clientAfter(BEGIN_READING), isMark: false };
  }

  /**
   * Returns a connection that has run `statements`, or closes it on failure: PostgreSQL may report a lock
   * timeout and still grant the lock, which is then freed only when the session ends.
   */
  private async clientAfter(statements: string): Promise<PoolClient> {
    const client = await this.database.pool.connect();
    try {
      await client.query(statements);
      return client;
    } catch (error) {
      client.release(true);
      throw error;
    }
  }
}

/** Stores the mark of a clean audit, if it can have one and no other audit was quicker. */
async function end(client: PoolClient, { report, mark, rows }: Audited, isMark: boolean): Promise<void> {
  if (!report.ok || !isMark) {
    await client.query('ROLLBACK');
    return;
  }
  try {
    await keepMark(client, mark, rows);
    await client.query('COMMIT');
  } catch (error) {
    if (!(error instanceof DatabaseError && OVERTAKEN.has(error.code ?? ''))) throw error;
    await client.query('ROLLBACK');
  }
}

export interface Audited {
  readonly report: AuditReport;
  /** Where the audit ended; stored if it found nothing. */
  readonly mark: AuditMark;
  /** What the audit covered. */
  readonly rows: AuditedRows;
}

/** Proves the books as the transaction of `client` sees them. Its isolation level is repeatable read. */
export async function auditBooks(client: PoolClient, scope: AuditScope): Promise<Audited> {
  await client.query(AUDIT_SETTINGS);
  const last = await lastMark(client);
  const since = scope === 'new' ? last : undefined;
  const rows = since ? rowsSince(since) : WHOLE;
  if (!since) await client.query(WHOLE_SETTINGS);
  const totals = await totalsOf(client, { rows, from: since ?? NO_MARK, last: last ?? NO_MARK });
  const mismatches = [...totals.mismatches];
  for (const check of checksOf(rows)) {
    const found = await longQuery<{ mismatch: string }>(client, fewOf(check));
    for (const { mismatch } of found) mismatches.push(mismatch);
  }
  const { mark, imbalanceUsdNano, imbalanceDiemNano } = totals;
  return {
    mark,
    rows,
    report: {
      ok: mismatches.length === 0 && imbalanceUsdNano === 0n && imbalanceDiemNano === 0n,
      scope: mark.scope,
      ...(since && { since: since.at }),
      accounts: totals.accounts,
      transfers: totals.transfers,
      charges: totals.charges,
      imbalanceUsdNano,
      imbalanceDiemNano,
      mismatches: bounded(mismatches),
    },
  };
}

/**
 * With a plain LIMIT, PostgreSQL would choose a plan for finding the first few rows, although there are
 * usually none.
 */
const fewOf = (check: string): string =>
  `WITH found AS MATERIALIZED (${check}) SELECT mismatch FROM found LIMIT ${MAX_MISMATCHES + 1}`;

interface TotalsRow {
  readonly at: Date;
  readonly accounts: bigint;
  readonly customers_usd: string;
  readonly customers_diem: string;
  readonly transfers: bigint;
  readonly transfer_id: bigint;
  readonly internal_usd: string;
  readonly internal_diem: string;
  readonly transfers_before: bigint;
  readonly charges: bigint;
  readonly charge_id: bigint;
  readonly charges_before: bigint;
  readonly refund_id: bigint;
}

/** `from` is where the rows begin, `last` where the last audit ended. */
interface Range {
  readonly rows: AuditedRows;
  readonly from: AuditMark;
  readonly last: AuditMark;
}

const totalsSql = ({ rows: { transfers, charges, refunds }, from, last }: Range): string => `
  SELECT now() AS at, * FROM (
    SELECT count(*) AS accounts, coalesce(sum(usd_nano), 0) AS customers_usd,
      coalesce(sum(diem_nano), 0) AS customers_diem
    FROM ledger.accounts
  ) AS accounts, (
    SELECT count(*) AS transfers, coalesce(max(id), ${from.transferId}) AS transfer_id,
      count(*) FILTER (WHERE id <= ${last.transferId}) AS transfers_before,
      coalesce(sum(amount_nano) FILTER (WHERE currency = 'USD' AND credit_account NOT LIKE 'customer:%'), 0)
        - coalesce(sum(amount_nano) FILTER (WHERE currency = 'USD' AND debit_account NOT LIKE 'customer:%'), 0)
        AS internal_usd,
      coalesce(sum(amount_nano) FILTER (WHERE currency = 'DIEM' AND credit_account NOT LIKE 'customer:%'), 0)
        - coalesce(sum(amount_nano) FILTER (WHERE currency = 'DIEM' AND debit_account NOT LIKE 'customer:%'), 0)
        AS internal_diem
    FROM ${transfers} AS transfer
  ) AS transfers, (
    SELECT count(*) AS charges, coalesce(max(id), ${from.chargeId}) AS charge_id,
      count(*) FILTER (WHERE id <= ${last.chargeId}) AS charges_before
    FROM ${charges} AS charge
  ) AS charges, (SELECT coalesce(max(id), ${from.refundId}) AS refund_id FROM ${refunds} AS refund) AS refunds`;

interface Totals {
  /** What was covered. */
  readonly accounts: number;
  readonly transfers: number;
  readonly charges: number;
  readonly imbalanceUsdNano: bigint;
  readonly imbalanceDiemNano: bigint;
  readonly mismatches: readonly string[];
  readonly mark: AuditMark;
}

async function totalsOf(client: PoolClient, range: Range): Promise<Totals> {
  const { rows, from, last } = range;
  const [row] = await longQuery<TotalsRow>(client, totalsSql(range));
  assert(row, 'totals are one row');
  const mark: AuditMark = {
    number: last.number + 1n,
    at: row.at,
    scope: rows === WHOLE ? 'whole' : 'new',
    transferId: row.transfer_id,
    chargeId: row.charge_id,
    refundId: row.refund_id,
    transfers: from.transfers + row.transfers,
    charges: from.charges + row.charges,
    internalUsdNano: from.internalUsdNano + BigInt(row.internal_usd),
    internalDiemNano: from.internalDiemNano + BigInt(row.internal_diem),
  };
  return {
    accounts: Number(row.accounts),
    transfers: Number(row.transfers),
    charges: Number(row.charges),
    imbalanceUsdNano: BigInt(row.customers_usd) + mark.internalUsdNano,
    imbalanceDiemNano: BigInt(row.customers_diem) + mark.internalDiemNano,
    mismatches: rows === WHOLE ? shrunk(last, row) : [],
    mark,
  };
}

/** Nothing that an audit has seen may disappear, even if everything related to it disappears too. */
function shrunk(last: AuditMark, { transfers_before, charges_before }: TotalsRow): string[] {
  const changeOf = (what: string, then: bigint, now: bigint): string =>
    `The last audit saw ${then} ${what}; of those ids there are ${now}.`;
  return [
    ...(transfers_before === last.transfers ? [] : [changeOf('transfers', last.transfers, transfers_before)]),
    ...(charges_before === last.charges ? [] : [changeOf('charges', last.charges, charges_before)]),
  ];
}

function bounded(mismatches: readonly string[]): string[] {
  if (mismatches.length <= MAX_MISMATCHES) return [...mismatches];
  return [...mismatches.slice(0, MAX_MISMATCHES - 1), 'There are further mismatches, which are not listed.'];
}
