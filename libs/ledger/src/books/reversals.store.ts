import assert from 'node:assert/strict';
import { Injectable } from '@nestjs/common';
import type { Debit, Reversal } from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import { formatUsd } from '@svc/contracts/money';
import type { PostedBalances } from '@svc/hold-book';
import { Database } from '@svc/storage';
import type { PoolClient } from 'pg';
import { DEBTS, OPERATOR_DEPOSITS, customerAccount, railDeposits } from '../accounts/accounts.js';
import { lockAccounts } from '../accounts/accounts.store.js';
import { MonthsStore } from '../accounts/months.store.js';
import { type Credited, findTransfer, insertTransfers } from './transfers.store.js';

/** Takes money from accounts: reverses credits and deposits, and debits. */
@Injectable()
export class ReversalsStore {
  constructor(
    private readonly database: Database,
    private readonly months: MonthsStore,
  ) {}

  /**
   * Reverses a credit or a deposit, once. The account is lent what it no longer has, so that the whole amount
   * is reversed and the balance does not go below zero. Rejects: CREDIT_NOT_FOUND if there is no such credit,
   * INVALID_REQUEST if there is no such deposit.
   */
  async reverse(reversal: Reversal): Promise<Credited> {
    const at = new Date().toISOString();
    await this.months.ensure([at]);
    return this.database.transaction(async (client) => {
      const accounts = await lockAccounts(client, new Set([reversal.accountId]));
      const before = accounts.get(reversal.accountId);
      assert(before, 'the account is locked');
      const { kind, of, source } = termsOf(reversal);
      const earlier = await findTransfer(client, kind, reversal);
      if (earlier) return { transfer: earlier, isNew: false, balances: before };
      const reversed = await findTransfer(client, of, reversal);
      if (reversed?.debitAccount !== source) throw nothingToReverse(reversal);
      return insertReversal(client, reversal, { nano: reversed.amountNano, before, at });
    });
  }

  /**
   * Debits once per account and reference, at most the balance and at most `spendableNano`, which leaves out
   * what requests hold. Rejects: DEBIT_TOO_LARGE, REFERENCE_REUSED.
   */
  async debit(debit: Debit, spendableNano: bigint): Promise<Credited> {
    const { accountId, usdNano, reference } = debit;
    const at = new Date().toISOString();
    await this.months.ensure([at]);
    return this.database.transaction(async (client) => {
      const accounts = await lockAccounts(client, new Set([accountId]));
      const before = accounts.get(accountId);
      assert(before, 'the account is locked');
      const earlier = await findTransfer(client, 'debit', debit);
      if (earlier) {
        if (earlier.amountNano !== usdNano) throw new Problem('REFERENCE_REUSED', { param: 'reference' });
        return { transfer: earlier, isNew: false, balances: before };
      }
      const { usdNano: balanceNano } = before.balances;
      const leftNano = balanceNano < spendableNano ? balanceNano : spendableNano;
      if (usdNano > leftNano) throw tooLarge(leftNano, balanceNano);
      const debited = customerAccount(accountId);
      return insertTransfers(client, 'debit', {
        at,
        before,
        usdNano: balanceNano - usdNano,
        debtNano: 0n,
        parts: [{ kind: 'debit', debit: debited, credit: OPERATOR_DEPOSITS, nano: usdNano, reference }],
      });
    });
  }
}

/** The kinds of a reversal, of what it reverses and of its loan, and the account that gets the money back. */
function termsOf({ rail, reference }: Reversal) {
  return rail === undefined
    ? ({
        kind: 'credit_reversal',
        of: 'credit',
        source: OPERATOR_DEPOSITS,
        loan: `credit ${reference}`,
      } as const)
    : ({ kind: 'reversal', of: 'deposit', source: railDeposits(rail), loan: reference } as const);
}

const nothingToReverse = ({ rail }: Reversal): Problem =>
  rail === undefined
    ? new Problem('CREDIT_NOT_FOUND', { param: 'reference' })
    : new Problem('INVALID_REQUEST', { param: 'reference', message: 'No such deposit' });

/** Lends the account what it lacks, as a debt. */
function insertReversal(
  client: PoolClient,
  reversal: Reversal,
  { nano, before, at }: { nano: bigint; before: PostedBalances; at: string },
): Promise<Credited> {
  const { accountId, reference } = reversal;
  const { kind, source, loan } = termsOf(reversal);
  const { usdNano } = before.balances;
  const lentNano = nano > usdNano ? nano - usdNano : 0n;
  const customer = customerAccount(accountId);
  return insertTransfers(client, kind, {
    at,
    before,
    usdNano: usdNano + lentNano - nano,
    debtNano: lentNano,
    parts: [
      { kind: 'debt', debit: DEBTS, credit: customer, nano: lentNano, reference: loan },
      { kind, debit: customer, credit: source, nano, reference },
    ],
  });
}

function tooLarge(leftNano: bigint, balanceNano: bigint): Problem {
  const held =
    balanceNano > leftNano ? `, and requests in progress hold ${formatUsd(balanceNano - leftNano)}` : '';
  const message = `The account has ${formatUsd(leftNano)} USD left${held}. Debit at most that.`;
  return new Problem('DEBIT_TOO_LARGE', { param: 'usd', message });
}
