import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Charge } from '@svc/contracts/messages';
import type { AccountPosting, PostedBalances } from '@svc/hold-book';
import { Database, textColumn } from '@svc/storage';
import { DatabaseError, type PoolClient } from 'pg';
import {
  balanceColumns,
  chargeColumns,
  lineColumns,
  transferColumns,
  usageColumns,
  userColumns,
  userSumColumns,
} from './columns.js';
import { lockAccounts } from '../accounts/accounts.store.js';
import { notifyPosted } from '../accounts/alerts.store.js';
import { MonthsStore } from '../accounts/months.store.js';
import { hasUser, keySpendings, paidLines, usageSums, userSums } from './paid-lines.js';
import { type Posting, postingOf } from './posting.js';

/** Classes of PostgreSQL errors caused by the data: the same batch would fail again. */
const DATA_FAULT = /^2[23]/;

/** The database permanently rejects a charge of the batch. */
export class DataRefused extends Error {
  override readonly name = 'DataRefused';
}

/** The result of a batch. */
export interface BatchPosted {
  /** The balances of every account of the batch, with all its requests, including those posted before. */
  readonly accounts: readonly AccountPosting[];
  readonly charges: number;
  readonly duplicates: number;
  readonly clamped: Posting['clamped'];
}

/** Writes charges to the books. */
@Injectable()
export class PostingStore {
  constructor(
    private readonly database: Database,
    private readonly months: MonthsStore,
  ) {}

  /**
   * Posts the charges that are not posted yet, all or none. They must be free of faults. Rejects:
   * DataRefused.
   */
  async post(charges: readonly Charge[]): Promise<BatchPosted> {
    await this.months.ensure(charges.map((charge) => charge.at));
    try {
      return await this.database.transaction((client) => postBatch(client, charges));
    } catch (error) {
      // A RangeError is of a number that no column can have.
      const isOfData =
        error instanceof RangeError || (error instanceof DatabaseError && DATA_FAULT.test(error.code ?? ''));
      if (!isOfData) throw error;
      throw new DataRefused(`the database refuses it: ${error.message}`, { cause: error });
    }
  }

  /** Stores an event that can't be posted, once however often it is delivered. */
  async reject(event: string, reason: string): Promise<void> {
    const digest = createHash('sha256').update(event).digest('hex');
    await this.database.query(
      'INSERT INTO ledger.rejected_charges (digest, reason, event) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
      [digest, reason, event],
    );
  }
}

async function postBatch(client: PoolClient, charges: readonly Charge[]): Promise<BatchPosted> {
  const accounts = await lockAccounts(client, new Set(charges.map((charge) => charge.accountId)));
  // After the locks: any other transaction with a charge of these accounts has committed, or waits.
  const seen = await postedAlready(client, charges);
  const fresh: Charge[] = [];
  for (const charge of charges) {
    if (seen.has(charge.requestId)) continue;
    seen.add(charge.requestId);
    fresh.push(charge);
  }
  const posting = postingOf(fresh, accounts);
  if (fresh.length > 0) await insert(client, posting);
  for (const account of posting.accounts) accounts.set(account.accountId, account);
  return {
    accounts: postingsOf(accounts, charges, posting.charges),
    charges: fresh.length,
    duplicates: charges.length - fresh.length,
    clamped: posting.clamped,
  };
}

/**
 * A repeated request is searched this far around the charge's time, so that a charge rebuilt with another
 * time is found.
 */
const SAME_REQUEST_MS = 86_400_000;

async function postedAlready(client: PoolClient, charges: readonly Charge[]): Promise<Set<string>> {
  let fromMs = Infinity;
  let toMs = -Infinity;
  for (const charge of charges) {
    const atMs = Date.parse(charge.at);
    fromMs = Math.min(fromMs, atMs - SAME_REQUEST_MS);
    toMs = Math.max(toMs, atMs + SAME_REQUEST_MS);
  }
  const { rows } = await client.query<{ request_id: string }>({
    name: 'ledger.posted-already',
    text: `SELECT request_id FROM ledger.charges
           WHERE request_id = ANY($1::text[]) AND at BETWEEN $2::timestamptz AND $3::timestamptz`,
    values: [
      textColumn(charges, (charge) => charge.requestId),
      new Date(fromMs).toISOString(),
      new Date(toMs).toISOString(),
    ],
  });
  return new Set(rows.map((row) => row.request_id));
}

async function insert(client: PoolClient, posting: Posting): Promise<void> {
  const { charges, transfers, accounts } = posting;
  await client.query({ ...INSERT_CHARGES, values: chargeColumns(charges) });
  const lines = paidLines(charges);
  await client.query({ ...INSERT_LINES, values: lineColumns(lines) });
  await client.query({ ...ADD_USAGE, values: usageColumns(usageSums(lines)) });
  const ofUsers = charges.filter(hasUser);
  if (ofUsers.length > 0) {
    await client.query({ ...INSERT_USERS, values: userColumns(ofUsers) });
    await client.query({ ...ADD_USERS, values: userSumColumns(userSums(ofUsers)) });
  }
  if (transfers.length > 0) await client.query({ ...INSERT_TRANSFERS, values: transferColumns(transfers) });
  const { rowCount } = await client.query({ ...SET_BALANCES, values: balanceColumns(accounts) });
  assert.equal(rowCount, accounts.length, 'every charged account has its row');
  await notifyPosted(client, charges, accounts);
}

const INSERT_CHARGES = {
  name: 'ledger.insert-charges',
  text: `INSERT INTO ledger.charges (request_id, at, account_id, key_id, model, backend, prompt_tokens,
           completion_tokens, cached_tokens, cache_write_tokens, reasoning_tokens, usd_nano, diem_nano,
           write_off_nano, duration_ms)
         SELECT * FROM unnest($1::text[], $2::timestamptz[], $3::text[]::uuid[], $4::text[], $5::text[],
           $6::text[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[],
           $14::bigint[], $15::bigint[])`,
};

const INSERT_LINES = {
  name: 'ledger.insert-lines',
  text: `INSERT INTO ledger.charge_lines (request_id, at, line, sku, units, price_nano_per_million, amount_nano,
           usd_nano, diem_nano, unit, provider_nano)
         SELECT * FROM unnest($1::text[], $2::timestamptz[], $3::bigint[], $4::text[], $5::bigint[], $6::bigint[],
           $7::bigint[], $8::bigint[], $9::bigint[], $10::text[], $11::bigint[])`,
};

/** These accounts are locked, so no other transaction adds to their sums meanwhile. */
const ADD_USAGE = {
  name: 'ledger.add-usage',
  text: `INSERT INTO ledger.usage_days AS known (account_id, day, key_id, model, sku, units, usd_nano, diem_nano,
           usd_entries, diem_entries, unit)
         SELECT * FROM unnest($1::text[]::uuid[], $2::text[]::date[], $3::text[], $4::text[], $5::text[], $6::bigint[],
           $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::text[])
         ON CONFLICT (account_id, day, key_id, model, sku) DO UPDATE
         SET units = known.units + excluded.units, usd_nano = known.usd_nano + excluded.usd_nano,
           diem_nano = known.diem_nano + excluded.diem_nano, usd_entries = known.usd_entries + excluded.usd_entries,
           diem_entries = known.diem_entries + excluded.diem_entries, unit = excluded.unit`,
};

const INSERT_USERS = {
  name: 'ledger.insert-charge-users',
  text: `INSERT INTO ledger.charge_users (account_id, end_user, at, request_id)
         SELECT * FROM unnest($1::text[]::uuid[], $2::text[], $3::timestamptz[], $4::text[]) ON CONFLICT DO NOTHING`,
};

const ADD_USERS = {
  name: 'ledger.add-user-days',
  text: `INSERT INTO ledger.user_days AS known (account_id, day, end_user, requests, prompt_tokens, completion_tokens,
           usd_nano, diem_nano)
         SELECT * FROM unnest($1::text[]::uuid[], $2::text[]::date[], $3::text[], $4::bigint[], $5::bigint[],
           $6::bigint[], $7::bigint[], $8::bigint[])
         ON CONFLICT (account_id, day, end_user) DO UPDATE
         SET requests = known.requests + excluded.requests, prompt_tokens = known.prompt_tokens + excluded.prompt_tokens,
           completion_tokens = known.completion_tokens + excluded.completion_tokens,
           usd_nano = known.usd_nano + excluded.usd_nano, diem_nano = known.diem_nano + excluded.diem_nano`,
};

const INSERT_TRANSFERS = {
  name: 'ledger.insert-transfers',
  text: `INSERT INTO ledger.transfers (at, account_id, kind, debit_account, credit_account, currency,
           amount_nano, reference)
         SELECT * FROM unnest($1::timestamptz[], $2::text[]::uuid[], $3::text[], $4::text[], $5::text[], $6::text[],
           $7::bigint[], $8::text[])`,
};

const SET_BALANCES = {
  name: 'ledger.set-balances',
  text: `UPDATE ledger.accounts AS account
         SET usd_nano = change.usd_nano, diem_nano = change.diem_nano, version = change.version
         FROM unnest($1::text[]::uuid[], $2::bigint[], $3::bigint[], $4::bigint[])
           AS change (id, usd_nano, diem_nano, version)
         WHERE account.id = change.id`,
};

function postingsOf(
  accounts: ReadonlyMap<string, PostedBalances>,
  charges: readonly Charge[],
  posted: readonly Charge[],
): AccountPosting[] {
  const requestIds = new Map<string, string[]>(Array.from(accounts.keys(), (accountId) => [accountId, []]));
  for (const charge of charges) requestIds.get(charge.accountId)?.push(charge.requestId);
  const spends = keySpendings(posted);
  return Array.from(accounts.values(), (account) => {
    // If all charges of an account were posted before, another posting made its version and may still report
    // it.
    const made = spends.get(account.accountId);
    return {
      ...account,
      requestIds: requestIds.get(account.accountId) ?? [],
      ...(made && { spends: made }),
    };
  });
}
