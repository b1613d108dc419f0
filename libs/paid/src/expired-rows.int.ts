import type { JobRun, JobWorker } from '@svc/jobs';
import { Database, createPool } from '@svc/storage';
import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ExpiredRowsStore } from './expired-rows.store.js';
import { ExpiredRowsWorker } from './expired-rows.worker.js';

/** Rows of each table that are kept for a time, numbered by `n`, which have had it or have not. */
const INSERTS = {
  'gateway.sign_in_nonces': (age: string) =>
    `(wallet, nonce, expires_at) SELECT 'w', '${age}' || n, now() - interval '${age}'`,
  'gateway.console_tickets': (age: string) =>
    `(secret_sha256, subject, expires_at) SELECT sha256(convert_to('${age}' || n, 'UTF8')), 's', now() - interval '${age}'`,
  'gateway.repeated_requests': (age: string) =>
    `(account_id, key, body_sha256, request_id, lease_until, expires_at)
     SELECT gen_random_uuid(), n::text, '', 'r', now(), now() - interval '${age}'`,
  'gateway.voices': (age: string) =>
    `(id, account_id, model, type, sample, expires_at)
     SELECT '${age}' || n, gen_random_uuid(), 'm', 't', '', now() - interval '${age}'`,
  'gateway.failed_requests': (age: string) =>
    `(request_id, at, route, status, duration_ms)
     SELECT '${age}' || n, now() - interval '30 days' - interval '${age}', 'r', 402, 1`,
};

let test: TestDatabase;
let database: Database;

beforeAll(async () => {
  test = await startTestDatabase();
  database = new Database(createPool(test.url, { name: 'gateway' }));
});

afterAll(async () => {
  await database.onApplicationShutdown();
  await test.stop();
});

async function add(count: number, age: string): Promise<void> {
  for (const [table, rows] of Object.entries(INSERTS))
    await database.query(`INSERT INTO ${table} ${rows(age)} FROM generate_series(1, ${count}) AS n`);
}

async function counts(): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const table of Object.keys(INSERTS)) {
    const [row] = await database.query<{ count: bigint }>(`SELECT count(*) FROM ${table}`);
    found[table] = Number(row?.count);
  }
  return found;
}

/** The work of the scheduled job. */
function deleting(): JobWorker<unknown> {
  let registered: JobWorker<unknown> | undefined;
  const workers = {
    work: (_job: unknown, worker: unknown) => void (registered = worker as JobWorker<unknown>),
  };
  new ExpiredRowsWorker(new ExpiredRowsStore(database), workers).onModuleInit();
  if (!registered) throw new Error('no worker');
  return registered;
}

const runOf = (signal: AbortSignal): JobRun => ({ attempt: 1, dueAt: new Date(), signal });

it('deletes every row whose time is over, however many there are, and no other', async () => {
  await add(10_003, '1 second');
  await add(5, '-1 hour');
  await deleting()({}, runOf(new AbortController().signal));
  expect(await counts()).toEqual({
    'gateway.sign_in_nonces': 5,
    'gateway.console_tickets': 5,
    'gateway.repeated_requests': 5,
    'gateway.voices': 5,
    'gateway.failed_requests': 5,
  });
});

it('stops between two steps when the process stops', async () => {
  await add(5, '1 second');
  const before = await counts();
  await expect(deleting()({}, runOf(AbortSignal.abort(new Error('stop'))))).rejects.toThrow('stop');
  expect(await counts()).toEqual(before);
});
