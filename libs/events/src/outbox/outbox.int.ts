import { inStep, tracing } from '@svc/telemetry';
import { Database, createPool } from '@svc/storage';
import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { silent } from '../delivery/logger.js';
import { PostgresEventLog } from '../postgres/postgres-event-log.js';
import { Probe, counted, upTo } from '../../test/counted-events.js';
import { Outbox } from './outbox.js';
import { addToOutbox } from './outbox.store.js';

let test: TestDatabase;
let probe: Probe;
let database: Database;
let log: PostgresEventLog;
let outboxes: Outbox[];

beforeAll(async () => {
  test = await startTestDatabase();
  probe = new Probe(test.url);
  await probe.open();
});

beforeEach(async () => {
  await probe.clear();
  await probe.query('TRUNCATE events.outbox');
  database = new Database(createPool(test.url, { name: 'outbox of a test' }));
  log = new PostgresEventLog({ url: test.url, publishMs: 2_500 });
  outboxes = [1, 2].map(() => new Outbox({ database, log, logger: silent }));
});

afterEach(async () => {
  for (const outbox of outboxes) await outbox.beforeApplicationShutdown();
  await log.onApplicationShutdown();
  await database.onApplicationShutdown();
});

afterAll(async () => {
  await probe.close();
  await test.stop();
});

/** Adds numbers to the outbox in one transaction. */
const note = (from: number, to: number): Promise<void> =>
  database.transaction(async (client) => {
    for (let n = from; n <= to; n += 1)
      await addToOutbox((sql, values) => client.query(sql, [...values]), counted, { owner: 'ada', n });
  });

const published = async (): Promise<number[]> => {
  const rows = await probe.query<{ payload: string }>('SELECT payload FROM events.log ORDER BY id');
  return rows.map(({ payload }) => (JSON.parse(payload) as { n: number }).n);
};
const eventually = (holds: () => Promise<void>): Promise<void> => vi.waitFor(holds, { timeout: 20_000 });

it('publishes what was committed, in order, and then deletes it, with several outboxes running', async () => {
  for (const outbox of outboxes) outbox.onApplicationBootstrap();
  await note(1, 700);
  await note(701, 710);
  for (const outbox of outboxes) outbox.wake();
  await eventually(async () => expect([...new Set(await published())]).toEqual(upTo(710)));
  await eventually(async () => expect(await probe.query('SELECT 1 FROM events.outbox')).toEqual([]));
});

it('publishes an event with the trace context of its request, if that is traced', async () => {
  const settings = {
    ratio: 1,
    slowMs: 1e6,
    keptPerSecond: 0,
    continuesClients: false,
    asksParent: true,
    propagation: { extract: () => undefined, inject: () => undefined },
  };
  const end = tracing.record(settings, { take: () => undefined });
  const arrival = { name: 'PUT /x', id: 'ab'.repeat(16), startMs: 0, headers: {} };
  await inStep(tracing.forClient(arrival).root, () => note(1, 1)).finally(end);
  await note(2, 2);
  for (const outbox of outboxes) outbox.onApplicationBootstrap();
  await eventually(async () => expect([...new Set(await published())]).toEqual([1, 2]));
  const rows = await probe.query<{ traceparent: string | null }>(
    'SELECT DISTINCT ON (payload) traceparent FROM events.log ORDER BY payload',
  );
  expect(rows).toEqual([
    { traceparent: expect.stringMatching(/^00-(ab){16}-[0-9a-f]{16}-01$/) as string },
    { traceparent: null },
  ]);
});

it('publishes nothing of a transaction that was rolled back', async () => {
  for (const outbox of outboxes) outbox.onApplicationBootstrap();
  const failed = database.transaction(async (client) => {
    await addToOutbox((sql, values) => client.query(sql, [...values]), counted, { owner: 'ada', n: 1 });
    throw new Error('no');
  });
  await expect(failed).rejects.toThrow('no');
  await note(2, 2);
  await eventually(async () => expect(await published()).toEqual([2]));
});

it('publishes what another process added, and what was added while the log was down', async () => {
  await note(1, 3);
  await probe.query('ALTER TABLE events.log RENAME TO log_away');
  for (const outbox of outboxes) outbox.onApplicationBootstrap();
  await note(4, 5);
  for (const outbox of outboxes) outbox.wake();
  await new Promise((resolve) => setTimeout(resolve, 300));
  await probe.query('ALTER TABLE events.log_away RENAME TO log');
  await eventually(async () => expect([...new Set(await published())]).toEqual([1, 2, 3, 4, 5]));
});

it('publishes soon what its own process added, however rarely it looks', async () => {
  const rare = new Outbox({ database, log, logger: silent, pollMs: 60_000 });
  outboxes.push(rare);
  rare.onApplicationBootstrap();
  await new Promise((resolve) => setTimeout(resolve, 200));
  await note(1, 3);
  await eventually(async () => expect(await published()).toEqual([1, 2, 3]));
});
