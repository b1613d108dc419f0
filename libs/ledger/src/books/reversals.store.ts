import assert from 'node:assert/strict';
import { Injectable } from '@nestjs/common';
import { Problem, type Reversal } from '@svc/contracts';
import { Database } from '@svc/storage';
import type { PoolClient } from 'pg';
import { DEBTS, customerAccount, type PostedBalances, railDeposits } from '../accounts/accounts.js';
import { lockAccounts } from '../accounts/accounts.store.js';
import { MonthsStore } from '../accounts/months.store.js';
import { type Credited, findTransfer, insertTransfers } from './transfers.store.js';

/** Reverses deposits. */
@Injectable()
export class ReversalsStore {
  constructor(
    private readonly database: Database,
    private readonly months: MonthsStore,
  ) {}

  /**
   * Reverses a deposit, once. The account is lent what it no longer has, so that the whole deposit is
   * reversed and the balance does not go below zero. Rejects: INVALID_REQUEST if there is no such deposit.
   */
  async reverse(reversal: Reversal): Promise<Credited> {
    const at = new Date().toISOString();
    await this.months.ensure([at]);
    return this.database.transaction(async (client) => {
      const accounts = await lockAccounts(client, new Set([reversal.accountId]));
      const before = accounts.get(reversal.accountId);
      assert(before, 'the account is locked');
      const earlier = await findTransfer(client, 'reversal', reversal);
      if (earlier) return { transfer: earlier, isNew: false, balances: before };
      const deposit = await findTransfer(client, 'deposit', reversal);
      if (!deposit || deposit.debitAccount !== railDeposits(reversal.rail))
        throw new Problem('INVALID_REQUEST', { param: 'reference', message: 'No such deposit' });
      return insertReversal(client, reversal, { nano: deposit.amountNano, before, at });
    });
  }
}

/** Lends the account what it lacks, as a debt. */
function insertReversal(
  client: PoolClient,
  { accountId, rail, reference }: Reversal,
  { nano, before, at }: { nano: bigint; before: PostedBalances; at: string },
): Promise<Credited> {
  const { usdNano } = before.balances;
  const lentNano = nano > usdNano ? nano - usdNano : 0n;
  const customer = customerAccount(accountId);
  return insertTransfers(client, 'reversal', {
    at,
    before,
    usdNano: usdNano + lentNano - nano,
    debtNano: lentNano,
    parts: [
      { kind: 'debt', debit: DEBTS, credit: customer, nano: lentNano, reference },
      { kind: 'reversal', debit: customer, credit: railDeposits(rail), nano, reference },
    ],
  });
}
