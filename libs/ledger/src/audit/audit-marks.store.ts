import type { AuditScope } from '@svc/contracts/ports';
import type { PoolClient } from 'pg';
import type { AuditedRows, Watermarks } from './audit-checks.store.js';
import { longQuery } from './audit-query.store.js';

/** What an audit proved. All balances and daily sums of that moment are stored with it. */
export interface AuditMark extends Watermarks {
  /** Number of the mark, from 1. */
  readonly number: bigint;
  readonly scope: AuditScope;
  /** Counts of the whole book. */
  readonly transfers: bigint;
  readonly charges: bigint;
  /** The sum of all internal accounts. */
  readonly internalUsdNano: bigint;
  readonly internalDiemNano: bigint;
}

/** The mark before the first audit. */
export const NO_MARK: AuditMark = {
  number: 0n,
  at: new Date(0),
  scope: 'whole',
  transferId: 0n,
  chargeId: 0n,
  refundId: 0n,
  transfers: 0n,
  charges: 0n,
  internalUsdNano: 0n,
  internalDiemNano: 0n,
};

interface MarkRow {
  readonly number: bigint;
  readonly at: Date;
  readonly scope: AuditScope;
  readonly transfer_id: bigint;
  readonly charge_id: bigint;
  readonly refund_id: bigint;
  readonly transfers: bigint;
  readonly charges: bigint;
  readonly internal_usd_nano: string;
  readonly internal_diem_nano: string;
}

const COLUMNS =
  'number, at, scope, transfer_id, charge_id, refund_id, transfers, charges, internal_usd_nano, internal_diem_nano';

/** Where the last clean audit ended; undefined before the first. */
export async function lastMark(client: PoolClient): Promise<AuditMark | undefined> {
  const { rows } = await client.query<MarkRow>(
    `SELECT ${COLUMNS} FROM ledger.audit_marks ORDER BY number DESC LIMIT 1`,
  );
  const [row] = rows;
  return (
    row && {
      number: row.number,
      at: row.at,
      scope: row.scope,
      transferId: row.transfer_id,
      chargeId: row.charge_id,
      refundId: row.refund_id,
      transfers: row.transfers,
      charges: row.charges,
      internalUsdNano: BigInt(row.internal_usd_nano),
      internalDiemNano: BigInt(row.internal_diem_nano),
    }
  );
}

/**
 * Stores the mark in the audit's own transaction. Mark numbers are unique: an audit that started from the
 * same mark as another waits for it and then fails.
 */
export async function keepMark(client: PoolClient, mark: AuditMark, rows: AuditedRows): Promise<void> {
  await insertMark(client, mark);
  await longQuery(client, KEEP_BALANCES);
  await longQuery(client, keepDays(rows));
}

export async function insertMark(client: PoolClient, mark: AuditMark): Promise<void> {
  await client.query(
    `INSERT INTO ledger.audit_marks (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [
      mark.number,
      mark.at,
      mark.scope,
      mark.transferId,
      mark.chargeId,
      mark.refundId,
      mark.transfers,
      mark.charges,
      mark.internalUsdNano,
      mark.internalDiemNano,
    ],
  );
}

const KEEP_BALANCES = `
  INSERT INTO ledger.audit_balances (account_id, usd_nano, diem_nano)
  SELECT account.id, account.usd_nano, account.diem_nano
  FROM ledger.accounts AS account LEFT JOIN ledger.audit_balances AS kept ON kept.account_id = account.id
  WHERE (kept.usd_nano, kept.diem_nano) IS DISTINCT FROM (account.usd_nano, account.diem_nano)
  ON CONFLICT (account_id) DO UPDATE SET usd_nano = excluded.usd_nano, diem_nano = excluded.diem_nano`;

const keepDays = ({ charges, everyDay }: AuditedRows): string => `
  INSERT INTO ledger.audit_usage_days (account_id, day, key_id, model, sku, units, usd_nano, diem_nano)
  SELECT known.account_id, known.day, known.key_id, known.model, known.sku, known.units, known.usd_nano, known.diem_nano
  FROM ledger.usage_days AS known
  LEFT JOIN ledger.audit_usage_days AS kept USING (account_id, day, key_id, model, sku)
  WHERE (kept.units, kept.usd_nano, kept.diem_nano) IS DISTINCT FROM (known.units, known.usd_nano, known.diem_nano)
    AND ${everyDay ? 'true' : `(account_id, day, key_id, model) IN (${daysOf(charges)})`}
  ON CONFLICT (account_id, day, key_id, model, sku) DO UPDATE
  SET units = excluded.units, usd_nano = excluded.usd_nano, diem_nano = excluded.diem_nano`;

const daysOf = (charges: string): string =>
  `SELECT account_id, (at AT TIME ZONE 'UTC')::DATE, key_id, model FROM ${charges} AS charge`;
