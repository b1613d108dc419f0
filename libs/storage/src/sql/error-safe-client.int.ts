import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createPool } from './pool.js';
import { ErrorSafeClient } from './error-safe-client.js';
import { type TestDatabase, startTestDatabase } from '../../test/testing.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(() => database.stop());

async function terminate(name: string): Promise<void> {
  const other = new ErrorSafeClient({ connectionString: database.url });
  await other.connect();
  await other.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1', [
    name,
  ]);
  await other.end();
}

async function ended(onError?: (error: Error) => void): Promise<void> {
  const client = new ErrorSafeClient({ connectionString: database.url, application_name: 'alone' });
  if (onError !== undefined) client.on('error', onError);
  await client.connect();
  await terminate('alone');
  await expect.poll(() => client.query('SELECT 1').catch(String)).toMatch(/not queryable|terminat/);
}

it('notifies a listener that the connection has ended', async () => {
  const errors: Error[] = [];
  await ended((error) => errors.push(error));
  // The server's last message fails a query before the connection ends.
  await expect.poll(() => errors).not.toEqual([]);
});

it('throws nothing if the end of a connection has no listener', async () => {
  await expect(ended()).resolves.toBeUndefined();
});

it('a pooled connection that ends between two statements of a transaction fails only the next statement', async () => {
  const pool = createPool(database.url, { name: 'pooled' });
  const client = await pool.connect();
  await client.query('BEGIN');
  await terminate('pooled');
  await sleep(50);
  await expect(client.query('SELECT 1')).rejects.toThrow(/terminat|not queryable/);
  client.release(true);
  expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  await pool.end();
});

it('closes at once when destroyed', async () => {
  const client = new ErrorSafeClient({ connectionString: database.url });
  await client.connect();
  const waiting = client.query('SELECT pg_sleep(60)').catch(String);
  client.destroy();
  expect(await waiting).toMatch(/Error/);
});
