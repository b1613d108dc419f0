import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type TestDatabase, startTestDatabase } from '../../test/testing.js';
import { type InstanceLock, InstanceRunning, type LockMode, holdInstanceLock } from './instance-lock.js';

const WAIT = { timeout: 20_000, interval: 10 };

let database: TestDatabase;
let admin: Client;
const locks: InstanceLock[] = [];

beforeAll(async () => {
  database = await startTestDatabase();
  admin = new Client({ connectionString: database.url });
  await admin.connect();
});
afterEach(async () => {
  for (const lock of locks.splice(0)) await lock.release();
});
afterAll(async () => {
  await admin.end();
  await database.stop();
});

/** A kept lock, and its notifications. */
async function keep(name: string, mode?: LockMode): Promise<{ lock: InstanceLock; notifications: string[] }> {
  const lock = await holdInstanceLock(database.url, name, mode);
  locks.push(lock);
  const notifications: string[] = [];
  await lock.keep({
    onAway: () => notifications.push('away'),
    onBack: () => notifications.push('back'),
    onTaken: () => notifications.push('taken'),
  });
  return { lock, notifications };
}

async function backendOf(name: string): Promise<number> {
  const { rows } = await admin.query<{ pid: number }>(
    'SELECT pid FROM pg_stat_activity WHERE application_name = $1',
    [`${name} (instance lock)`],
  );
  return rows[0]?.pid ?? 0;
}

async function terminateHolder(name: string): Promise<void> {
  await admin.query('SELECT pg_terminate_backend($1)', [await backendOf(name)]);
}

const refusal = (name: string, mode?: LockMode): Promise<unknown> =>
  holdInstanceLock(database.url, name, mode).catch((error: unknown) => error);

it('lets one process hold a name, and another one after its release', async () => {
  const lock = await holdInstanceLock(database.url, 'all');
  expect(await refusal('all')).toBeInstanceOf(InstanceRunning);
  await (await holdInstanceLock(database.url, 'other')).release();
  await lock.release();
  await (await holdInstanceLock(database.url, 'all')).release();
});

it('waits for the lock of a process that is just ending', async () => {
  const first = await holdInstanceLock(database.url, 'ending');
  const second = holdInstanceLock(database.url, 'ending');
  await first.release();
  locks.push(await second);
  expect(await refusal('ending')).toBeInstanceOf(InstanceRunning);
});

describe('a kept lock', () => {
  it('is taken again after its connection has ended, however often', async () => {
    const { notifications } = await keep('ended');
    for (let time = 1; time <= 3; time += 1) {
      await terminateHolder('ended');
      await expect.poll(() => notifications, WAIT).toHaveLength(2 * time);
    }
    expect(notifications).toEqual(['away', 'back', 'away', 'back', 'away', 'back']);
    expect(await refusal('ended')).toBeInstanceOf(InstanceRunning);
  });

  it('stays held while the database is stalled, and reports that', async () => {
    const { notifications } = await keep('still');
    const pid = await backendOf('still');
    process.kill(pid, 'SIGSTOP');
    try {
      await expect.poll(() => notifications, WAIT).toEqual(['away']);
      expect(await refusal('still')).toBeInstanceOf(InstanceRunning);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await expect.poll(() => notifications, WAIT).toEqual(['away', 'back']);
    expect(await backendOf('still')).toBe(pid);
  });

  it('is lost once another process has had it, even if that process is gone', async () => {
    const { notifications } = await keep('taken');
    const other = new Client({ connectionString: database.url });
    await other.connect();
    // It waits in the server's queue, so it is next.
    const next = other.query(`SELECT pg_advisory_lock(hashtextextended('taken', 0))`);
    await sleep(100);
    await terminateHolder('taken');
    await next;
    await expect.poll(() => notifications, WAIT).toEqual(['away']);
    await sleep(500);
    expect(notifications).toEqual(['away']);
    await other.query(`UPDATE storage.instances SET holder = gen_random_uuid() WHERE name = 'taken'`);
    await other.end();
    await expect.poll(() => notifications, WAIT).toEqual(['away', 'taken']);
    await (await holdInstanceLock(database.url, 'taken')).release();
  });

  it('reports nothing on its own release', async () => {
    const { lock, notifications } = await keep('released');
    await lock.release();
    await sleep(200);
    expect(notifications).toEqual([]);
  });
});

describe('processes that share a lock', () => {
  it('may be any number, and exclude a process that wants it alone, whichever comes first', async () => {
    const [first, second] = [await keep('cluster', 'together'), await keep('cluster', 'together')];
    expect(await refusal('cluster')).toBeInstanceOf(InstanceRunning);
    await first.lock.release();
    expect(await refusal('cluster')).toBeInstanceOf(InstanceRunning);
    await second.lock.release();
    await keep('cluster');
    expect(await refusal('cluster', 'together')).toBeInstanceOf(InstanceRunning);
  });

  it('take it again after an outage, but not if a process had it alone', async () => {
    const { notifications } = await keep('outage', 'together');
    await terminateHolder('outage');
    await expect.poll(() => notifications, WAIT).toEqual(['away', 'back']);
    await admin.query(`UPDATE storage.instances SET holder = gen_random_uuid() WHERE name = 'outage'`);
    await terminateHolder('outage');
    await expect.poll(() => notifications, WAIT).toEqual(['away', 'back', 'away', 'taken']);
  });
});
