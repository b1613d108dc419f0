import { Controller } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { EventLog } from '@svc/contracts/messages';
import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { EventStrategy } from '../delivery/event-strategy.js';
import { type EventBatch, OnEvents } from '../delivery/on-events.js';
import { EventsModule } from '../events.module.js';
import { type Counted, Probe, counted, publishAll, upTo } from '../../test/counted-events.js';
import { PostgresEventLog } from './postgres-event-log.js';

/** What the table adds to each number, so that a number shows whether it was read from there. */
const FROM_TABLE = 100_000;

const fromTable = (...numbers: number[]): number[] => numbers.map((n) => n + FROM_TABLE);

const behaviour = { handle: async (_numbers: readonly number[]): Promise<void> => undefined };
const seen: number[] = [];

@Controller()
class Consumer {
  @OnEvents(counted, 'first')
  async handle(batch: EventBatch<Counted>): Promise<void> {
    const numbers = batch.map(({ payload }) => payload.n);
    await behaviour.handle(numbers);
    seen.push(...numbers);
  }
}

let database: TestDatabase;
let probe: Probe;
const logs: PostgresEventLog[] = [];
const apps: { close(): Promise<void> }[] = [];

function otherProcess(): PostgresEventLog {
  const log = new PostgresEventLog({ url: database.url });
  logs.push(log);
  return log;
}

interface Started {
  readonly log: EventLog;
  readonly strategy: EventStrategy;
  /** What it has read before. */
  readonly earlier: readonly number[];
}

/** A process that has read the log to its end, and does not look at the table by itself. */
async function start(): Promise<Started> {
  const root = {
    module: class Root {},
    imports: [EventsModule.postgres({ url: database.url, isAlone: true })],
    controllers: [Consumer],
  };
  const app = await NestFactory.create(root, new FastifyAdapter(), { logger: false });
  const strategy = app.get<EventStrategy>(EventStrategy);
  app.connectMicroservice({ strategy }, { inheritAppConfig: true });
  apps.push(app);
  await app.startAllMicroservices();
  // The log may have nothing to drain, and the first number shows the claim.
  await vi.waitFor(
    async () => {
      await publishAll(app.get(EventLog), 0, 0);
      await strategy.drained(counted.topic, 'first');
      expect(seen.at(-1)).toBe(0);
    },
    { timeout: 20_000 },
  );
  const earlier = seen.splice(0).filter((n) => n % FROM_TABLE !== 0);
  return { log: app.get(EventLog), strategy, earlier };
}

/** Publishes numbers, one after the other has been handled. */
async function publishEach(log: EventLog, numbers: readonly number[]): Promise<void> {
  for (const n of numbers) {
    const before = seen.length;
    await publishAll(log, n, n);
    await vi.waitFor(() => expect(seen.length).toBeGreaterThan(before), { timeout: 10_000 });
  }
}

beforeAll(async () => {
  database = await startTestDatabase();
  probe = new Probe(database.url);
  await probe.open();
  await probe.query(
    `CREATE FUNCTION mark() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       NEW.payload := jsonb_set(NEW.payload::jsonb, '{n}', to_jsonb((NEW.payload::jsonb->>'n')::int + ${FROM_TABLE}))::text;
       RETURN NEW;
     END $$`,
  );
  await probe.query('CREATE TRIGGER mark BEFORE INSERT ON events.log FOR EACH ROW EXECUTE FUNCTION mark()');
});

beforeEach(async () => {
  behaviour.handle = async () => undefined;
  seen.length = 0;
  await probe.clear();
});

afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
  for (const log of logs.splice(0)) await log.onApplicationShutdown();
});

afterAll(async () => {
  await probe.close();
  await database.stop();
});

it('takes what its own process has stored from memory, in order and once', async () => {
  const { log, strategy } = await start();
  await publishAll(log, 1, 700);
  await publishAll(log, 701, 1_000);
  await strategy.drained(counted.topic, 'first');
  expect(seen).toEqual(upTo(1_000));
});

it('reads what an earlier process has stored from the table', async () => {
  await publishAll(otherProcess(), 1, 300);
  const { earlier } = await start();
  expect(earlier).toEqual(fromTable(...upTo(300)));
});

it('reads from the table where another process has stored something in between', async () => {
  const { log } = await start();
  await publishEach(log, [1]);
  await publishAll(otherProcess(), 2, 3);
  await publishEach(log, [4, 5]);
  expect(seen).toEqual([1, ...fromTable(2, 3, 4), 5]);
});

it('finds what another process has stored last, when a caller waits for it', async () => {
  const { log, strategy } = await start();
  await publishEach(log, [1]);
  await publishAll(log, 2, 2);
  await publishAll(otherProcess(), 3, 3);
  await strategy.drained(counted.topic, 'first');
  expect(seen).toEqual([1, 2, ...fromTable(3)]);
});

it('keeps the order of the log when another transaction has its ids first and commits later', async () => {
  const { log } = await start();
  await publishEach(log, [1]);
  await probe.query('BEGIN');
  await probe.query(`SELECT events.append('{counted.v1}', '{ada}', '{"{\\"owner\\":\\"ada\\",\\"n\\":2}"}')`);
  const later = publishAll(log, 3, 3);
  await vi.waitFor(async () =>
    expect(
      await probe.query(`SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`),
    ).not.toEqual([]),
  );
  await probe.query('COMMIT');
  await later;
  await vi.waitFor(() => expect(seen).toHaveLength(3));
  await publishEach(log, [4]);
  expect(seen).toEqual([1, ...fromTable(2, 3), 4]);
});

it('skips nothing after a transaction that was rolled back, and after a failed commit', async () => {
  const { log } = await start();
  await publishEach(log, [1]);
  await probe.query('BEGIN');
  await probe.query(`SELECT events.append('{counted.v1}', '{ada}', '{"{\\"owner\\":\\"ada\\",\\"n\\":9}"}')`);
  await probe.query('ROLLBACK');
  await publishEach(log, [2, 3]);
  await probe.query(
    `ALTER TABLE events.log ADD CONSTRAINT refuse CHECK (payload NOT LIKE '%: ${FROM_TABLE + 4}%') NOT VALID`,
  );
  await expect(publishAll(log, 4, 4)).rejects.toThrow('could not be stored');
  await probe.query('ALTER TABLE events.log DROP CONSTRAINT refuse');
  await publishEach(log, [5, 6]);
  expect(seen).toEqual([1, ...fromTable(2), 3, ...fromTable(5), 6]);
});

it('reads from the table again when its handler has failed, or its connection was lost', async () => {
  const { log, strategy } = await start();
  let failures = 1;
  behaviour.handle = async () => {
    if (failures-- > 0) throw new Error('not now');
  };
  await publishEach(log, [1, 2]);
  await probe.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'events (consume)'`,
  );
  await publishAll(log, 3, 3);
  await vi.waitFor(() => strategy.drained(counted.topic, 'first'), { timeout: 20_000 });
  await publishEach(log, [4]);
  // The batch that could not be committed was handled once from memory.
  expect(seen).toEqual([...fromTable(1), 2, 3, ...fromTable(3), 4]);
});

it('hands over what it has not handled to the next process', async () => {
  const { log } = await start();
  const handling = Promise.withResolvers<void>();
  behaviour.handle = () => {
    handling.resolve();
    return Promise.reject(new Error('never'));
  };
  await publishAll(log, 1, 3);
  await handling.promise;
  for (const app of apps.splice(0)) await app.close();
  behaviour.handle = async () => undefined;
  const { earlier } = await start();
  expect(earlier).toEqual(fromTable(1, 2, 3));
});

it(
  'reads what has gathered beyond its memory from the table, and misses nothing',
  { timeout: 60_000 },
  async () => {
    const { log, strategy } = await start();
    const stopped = Promise.withResolvers<void>();
    behaviour.handle = () => stopped.promise;
    await publishAll(log, 1, 12_000);
    stopped.resolve();
    await strategy.drained(counted.topic, 'first');
    expect(seen.map((n) => n % FROM_TABLE)).toEqual(upTo(12_000));
    expect(seen.some((n) => n > FROM_TABLE)).toBe(true);
    expect(seen.at(-1)).toBe(12_000);
  },
);
