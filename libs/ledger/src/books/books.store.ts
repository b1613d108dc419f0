import assert from 'node:assert/strict';
import { Injectable } from '@nestjs/common';
import {
  type Credit,
  DEPOSITS_AT_ONCE,
  type DepositsWanted,
  type Page,
  Problem,
  type Transfer,
} from '@svc/contracts';
import { Database } from '@svc/storage';
import type { PoolClient } from 'pg';
import { lockAccounts, readAccount } from '../accounts/accounts.store.js';
import { MAX_NANO } from '../posting/charge-fault.js';
import {
  DEBTS,
  OPERATOR_DEPOSITS,
  customerAccount,
  type PostedBalances,
  railDeposits,
} from '../accounts/accounts.js';
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

  /** Deposits and reversals, in the order of their ids. */
  async deposits(wanted: DepositsWanted): Promise<Transfer[]> {
    const [which, values] =
      'references' in wanted
        ? [
            'reference = ANY($1::text[])',
            [wanted.references.slice(0, DEPOSITS_AT_ONCE), 2 * DEPOSITS_AT_ONCE],
          ]
        : ['transfer_id > $1', [wanted.after, Math.min(wanted.limit, DEPOSITS_AT_ONCE)]];
    const rows = await this.database.query<TransferRow>(
      `SELECT ${TRANSFER} FROM ledger.transfers
       WHERE (account_id, id, at) IN (
         SELECT account_id, transfer_id, at FROM ledger.transfer_references
         WHERE kind IN ('deposit', 'reversal') AND ${which} ORDER BY transfer_id LIMIT $2
       ) ORDER BY id`,
      values,
    );
    return rows.map(transferOf);
  }
}

/** What a credit is called, and the account that it comes from. */
function sourceOf({ rail }: Credit): { kind: 'credit' | 'deposit'; account: string } {
  return rail === undefined
    ? { kind: 'credit', account: OPERATOR_DEPOSITS }
    : { kind: 'deposit', account: railDeposits(rail) };
}

/** The transfer that has this reference already. Its account is locked. */
async function findReferenced(client: PoolClient, credit: Credit): Promise<Transfer | undefined> {
  const { rows } = await client.query<TransferRow>(
    `SELECT ${TRANSFER} FROM ledger.transfers
     WHERE (account_id, id, at) IN (
       SELECT account_id, transfer_id, at FROM ledger.transfer_references
       WHERE account_id = $1 AND kind = $3 AND currency = 'USD' AND reference = $2
     )`,
    [credit.accountId, credit.reference, sourceOf(credit).kind],
  );
  return rows[0] && transferOf(rows[0]);
}

/** What the account owes. It is locked. */
async function debtOf(client: PoolClient, accountId: string): Promise<bigint> {
  const { rows } = await client.query<{ debt_nano: bigint }>(
    'SELECT debt_nano FROM ledger.accounts WHERE id = $1',
    [accountId],
  );
  return rows[0]?.debt_nano ?? 0n;
}

async function insertCredit(
  client: PoolClient,
  credit: Credit,
  { before, at }: { before: PostedBalances; at: string },
): Promise<Credited> {
  const { accountId, usdNano, reference } = credit;
  const { kind, account } = sourceOf(credit);
  const debtNano = await debtOf(client, accountId);
  const repaidNano = debtNano < usdNano ? debtNano : usdNano;
  const after = before.balances.usdNano + usdNano - repaidNano;
  if (after > MAX_NANO) throw new Problem('INVALID_REQUEST', { message: 'The balance would be too large.' });
  const { rows } = await client.query<TransferRow>(
    `WITH transfer AS (
       INSERT INTO ledger.transfers (at, account_id, kind, debit_account, credit_account, currency, amount_nano, reference)
       SELECT $1::timestamptz, $2::uuid, part.kind, part.debit, part.credit, 'USD', part.nano, part.reference
       FROM (VALUES (1, $9, $3, $4, $5::bigint, $6), (2, 'repayment', $4, '${DEBTS}', $10::bigint, $9 || ' ' || $6))
         AS part (place, kind, debit, credit, nano, reference)
       WHERE part.nano > 0 ORDER BY part.place
       RETURNING *
     ), reference AS (
       INSERT INTO ledger.transfer_references (account_id, kind, currency, reference, transfer_id, at)
       SELECT account_id, kind, currency, reference, id, at FROM transfer
     ), account AS (
       UPDATE ledger.accounts SET usd_nano = $7, version = $8, debt_nano = debt_nano - $10::bigint WHERE id = $2::uuid
     )
     SELECT ${TRANSFER} FROM transfer ORDER BY id`,
    [
      at,
      accountId,
      account,
      customerAccount(accountId),
      usdNano,
      reference,
      after,
      before.version + 1n,
      kind,
      repaidNano,
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
