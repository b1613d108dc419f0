import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { removeOld } from './retention.worker.js';
import { Probe } from '../../test/counted-events.js';

let database: TestDatabase;
let probe: Probe;

beforeAll(async () => {
  database = await startTestDatabase();
  probe = new Probe(database.url);
  await probe.open();
});

beforeEach(() => probe.clear());

const remove = (): Promise<number> => removeOld(database.url, new AbortController().signal);

afterAll(async () => {
  await probe.close();
  await database.stop();
});

it('removes old events that every group has handled, and no others', async () => {
  await probe.query(
    `INSERT INTO events.log (topic, key, payload, at)
     SELECT topic, 'k', 'p', now() - make_interval(days => days) FROM (VALUES
       ('counted.v1', 8), ('counted.v1', 8), ('counted.v1', 8), ('counted.v1', 1),
       ('unheard.v1', 8), ('unheard.v1', 1), ('counted.v1.dead', 8), ('counted.v1.dead', 100)
     ) AS old (topic, days)`,
  );
  await probe.query(
    `INSERT INTO events.offsets ("group", topic, last_id)
     SELECT 'ahead', 'counted.v1', max(id) FROM events.log UNION ALL
     SELECT 'behind', 'counted.v1', min(id) + 1 FROM events.log`,
  );
  expect(await remove()).toBe(4);
  const left = await probe.query(
    `SELECT topic, extract(day FROM now() - at)::int AS days FROM events.log ORDER BY id`,
  );
  expect(left).toEqual([
    { topic: 'counted.v1', days: 8 },
    { topic: 'counted.v1', days: 1 },
    { topic: 'unheard.v1', days: 1 },
    { topic: 'counted.v1.dead', days: 8 },
  ]);
});

it('removes any number of events in steps', async () => {
  await probe.query(
    `INSERT INTO events.log (topic, key, payload, at)
     SELECT 'counted.v1', 'k', 'p', now() - interval '8 days' FROM generate_series(1, 2500)`,
  );
  expect(await remove()).toBe(2_500);
});
