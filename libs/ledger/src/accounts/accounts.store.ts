import assert from 'node:assert/strict';
import { NO_MONEY } from '@svc/contracts/money';
import type { PostedBalances } from '@svc/hold-book';
import type { Database } from '@svc/storage';
import type { PoolClient } from 'pg';

interface AccountRow {
  readonly id: string;
  readonly usd_nano: bigint;
  readonly diem_nano: bigint;
  readonly version: bigint;
}

const COLUMNS = 'id, usd_nano, diem_nano, version';

/** Advisory lock: every writer to the books takes it shared; an audit takes it exclusively for an instant. */
export const BOOKS_LOCK = `hashtextextended('ledger.books', 0)`;

/** An account's posted balances. An account that is not in the books yet has zero balances at version 0. */
export async function readAccount(database: Database, accountId: string): Promise<PostedBalances> {
  const [row] = await database.query<AccountRow>(`SELECT ${COLUMNS} FROM ledger.accounts WHERE id = $1`, [
    accountId,
  ]);
  return row ? balancesOf(row) : { accountId, balances: NO_MONEY, version: 0n };
}

/**
 * Locks accounts until the transaction ends, always in the same order to avoid deadlocks. Creates missing
 * ones. Every transaction that writes to the books must call it first. An audit then never sees a row while
 * one with a lower id is still uncommitted.
 */
export async function lockAccounts(
  client: PoolClient,
  accountIds: ReadonlySet<string>,
): Promise<Map<string, PostedBalances>> {
  const ids = [...accountIds].toSorted();
  let rows = await lockRows(client, ids);
  if (rows.length < ids.length) {
    await client.query('INSERT INTO ledger.accounts (id) SELECT unnest($1::uuid[]) ON CONFLICT DO NOTHING', [
      ids,
    ]);
    rows = await lockRows(client, ids);
  }
  assert.equal(rows.length, ids.length, 'every account has a row');
  return new Map(rows.map((row) => [row.id, balancesOf(row)]));
}

async function lockRows(client: PoolClient, ids: readonly string[]): Promise<AccountRow[]> {
  const { rows } = await client.query<AccountRow>({
    name: 'ledger.lock-accounts',
    // The advisory lock depends on no row, so PostgreSQL takes it once, before the first row lock.
    text: `SELECT ${COLUMNS} FROM ledger.accounts
           WHERE (SELECT pg_advisory_xact_lock_shared(${BOOKS_LOCK})) IS NOT NULL AND id = ANY($1::uuid[])
           ORDER BY id FOR UPDATE`,
    values: [ids],
  });
  return rows;
}

function balancesOf(row: AccountRow): PostedBalances {
  return {
    accountId: row.id,
    balances: { usdNano: row.usd_nano, diemNano: row.diem_nano },
    version: row.version,
  };
}
