import assert from 'node:assert/strict';
import { Injectable } from '@nestjs/common';
import type { Stake } from '@svc/contracts/ports';
import type { AccountChange } from '@svc/hold-book';
import { Database } from '@svc/storage';
import type { PoolClient } from 'pg';
import { lockAccounts } from '../accounts/accounts.store.js';
import { notifyBalances } from '../accounts/alerts.store.js';
import { balanceColumns, transferColumns } from '../posting/columns.js';
import { MonthsStore } from '../accounts/months.store.js';
import type { NewTransfer } from '../posting/posting.js';
import { setStakeDay } from './stake-day.js';

/** A commit got no response: it may or may not be stored. */
export class CommitInDoubt extends Error {
  override readonly name = 'CommitInDoubt';
}

/** A day to set for some accounts. */
export interface DayToSet {
  /** A UTC day, such as `2026-11-21`. */
  readonly day: string;
  readonly at: string;
  readonly accountIds: readonly string[];
  /**
   * Sets aside the DIEM of these accounts that no request holds, and returns the amounts. Accounts it omits
   * are not set. Called while their stakes are locked, so that no other run sets them meanwhile.
   */
  readonly setAside: (accountIds: readonly string[]) => Promise<ReadonlyMap<string, bigint>>;
  /** Throws if the DIEM may not stay aside much longer. */
  readonly assertAside: () => void;
}

/** A window of stakes in account order. */
export interface StakeWindow {
  /** Accounts not yet set for the day. */
  readonly due: readonly string[];
  /** The last account of the window; undefined past the end. */
  readonly last: string | undefined;
}

/** The stakes of accounts, and their effect on the books. */
@Injectable()
export class StakesStore {
  constructor(
    private readonly database: Database,
    private readonly months: MonthsStore,
  ) {}

  async stake(accountId: string): Promise<Stake> {
    const [row] = await this.database.query<{ tokens_nano: bigint; granted_on: string | null }>(
      'SELECT tokens_nano, granted_on::text FROM ledger.stakes WHERE account_id = $1',
      [accountId],
    );
    const grantedOn = row?.granted_on ?? undefined;
    return { accountId, tokensNano: row?.tokens_nano ?? 0n, ...(grantedOn !== undefined && { grantedOn }) };
  }

  async setTokens(accountId: string, tokensNano: bigint): Promise<void> {
    await this.database.query(
      `INSERT INTO ledger.stakes (account_id, tokens_nano) VALUES ($1, $2)
       ON CONFLICT (account_id) DO UPDATE SET tokens_nano = excluded.tokens_nano, updated_at = now()`,
      [accountId, tokensNano],
    );
  }

  /** Whether any account is not yet set for the day. */
  async isAnyDue(day: string): Promise<boolean> {
    const [row] = await this.database.query<{ any_due: boolean }>(
      `SELECT EXISTS (SELECT FROM ledger.stakes WHERE granted_on < $1::date)
         OR EXISTS (SELECT FROM ledger.stakes WHERE granted_on IS NULL) AS any_due`,
      [day],
    );
    return row?.any_due === true;
  }

  /**
   * The next stakes after an account, due or not, so that walking all stakes takes the same time however many
   * are due.
   */
  async window(day: string, after: string, max: number): Promise<StakeWindow> {
    const rows = await this.database.query<{ account_id: string; is_due: boolean }>(
      `SELECT account_id, granted_on IS NULL OR granted_on < $1::date AS is_due
       FROM ledger.stakes WHERE account_id > $2 ORDER BY account_id LIMIT $3`,
      [day, after, max],
    );
    const due = rows.filter((row) => row.is_due).map((row) => row.account_id);
    return { due, last: rows.at(-1)?.account_id };
  }

  /**
   * Sets the DIEM of the given accounts not yet set for the day, all or none. Returns their balances, also
   * for accounts that were set but never confirmed. Rejects: CommitInDoubt.
   */
  async setDay(set: DayToSet): Promise<AccountChange[]> {
    await this.months.ensure([set.at]);
    let isWorkDone = false;
    try {
      return await this.database.transaction(async (client) => {
        isWorkDone = false;
        const balances = await setInTransaction(client, set);
        isWorkDone = true;
        return balances;
      });
    } catch (error) {
      if (isWorkDone) throw new CommitInDoubt('the commit got no response', { cause: error });
      throw error;
    }
  }

  /** Records that the hold book has the new balances of the accounts. */
  async confirm(day: string, accountIds: readonly string[]): Promise<void> {
    await this.database.query(SET_DAY, [accountIds, day]);
  }
}

async function setInTransaction(client: PoolClient, set: DayToSet): Promise<AccountChange[]> {
  const stakes = await lockDue(client, set);
  const known = await movedAlready(client, set.day, [...stakes.keys()]);
  const fresh = [...stakes.keys()].filter((accountId) => !known.has(accountId));
  const rests = fresh.length > 0 ? await set.setAside(fresh) : new Map<string, bigint>();
  const wanted = new Set([...known, ...rests.keys()]);
  const accounts: Map<string, AccountChange> = await lockAccounts(client, wanted);
  const transfers: NewTransfer[] = [];
  const changed: AccountChange[] = [];
  const unchanged: string[] = [];
  for (const [accountId, restNano] of rests) {
    const before = accounts.get(accountId);
    const tokensNano = stakes.get(accountId);
    assert(before && tokensNano !== undefined, 'the account and its stake are locked');
    const { day, at } = set;
    const { transfers: more, after } = setStakeDay({ day, at, tokensNano, restNano, before });
    transfers.push(...more);
    if (more.length === 0) unchanged.push(accountId);
    else {
      accounts.set(accountId, { ...after, spends: [] });
      changed.push(after);
    }
  }
  if (changed.length > 0) {
    await client.query({ ...INSERT_TRANSFERS, values: transferColumns(transfers) });
    const { rowCount } = await client.query({ ...SET_BALANCES, values: balanceColumns(changed) });
    assert.equal(rowCount, changed.length, 'every account has its row');
    await notifyBalances(client, changed);
  }
  // These have no transfer as a record of the day.
  if (unchanged.length > 0) await client.query(SET_DAY, [unchanged, set.day]);
  set.assertAside();
  return [...accounts.values()];
}

/** The due stakes, locked in account order. */
async function lockDue(client: PoolClient, { day, accountIds }: DayToSet): Promise<Map<string, bigint>> {
  const { rows } = await client.query<{ account_id: string; tokens_nano: bigint }>(
    `SELECT account_id, tokens_nano FROM ledger.stakes
     WHERE account_id = ANY($1::uuid[]) AND (granted_on IS NULL OR granted_on < $2::date)
     ORDER BY account_id FOR UPDATE`,
    [accountIds, day],
  );
  return new Map(rows.map((row) => [row.account_id, row.tokens_nano]));
}

/** Accounts with a transfer of the day: they were set, but the hold book may not have been updated. */
async function movedAlready(
  client: PoolClient,
  day: string,
  accountIds: readonly string[],
): Promise<Set<string>> {
  const { rows } = await client.query<{ account_id: string }>(
    `SELECT DISTINCT account_id FROM ledger.transfer_references
     WHERE account_id = ANY($1::uuid[]) AND kind IN ('grant', 'expiry') AND currency = 'DIEM' AND reference = $2`,
    [accountIds, day],
  );
  return new Set(rows.map((row) => row.account_id));
}

const INSERT_TRANSFERS = {
  name: 'ledger.insert-stake-transfers',
  text: `WITH transfer AS (
           INSERT INTO ledger.transfers (at, account_id, kind, debit_account, credit_account, currency,
             amount_nano, reference)
           SELECT * FROM unnest($1::timestamptz[], $2::text[]::uuid[], $3::text[], $4::text[], $5::text[], $6::text[],
             $7::bigint[], $8::text[])
           RETURNING account_id, kind, currency, reference, id, at
         )
         INSERT INTO ledger.transfer_references (account_id, kind, currency, reference, transfer_id, at)
         SELECT * FROM transfer`,
};

const SET_BALANCES = {
  name: 'ledger.set-diem',
  text: `UPDATE ledger.accounts AS account
         SET diem_nano = change.diem_nano, version = change.version
         FROM unnest($1::text[]::uuid[], $2::bigint[], $3::bigint[], $4::bigint[])
           AS change (id, usd_nano, diem_nano, version)
         WHERE account.id = change.id`,
};

const SET_DAY = `
  UPDATE ledger.stakes SET granted_on = $2::date
  WHERE account_id = ANY($1::uuid[]) AND (granted_on IS NULL OR granted_on < $2::date)`;
