import assert from 'node:assert/strict';
import { Injectable } from '@nestjs/common';
import { Problem, type Reversal, type Transfer } from '@svc/contracts';
import { Database } from '@svc/storage';
import type { PoolClient } from 'pg';
import { DEBTS, customerAccount, type PostedBalances, railDeposits } from '../accounts/accounts.js';
import { lockAccounts } from '../accounts/accounts.store.js';
import { MonthsStore } from '../accounts/months.store.js';
import { TRANSFER, type TransferRow, transferOf } from '../accounts/transfer-rows.store.js';
import type { Credited } from './books.store.js';

/** Takes deposits back. */
@Injectable()
export class ReversalsStore {
  constructor(
    private readonly database: Database,
    private readonly months: MonthsStore,
  ) {}

  /**
   * Takes a deposit back, once. The account is lent what it has not got any more, so that its balance ends at nothing
   * and the deposit is taken back whole. Refuses: INVALID_REQUEST without such a deposit.
   */
  async reverse(reversal: Reversal): Promise<Credited> {
    const at = new Date().toISOString();
    await this.months.ensure([at]);
    return this.database.transaction(async (client) => {
      const accounts = await lockAccounts(client, new Set([reversal.accountId]));
      const before = accounts.get(reversal.accountId);
      assert(before, 'the account is locked');
      const earlier = await find(client, 'reversal', reversal);
      if (earlier) return { transfer: earlier, balances: before };
      const deposit = await find(client, 'deposit', reversal);
      if (!deposit || deposit.debitAccount !== railDeposits(reversal.rail))
        throw new Problem('INVALID_REQUEST', { param: 'reference', message: 'There is no such deposit.' });
      return insert(client, reversal, { nano: deposit.amountNano, before, at });
    });
  }
}

async function find(
  client: PoolClient,
  kind: 'deposit' | 'reversal',
  { accountId, reference }: Reversal,
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
    SELECT $1::timestamptz, $2::uuid, part.kind, part.debit, part.credit, 'USD', part.nano, $3
    FROM (VALUES (1, 'debt', '${DEBTS}', $4, $7::bigint), (2, 'reversal', $4, $5, $6::bigint))
      AS part (place, kind, debit, credit, nano)
    WHERE part.nano > 0 ORDER BY part.place
    RETURNING *
  ), reference AS (
    INSERT INTO ledger.transfer_references (account_id, kind, currency, reference, transfer_id, at)
    SELECT account_id, kind, currency, reference, id, at FROM transfer
  ), account AS (
    UPDATE ledger.accounts SET usd_nano = $8, version = $9, debt_nano = debt_nano + $7::bigint WHERE id = $2::uuid
  )
  SELECT ${TRANSFER} FROM transfer WHERE kind = 'reversal'`;

async function insert(
  client: PoolClient,
  { accountId, rail, reference }: Reversal,
  { nano, before, at }: { nano: bigint; before: PostedBalances; at: string },
): Promise<Credited> {
  const { usdNano, diemNano } = before.balances;
  const lentNano = nano > usdNano ? nano - usdNano : 0n;
  const balances = { usdNano: usdNano + lentNano - nano, diemNano };
  const version = before.version + 1n;
  const { rows } = await client.query<TransferRow>(INSERT, [
    at,
    accountId,
    reference,
    customerAccount(accountId),
    railDeposits(rail),
    nano,
    lentNano,
    balances.usdNano,
    version,
  ]);
  assert(rows[0], 'the transfer is stored');
  return { transfer: transferOf(rows[0]), balances: { accountId, balances, version } };
}
