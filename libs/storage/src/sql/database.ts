import type { OnApplicationShutdown } from '@nestjs/common';
import { Problem } from '@svc/contracts/problems';
import { within } from '@svc/runtime';
import { neighbours } from '@svc/telemetry';
import { DatabaseError, type Pool, type PoolClient, type QueryResultRow } from 'pg';
import { withTransaction } from './transaction.js';

const CLOSE_MS = 5_000;

/**
 * The database for stores. It is available until `onApplicationShutdown`, so nothing may use it from then on.
 */
export class Database implements OnApplicationShutdown {
  readonly pool: Pool;
  private readonly ends: readonly (() => void)[];

  constructor(pool: Pool) {
    this.pool = pool;
    this.ends = watchPool(pool);
    // So that the first lost connection is seen as an increase.
    for (const operation of ['query', 'transaction']) neighbours.database.with(POOL, operation, 'connection');
  }

  /**
   * Runs one statement and returns its rows: `int8` as bigint, `numeric` as string, `timestamptz` as Date.
   */
  async query<Row extends QueryResultRow>(sql: string, values: readonly unknown[] = []): Promise<Row[]> {
    const { rows } = await timed('query', this.pool.query<Row>(sql, [...values]));
    return rows;
  }

  /** Runs `work` in a transaction, and repeats it after a deadlock or a serialization failure. */
  transaction<Result>(work: (client: PoolClient) => Promise<Result>): Promise<Result> {
    return timed('transaction', withTransaction(this.pool, work));
  }

  async onApplicationShutdown(): Promise<void> {
    for (const end of this.ends) end();
    // Waits for connections in use, but not forever.
    await within(CLOSE_MS, this.pool.end()).catch(() => undefined);
  }
}

const POOL = 'postgresql';

/** Reports metrics on a pool's connections. */
function watchPool(pool: Pool): readonly (() => void)[] {
  return [
    neighbours.connections.observe(() => [
      [pool.totalCount - pool.idleCount, POOL, 'used'],
      [pool.idleCount, POOL, 'idle'],
    ]),
    neighbours.connectionsMax.observe(() => [[pool.options.max, POOL]]),
    neighbours.connectionsPending.observe(() => [[pool.waitingCount, POOL]]),
  ];
}

/** The error class of the server; empty if the work itself threw a Problem, since PostgreSQL responded. */
function faultOf(error: unknown): string {
  if (error instanceof DatabaseError) return `sqlstate ${error.code?.slice(0, 2)}`;
  return error instanceof Problem ? '' : 'connection';
}

/** Records a call, whether it succeeds or fails. */
async function timed<Result>(operation: string, call: Promise<Result>): Promise<Result> {
  const startMs = performance.now();
  let fault = '';
  try {
    return await call;
  } catch (error) {
    fault = faultOf(error);
    throw error;
  } finally {
    neighbours.database.record((performance.now() - startMs) / 1_000, POOL, operation, fault);
  }
}
