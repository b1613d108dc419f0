import type { OnApplicationShutdown } from '@nestjs/common';
import { within } from '@svc/runtime';
import type { Pool, PoolClient, QueryResultRow } from 'pg';
import { withTransaction } from './transaction.js';

const CLOSE_MS = 5_000;

/** The database as stores see it. It is there until `onApplicationShutdown`, so nothing may use it from then on. */
export class Database implements OnApplicationShutdown {
  readonly pool: Pool;

  constructor(pool: Pool) {
    this.pool = pool;
  }

  /** Runs one statement and gives its rows: `int8` as bigint, `numeric` as string, `timestamptz` as Date. */
  async query<Row extends QueryResultRow>(sql: string, values: readonly unknown[] = []): Promise<Row[]> {
    const { rows } = await this.pool.query<Row>(sql, [...values]);
    return rows;
  }

  /** Runs `work` in a transaction, again after a deadlock or a serialization failure. */
  transaction<Result>(work: (client: PoolClient) => Promise<Result>): Promise<Result> {
    return withTransaction(this.pool, work);
  }

  async onApplicationShutdown(): Promise<void> {
    // Waits for connections in use, but not for ever.
    await within(CLOSE_MS, this.pool.end()).catch(() => undefined);
  }
}
