import { Database } from '@svc/storage';
import type { PoolClient } from 'pg';

/** Simulates the death of a process inside its transaction. */
export class Died extends Error {
  override readonly name = 'Died';
}

/** Does all the work of a transaction and fails before the commit. */
export class DiesBeforeCommit extends Database {
  override transaction<Result>(work: (client: PoolClient) => Promise<Result>): Promise<Result> {
    return super.transaction(async (client) => {
      await work(client);
      throw new Died('before the commit');
    });
  }
}

/** Fails when accounts are to be locked. */
export class DiesAtLock extends Database {
  override transaction<Result>(work: (client: PoolClient) => Promise<Result>): Promise<Result> {
    return super.transaction((client) => work(dyingClient(client)));
  }
}

function dyingClient(client: PoolClient): PoolClient {
  const query = (statement: { name?: string } | string, ...rest: unknown[]): unknown => {
    if (typeof statement === 'object' && statement.name === 'ledger.lock-accounts')
      return Promise.reject(new Died('at the lock'));
    return (client.query as (...all: unknown[]) => unknown).call(client, statement, ...rest);
  };
  return Object.create(client, { query: { value: query } }) as PoolClient;
}
