import assert from 'node:assert/strict';
import { Injectable } from '@nestjs/common';
import { type Balances, plus } from '@svc/contracts/money';
import { newAccountEvent } from '@svc/contracts/messages';
import { Problem } from '@svc/contracts/problems';
import type { Refund, Transfer } from '@svc/contracts/ports';
import type { PostedBalances } from '@svc/hold-book';
import { Database } from '@svc/storage';
import type { PoolClient } from 'pg';
import { lockAccounts } from '../accounts/accounts.store.js';
import { addEvent, amountsOf, notifyBalances } from '../accounts/alerts.store.js';
import { MAX_NANO } from '../posting/charge-fault.js';
import { REVENUE, customerAccount } from '../accounts/accounts.js';
import { MonthsStore } from '../accounts/months.store.js';
import { type PastRefund, refundable } from './refundable.js';
import { TRANSFER, type TransferRow, transferOf } from '../accounts/transfer-rows.store.js';

export interface Refunded {
  /** One for each currency; the same ones each time the refund is repeated. */
  readonly transfers: readonly Transfer[];
  /** False if the refund was made before. */
  readonly isNew: boolean;
  /** The account's balances now. */
  readonly balances: PostedBalances;
}

/** Refunds what requests cost. */
@Injectable()
export class RefundsStore {
  constructor(
    private readonly database: Database,
    private readonly months: MonthsStore,
  ) {}

  /**
   * Refunds once per account and reference. Rejects: CHARGE_NOT_FOUND, REFUND_TOO_LARGE, REFERENCE_REUSED;
   * INVALID_REQUEST if the balance would be too large.
   */
  async refund(refund: Refund): Promise<Refunded> {
    const at = new Date().toISOString();
    await this.months.ensure([at]);
    return this.database.transaction(async (client) => {
      const accounts = await lockAccounts(client, new Set([refund.accountId]));
      const before = accounts.get(refund.accountId);
      assert(before, 'the account is locked');
      // The account is locked, so no other refund of it runs meanwhile.
      const charge = await findCharge(client, refund);
      const amount = refundable(refund, charge, await findRefunds(client, refund));
      if (amount) return insertRefund(client, refund, { amount, before, at });
      return { transfers: await findTransfers(client, refund), isNew: false, balances: before };
    });
  }
}

interface AmountRow {
  readonly usd_nano: bigint;
  readonly diem_nano: bigint;
}

const amountOf = (row: AmountRow): Balances => ({ usdNano: row.usd_nano, diemNano: row.diem_nano });

/** What was paid for the request. Searches all months, because the request's month is unknown. */
async function findCharge(client: PoolClient, { accountId, requestId }: Refund): Promise<Balances> {
  const { rows } = await client.query<AmountRow>(
    'SELECT usd_nano, diem_nano FROM ledger.charges WHERE request_id = $1 AND account_id = $2',
    [requestId, accountId],
  );
  if (!rows[0]) throw new Problem('CHARGE_NOT_FOUND', { param: 'requestId' });
  return amountOf(rows[0]);
}

interface RefundRow extends AmountRow {
  readonly id: bigint;
  readonly request_id: string;
  readonly reference: string;
}

async function findRefunds(
  client: PoolClient,
  { accountId, requestId, reference }: Refund,
): Promise<PastRefund[]> {
  const { rows } = await client.query<RefundRow>(
    `SELECT id, request_id, reference, usd_nano, diem_nano FROM ledger.refunds
     WHERE account_id = $1 AND (request_id = $2 OR reference = $3)`,
    [accountId, requestId, reference],
  );
  return rows.map((row) => ({
    id: row.id,
    requestId: row.request_id,
    reference: row.reference,
    amount: amountOf(row),
  }));
}

async function findTransfers(client: PoolClient, { accountId, reference }: Refund): Promise<Transfer[]> {
  const { rows } = await client.query<TransferRow>(
    `SELECT ${TRANSFER} FROM ledger.transfers
     WHERE (account_id, id, at) IN (
       SELECT account_id, transfer_id, at FROM ledger.transfer_references
       WHERE account_id = $1 AND kind = 'refund' AND reference = $2
     ) ORDER BY id`,
    [accountId, reference],
  );
  return rows.map(transferOf);
}

/**
 * The empty stake is for an account that never had one: DIEM it gets back then expires at the next midnight.
 */
const INSERT_REFUND = `
  WITH transfer AS (
    INSERT INTO ledger.transfers (at, account_id, kind, debit_account, credit_account, currency, amount_nano, reference)
    SELECT $1::timestamptz, $2::uuid, 'refund', $3, $4, part.currency, part.nano, $5
    FROM (VALUES (1, 'DIEM', $7::bigint), (2, 'USD', $6::bigint)) AS part (place, currency, nano)
    WHERE part.nano > 0 ORDER BY part.place
    RETURNING *
  ), reference AS (
    INSERT INTO ledger.transfer_references (account_id, kind, currency, reference, transfer_id, at)
    SELECT account_id, kind, currency, reference, id, at FROM transfer
  ), refund AS (
    INSERT INTO ledger.refunds (at, account_id, reference, usd_nano, diem_nano, request_id)
    VALUES ($1::timestamptz, $2::uuid, $5, $6::bigint, $7::bigint, $8)
  ), account AS (
    UPDATE ledger.accounts SET usd_nano = $9, diem_nano = $10, version = $11 WHERE id = $2::uuid
  ), stake AS (
    INSERT INTO ledger.stakes (account_id, tokens_nano, granted_on)
    SELECT $2::uuid, 0, ($1::timestamptz AT TIME ZONE 'UTC')::date WHERE $7::bigint > 0
    ON CONFLICT DO NOTHING
  )
  SELECT ${TRANSFER} FROM transfer ORDER BY id`;

async function insertRefund(
  client: PoolClient,
  { accountId, requestId, reference }: Refund,
  { amount, before, at }: { amount: Balances; before: PostedBalances; at: string },
): Promise<Refunded> {
  const balances = plus(before.balances, amount);
  if (balances.usdNano > MAX_NANO || balances.diemNano > MAX_NANO)
    throw new Problem('INVALID_REQUEST', { message: 'The balance would be too large.' });
  const version = before.version + 1n;
  const { rows } = await client.query<TransferRow>(INSERT_REFUND, [
    at,
    accountId,
    REVENUE,
    customerAccount(accountId),
    reference,
    amount.usdNano,
    amount.diemNano,
    requestId,
    balances.usdNano,
    balances.diemNano,
    version,
  ]);
  assert(rows.length > 0, 'the transfers are stored');
  await notifyBalances(client, [{ accountId, balances }]);
  const refunded = { request_id: requestId, ...amountsOf(amount) };
  await addEvent(client, newAccountEvent(accountId, 'refund.created', refunded));
  return { transfers: rows.map(transferOf), isNew: true, balances: { accountId, balances, version } };
}
