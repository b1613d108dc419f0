import { defineEvent } from '@svc/contracts';
import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { EventNotStored, PostgresEventLog } from './postgres-event-log.js';
import { type Counted, Probe, counted, publishAll, upTo } from './testing.js';

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

it('resolves once the event is committed, in the order of the calls', async () => {
  const log = openLog();
  await publishAll(log, 1, 2_500);
  const rows = await probe.query<{ topic: string; key: string; payload: string }>(
    'SELECT topic, key, payload FROM events.log ORDER BY id',
  );
  expect(rows).toEqual(
    upTo(2_500).map((n) => ({
      topic: 'counted.v1',
      key: 'ada',
      payload: JSON.stringify({ owner: 'ada', n }),
    })),
  );
});

it('shares commits among the events that arrive together', async () => {
  const log = openLog();
  await publishAll(log, 1, 200);
  const [row] = await probe.query<{ commits: number }>(
    'SELECT count(DISTINCT at)::int AS commits FROM events.log',
  );
  expect(row?.commits).toBeLessThanOrEqual(2);
});

it('keeps every character of a payload', async () => {
  const log = openLog();
  const owner = 'quote " back \\ brace } comma , null \u0000 unit \u001e line \n ☃ 😀 half \ud800';
  await log.publish(defineEvent<Counted>({ ...counted, key: () => 'key' }), { owner, n: 1 });
  const [row] = await probe.query<{ payload: string }>('SELECT payload FROM events.log');
  expect(JSON.parse(row?.payload ?? '')).toEqual({ owner, n: 1 });
});

it.each(['', 'a\u001eb', 'a\u0000b'])(
  'refuses the key %j alone, and stores its neighbours',
  async (owner) => {
    const log = openLog();
    const results = await Promise.allSettled([
      log.publish(counted, { owner: 'ada', n: 1 }),
      log.publish(counted, { owner, n: 2 }),
      log.publish(counted, { owner: 'ada', n: 3 }),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await probe.query('SELECT count(*)::int AS stored FROM events.log')).toEqual([{ stored: 2 }]);
  },
);

it('tells every waiter when the events of its commit could not be stored, and goes on afterwards', async () => {
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

it('rejects at its deadline when the database does not answer', async () => {
  const log = openLog({ publishMs: 300 });
  await probe.query('BEGIN');
  await probe.query('LOCK TABLE events.log IN ACCESS EXCLUSIVE MODE');
  const first = log.publish(counted, { owner: 'ada', n: 1 });
  await expect(first).rejects.toBeInstanceOf(EventNotStored);
  await expect(log.publish(counted, { owner: 'ada', n: 2 })).rejects.toBeInstanceOf(EventNotStored);
  await probe.query('ROLLBACK');
  await vi.waitFor(() => log.publish(counted, { owner: 'ada', n: 3 }), { timeout: 10_000 });
});

it('refuses further events when too many wait', async () => {
  const log = openLog({ maxPending: 10 });
  const results = await Promise.allSettled(upTo(15).map((n) => log.publish(counted, { owner: 'ada', n })));
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
  await log.publish(counted, { owner: 'ada', n: 16 });
});

it('stores what waits before it closes, and refuses what comes later', async () => {
  const log = openLog();
  const waiting = publishAll(log, 1, 50);
  await log.onApplicationShutdown();
  logs.pop();
  await waiting;
  await expect(log.publish(counted, { owner: 'ada', n: 51 })).rejects.toBeInstanceOf(EventNotStored);
  expect(await probe.query('SELECT count(*)::int AS stored FROM events.log')).toEqual([{ stored: 50 }]);
});

it('goes on with a new connection after the server ended the old one', async () => {
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

it('never shows a later id before an earlier one, whoever writes', async () => {
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
