import { Client } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { InstanceRunning, holdInstanceLock } from './instance-lock.js';
import { type TestDatabase, startTestDatabase } from '../testing.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(() => database.stop());

async function terminateHolder(name: string): Promise<void> {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  await client.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1', [
    `${name} (instance lock)`,
  ]);
  await client.end();
}

it('lets one process hold a name, and another one once it is released', async () => {
  const lock = await holdInstanceLock(database.url, 'all');
  await expect(holdInstanceLock(database.url, 'all')).rejects.toBeInstanceOf(InstanceRunning);
  await (await holdInstanceLock(database.url, 'other')).release();
  await lock.release();
  await (await holdInstanceLock(database.url, 'all')).release();
});

it('waits for the lock of a process that is just being ended', async () => {
  const first = await holdInstanceLock(database.url, 'ending');
  const second = holdInstanceLock(database.url, 'ending');
  await first.release();
  const lock = await second;
  await expect(holdInstanceLock(database.url, 'ending')).rejects.toBeInstanceOf(InstanceRunning);
  await lock.release();
});

it('tells its holder that the lock is lost, and not when it was released', async () => {
  const lock = await holdInstanceLock(database.url, 'lost');
  const lost = new Promise<Error>((resolve) => lock.onLost(resolve));
  await terminateHolder('lost');
  expect(await lost).toBeInstanceOf(Error);
  await lock.release();

  const released = await holdInstanceLock(database.url, 'lost');
  const reasons: Error[] = [];
  released.onLost((reason) => reasons.push(reason));
  await released.release();
  expect(reasons).toEqual([]);
});
