import assert from 'node:assert/strict';
import { Injectable } from '@nestjs/common';
import {
  type Alert,
  type Credit,
  DEPOSITS_AT_ONCE,
  type DepositsWanted,
  type PostedCharge,
  type Transfer,
  type TransferPage,
} from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import type { PostedBalances } from '@svc/hold-book';
import { Database } from '@svc/storage';
import type { PoolClient } from 'pg';
import { findPostedCharge } from './posted-charges.store.js';
import { lockAccounts, readAccount } from '../accounts/accounts.store.js';
import { listAlerts, replaceAlerts } from '../accounts/alerts.store.js';
import { MAX_NANO } from '../posting/charge-fault.js';
import { DEBTS, OPERATOR_DEPOSITS, customerAccount, railDeposits } from '../accounts/accounts.js';
import { MonthsStore } from '../accounts/months.store.js';
import { TRANSFER, type TransferRow, transferOf } from '../accounts/transfer-rows.store.js';
import { type Credited, findTransfer, insertTransfers } from './transfers.store.js';

/** The books, except for the posting of charges. */
@Injectable()
export class BooksStore {
  constructor(
    private readonly database: Database,
    private readonly months: MonthsStore,
  ) {}

  balances(accountId: string): Promise<PostedBalances> {
    return readAccount(this.database, accountId);
  }

  /**
   * Credits once per account and reference. Rejects: REFERENCE_REUSED; INVALID_REQUEST if the balance would
   * be too large.
   */
  async credit(credit: Credit): Promise<Credited> {
    const at = new Date().toISOString();
    await this.months.ensure([at]);
    return this.database.transaction(async (client) => {
      const accounts = await lockAccounts(client, new Set([credit.accountId]));
      const before = accounts.get(credit.accountId);
      assert(before, 'the account is locked');
      const earlier = await findTransfer(client, sourceOf(credit).kind, credit);
      if (!earlier) return insertCredit(client, credit, { before, at });
      if (earlier.amountNano !== credit.usdNano)
        throw new Problem('REFERENCE_REUSED', { param: 'reference' });
      return { transfer: earlier, isNew: false, balances: before };
    });
  }

  /** Transfers of an account, newest first. */
  async transfers(accountId: string, page: TransferPage): Promise<Transfer[]> {
    const rows = await this.database.query<TransferRow>(
      `SELECT ${TRANSFER} FROM ledger.transfers WHERE account_id = $1 AND id < $2
         AND ($4::text IS NULL OR kind = $4) AND at >= coalesce($5::timestamptz, '-infinity')
         AND at < coalesce($6::timestamptz, 'infinity')
       ORDER BY id DESC LIMIT $3`,
      [accountId, page.before ?? MAX_NANO, page.limit, page.kind, page.from, page.until],
    );
    return rows.map(transferOf);
  }

  alerts(accountId: string): Promise<Alert[]> {
    return listAlerts(this.database, accountId);
  }

  setAlerts(accountId: string, alerts: readonly Alert[]): Promise<void> {
    return replaceAlerts(this.database, accountId, alerts);
  }

  /** Rejects: CHARGE_NOT_FOUND. */
  charge(requestId: string): Promise<PostedCharge> {
    return findPostedCharge(this.database, requestId);
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

/** The transfer kind of a credit, and the account it comes from. */
function sourceOf({ rail }: Credit): { kind: 'credit' | 'deposit'; account: string } {
  return rail === undefined
    ? { kind: 'credit', account: OPERATOR_DEPOSITS }
    : { kind: 'deposit', account: railDeposits(rail) };
}

/** The account's debt. The account must be locked. */
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
  const customer = customerAccount(accountId);
  return insertTransfers(client, kind, {
    at,
    before,
    usdNano: after,
    debtNano: -repaidNano,
    parts: [
      { kind, debit: account, credit: customer, nano: usdNano, reference },
      {
        kind: 'repayment',
        debit: customer,
        credit: DEBTS,
        nano: repaidNano,
        reference: `${kind} ${reference}`,
      },
    ],
  });
}
