import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { EventNotStored } from '../publishing/group-commit-log.js';
import { PostgresEventLog } from './postgres-event-log.js';
import { Probe, counted, publishAll } from '../../test/counted-events.js';

let database: TestDatabase;
let probe: Probe;
const logs: PostgresEventLog[] = [];

function openLog(options: { publishMs?: number; maxPending?: number } = {}): PostgresEventLog {
  const log = new PostgresEventLog({ url: database.url, ...options });
  logs.push(log);
  return log;
}

beforeAll(async () => {
  database = await startTestDatabase();
  probe = new Probe(database.url);
  await probe.open();
});

beforeEach(async () => {
  await probe.clear();
});

afterEach(async () => {
  for (const log of logs.splice(0)) await log.onApplicationShutdown();
});

afterAll(async () => {
  await probe.close();
  await database.stop();
});

it('shares commits among events that arrive together', async () => {
  const log = openLog();
  await publishAll(log, 1, 200);
  const [row] = await probe.query<{ commits: number }>(
    'SELECT count(DISTINCT at)::int AS commits FROM events.log',
  );
  expect(row?.commits).toBeLessThanOrEqual(2);
});

it('rejects every waiting call if the commit failed, and works again afterwards', async () => {
  const log = openLog();
  await probe.query('ALTER TABLE events.log ADD CONSTRAINT refuse CHECK (false) NOT VALID');
  const results = await Promise.allSettled([1, 2, 3].map((n) => log.publish(counted, { owner: 'ada', n })));
  await probe.query('ALTER TABLE events.log DROP CONSTRAINT refuse');
  for (const result of results) {
    expect(result.status === 'rejected' && result.reason).toBeInstanceOf(EventNotStored);
  }
  await log.publish(counted, { owner: 'ada', n: 4 });
  expect(await probe.query('SELECT payload FROM events.log')).toEqual([{ payload: '{"owner":"ada","n":4}' }]);
});

it('reconnects after the server ended the connection', async () => {
  const log = openLog();
  await log.publish(counted, { owner: 'ada', n: 1 });
  await probe.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'events (publish)'`,
  );
  await vi.waitFor(() => log.publish(counted, { owner: 'ada', n: 2 }), { timeout: 10_000 });
  expect(await probe.query('SELECT payload FROM events.log ORDER BY id')).toEqual([
    { payload: '{"owner":"ada","n":1}' },
    { payload: '{"owner":"ada","n":2}' },
  ]);
});

it('never shows a later id before an earlier one, with several writers', async () => {
  const writers = [openLog(), openLog(), openLog()];
  const seen: bigint[] = [];
  const state = { writing: true };
  const watch = (async () => {
    while (state.writing) {
      const last = seen.at(-1) ?? 0n;
      const rows = await probe.query<{ id: string }>('SELECT id FROM events.log WHERE id > $1 ORDER BY id', [
        last,
      ]);
      seen.push(...rows.map(({ id }) => BigInt(id)));
    }
  })();
  await Promise.all(
    writers.map(async (log) => {
      for (let round = 0; round < 100; round += 1) await publishAll(log, 1, 5);
    }),
  );
  state.writing = false;
  await watch;
  const rows = await probe.query<{ id: string }>('SELECT id FROM events.log ORDER BY id');
  expect(rows).toHaveLength(1_500);
  expect(seen).toEqual(rows.slice(0, seen.length).map(({ id }) => BigInt(id)));
});
