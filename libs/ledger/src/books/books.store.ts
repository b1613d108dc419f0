import assert from 'node:assert/strict';
import { Injectable } from '@nestjs/common';
import { type Credit, type Page, Problem, type Transfer } from '@svc/contracts';
import { Database } from '@svc/storage';
import type { PoolClient } from 'pg';
import { lockAccounts, readAccount } from '../accounts/accounts.store.js';
import { MAX_NANO } from '../posting/charge-fault.js';
import { OPERATOR_DEPOSITS, customerAccount, type PostedBalances } from '../accounts/accounts.js';
import { MonthsStore } from '../accounts/months.store.js';
import { TRANSFER, type TransferRow, transferOf } from '../accounts/transfer-rows.store.js';

export interface Credited {
  readonly transfer: Transfer;
  /** What the account has now. */
  readonly balances: PostedBalances;
}

/** The books but for the posting of charges. */
@Injectable()
export class BooksStore {
  constructor(
    private readonly database: Database,
    private readonly months: MonthsStore,
  ) {}

  /** What an account has. */
  balances(accountId: string): Promise<PostedBalances> {
    return readAccount(this.database, accountId);
  }

  /** Credits once for each account and reference. Refuses: REFERENCE_REUSED, INVALID_REQUEST past the largest balance. */
  async credit(credit: Credit): Promise<Credited> {
    const at = new Date().toISOString();
    await this.months.ensure([at]);
    return this.database.transaction(async (client) => {
      const accounts = await lockAccounts(client, new Set([credit.accountId]));
      const before = accounts.get(credit.accountId);
      assert(before, 'the account is locked');
      const earlier = await findReferenced(client, credit);
      if (!earlier) return insertCredit(client, credit, { before, at });
      if (earlier.amountNano !== credit.usdNano)
        throw new Problem('REFERENCE_REUSED', { param: 'reference' });
      return { transfer: earlier, balances: before };
    });
  }

  /** Transfers of an account, newest first. */
  async transfers(accountId: string, { limit, before }: Page): Promise<Transfer[]> {
    const rows = await this.database.query<TransferRow>(
      `SELECT ${TRANSFER} FROM ledger.transfers WHERE account_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3`,
      [accountId, before ?? MAX_NANO, limit],
    );
    return rows.map(transferOf);
  }
}

/** The transfer that has this reference already. Its account is locked. */
async function findReferenced(client: PoolClient, credit: Credit): Promise<Transfer | undefined> {
  const { rows } = await client.query<TransferRow>(
    `SELECT ${TRANSFER} FROM ledger.transfers
     WHERE (account_id, id, at) IN (
       SELECT account_id, transfer_id, at FROM ledger.transfer_references
       WHERE account_id = $1 AND kind = 'credit' AND currency = 'USD' AND reference = $2
     )`,
    [credit.accountId, credit.reference],
  );
  return rows[0] && transferOf(rows[0]);
}

async function insertCredit(
  client: PoolClient,
  { accountId, usdNano, reference }: Credit,
  { before, at }: { before: PostedBalances; at: string },
): Promise<Credited> {
  const after = before.balances.usdNano + usdNano;
  if (after > MAX_NANO) throw new Problem('INVALID_REQUEST', { message: 'The balance would be too large.' });
  const { rows } = await client.query<TransferRow>(
    `WITH transfer AS (
       INSERT INTO ledger.transfers (at, account_id, kind, debit_account, credit_account, currency, amount_nano, reference)
       VALUES ($1, $2, 'credit', $3, $4, 'USD', $5, $6)
       RETURNING *
     ), reference AS (
       INSERT INTO ledger.transfer_references (account_id, kind, currency, reference, transfer_id, at)
       SELECT account_id, kind, currency, reference, id, at FROM transfer
     ), account AS (
       UPDATE ledger.accounts SET usd_nano = $7, version = $8 WHERE id = $2
     )
     SELECT ${TRANSFER} FROM transfer`,
    [
      at,
      accountId,
      OPERATOR_DEPOSITS,
      customerAccount(accountId),
      usdNano,
      reference,
      after,
      before.version + 1n,
    ],
  );
  assert(rows[0], 'the transfer is stored');
  return {
    transfer: transferOf(rows[0]),
    balances: {
      accountId,
      balances: { usdNano: after, diemNano: before.balances.diemNano },
      version: before.version + 1n,
    },
  };
}
