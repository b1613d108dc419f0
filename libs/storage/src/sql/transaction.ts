import { retrying } from '@svc/runtime';
import { DatabaseError, type Pool, type PoolClient } from 'pg';

const RERUNS = { attempts: 5, firstMs: 10, lastMs: 80, isRandom: true };
/** Serialization failure and deadlock: the same work may succeed when repeated. */
const RERUN_CODES = new Set(['40001', '40P01']);

/**
 * Runs `work` in a transaction: committed if it returns, rolled back if it throws. On a deadlock or a
 * serialization failure it is repeated, five times at most, so it must have no effect outside the database.
 * After an error of COMMIT itself, it is unknown whether the work is stored.
 */
export function withTransaction<Result>(
  pool: Pool,
  work: (client: PoolClient) => Promise<Result>,
): Promise<Result> {
  return repeating(() => runOnce(pool, work));
}

/** Repeats work that is a whole transaction after a deadlock or a serialization failure. */
export function repeating<Result>(work: () => Promise<Result>): Promise<Result> {
  const isFinal = (error: unknown): boolean =>
    !(error instanceof DatabaseError && RERUN_CODES.has(error.code ?? ''));
  return retrying(work, { ...RERUNS, isFinal });
}

async function runOnce<Result>(pool: Pool, work: (client: PoolClient) => Promise<Result>): Promise<Result> {
  const client = await pool.connect();
  let broken = false;
  try {
    await client.query('BEGIN');
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    // A connection that can't roll back is closed; the server then rolls back by itself.
    await client.query('ROLLBACK').catch(() => (broken = true));
    throw error;
  } finally {
    client.release(broken);
  }
}
