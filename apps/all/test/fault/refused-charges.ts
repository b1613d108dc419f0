import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pool } from 'pg';

const TABLES = ['events.log', 'ledger.charges'];

/** Makes the function `gateway.no_row`, a trigger with which refuses a row. */
export async function refusesRows(pool: Pool): Promise<void> {
  await pool.query(
    `CREATE FUNCTION gateway.no_row() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not now'; END $$`,
  );
}

/**
 * From now on neither the event log nor the books nor the journal accepts a charge. Returns what ends that,
 * once the ledger has noted that these requests are never charged.
 */
export async function refuseCharges(
  pool: Pool,
  dataDir: string,
): Promise<(refused: { readonly accountId: string; readonly requests: number }) => Promise<boolean>> {
  const journal = join(dataDir, 'ledger');
  for (const table of TABLES)
    await pool.query(
      `CREATE TRIGGER refused BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION gateway.no_row()`,
    );
  await rm(journal, { recursive: true });
  await writeFile(journal, 'no folder');
  return async ({ accountId, requests }) => {
    const { rows } = await pool.query<{ noted: number }>(
      `SELECT count(DISTINCT payload::jsonb ->> 'requestId')::int AS noted FROM events.outbox
       WHERE payload::jsonb ->> 'accountId' = $1`,
      [accountId],
    );
    if ((rows[0]?.noted ?? 0) < requests) return false;
    for (const table of TABLES) await pool.query(`DROP TRIGGER refused ON ${table}`);
    await rm(journal);
    return true;
  };
}

/** How many requests of an account the books have blocked. */
export async function blockedOf(pool: Pool, accountId: string): Promise<number> {
  const { rowCount } = await pool.query('SELECT FROM ledger.charges WHERE account_id = $1 AND usd_nano = 0', [
    accountId,
  ]);
  return rowCount ?? 0;
}
