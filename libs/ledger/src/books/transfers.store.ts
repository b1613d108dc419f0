import assert from 'node:assert/strict';
import { type AccountEventType, newAccountEvent } from '@svc/contracts/messages';
import { usdNumber } from '@svc/contracts/money';
import type { Transfer, TransferKind } from '@svc/contracts/ports';
import type { PostedBalances } from '@svc/hold-book';
import type { PoolClient } from 'pg';
import { addEvent, notifyBalances } from '../accounts/alerts.store.js';
import { TRANSFER, type TransferRow, transferOf } from '../accounts/transfer-rows.store.js';

export interface Credited {
  readonly transfer: Transfer;
  /** False if the transfer was made before. */
  readonly isNew: boolean;
  /** The account's balances now. */
  readonly balances: PostedBalances;
}

interface Part {
  readonly kind: TransferKind;
  readonly debit: string;
  readonly credit: string;
  readonly nano: bigint;
  readonly reference: string;
}

/** A change of an account's USD balance and of its debt. */
interface Change {
  readonly at: string;
  /** The balances before. The account is locked. */
  readonly before: PostedBalances;
  readonly usdNano: bigint;
  /** By how much the debt grows; negative for a repayment. */
  readonly debtNano: bigint;
  /** In order; zero amounts are left out. */
  readonly parts: readonly Part[];
}

/** The transfer of this kind and reference. Its account must be locked. */
export async function findTransfer(
  client: PoolClient,
  kind: TransferKind,
  { accountId, reference }: { readonly accountId: string; readonly reference: string },
): Promise<Transfer | undefined> {
  const { rows } = await client.query<TransferRow>(
    `SELECT ${TRANSFER} FROM ledger.transfers
     WHERE (account_id, id, at) IN (
       SELECT account_id, transfer_id, at FROM ledger.transfer_references
       WHERE account_id = $1 AND kind = $2 AND currency = 'USD' AND reference = $3
     )`,
    [accountId, kind, reference],
  );
  return rows[0] && transferOf(rows[0]);
}

const INSERT = `
  WITH transfer AS (
    INSERT INTO ledger.transfers (at, account_id, kind, debit_account, credit_account, currency, amount_nano, reference)
    SELECT $1::timestamptz, $2::uuid, part.kind, part.debit, part.credit, 'USD', part.nano, part.reference
    FROM unnest($3::text[], $4::text[], $5::text[], $6::bigint[], $7::text[])
      WITH ORDINALITY AS part (kind, debit, credit, nano, reference, place)
    WHERE part.nano > 0 ORDER BY part.place
    RETURNING *
  ), reference AS (
    INSERT INTO ledger.transfer_references (account_id, kind, currency, reference, transfer_id, at)
    SELECT account_id, kind, currency, reference, id, at FROM transfer
  ), account AS (
    UPDATE ledger.accounts SET usd_nano = $8, version = $9, debt_nano = debt_nano + $10::bigint WHERE id = $2::uuid
  )
  SELECT ${TRANSFER} FROM transfer`;

/** Stores a change as its transfers, and returns the one of this kind. */
export async function insertTransfers(
  client: PoolClient,
  kind: TransferKind,
  { at, before, usdNano, debtNano, parts }: Change,
): Promise<Credited> {
  const { accountId } = before;
  const version = before.version + 1n;
  const { rows } = await client.query<TransferRow>(INSERT, [
    at,
    accountId,
    parts.map((part) => part.kind),
    parts.map(({ debit }) => debit),
    parts.map(({ credit }) => credit),
    parts.map(({ nano }) => String(nano)),
    parts.map(({ reference }) => reference),
    usdNano,
    version,
    debtNano,
  ]);
  const row = rows.find((each) => each.kind === kind);
  assert(row, 'the transfer is stored');
  const balances = { usdNano, diemNano: before.balances.diemNano };
  await notifyBalances(client, [{ accountId, balances }]);
  const type = NOTIFIED[kind];
  if (type) {
    const usd = usdNumber(row.amount_nano);
    await addEvent(client, newAccountEvent(accountId, type, { reference: row.reference, usd }));
  }
  return { transfer: transferOf(row), isNew: true, balances: { accountId, balances, version } };
}

/** The kinds of transfers of which customers are notified. */
const NOTIFIED: Partial<Record<TransferKind, AccountEventType>> = {
  deposit: 'payment.settled',
  reversal: 'payment.reversed',
};
