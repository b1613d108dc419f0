import { Catch, Controller, type ExceptionFilter } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { EventLog, defineEvent } from '@svc/contracts';
import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { EventStrategy } from './event-strategy.js';
import { EventsModule } from './events.module.js';
import { type EventBatch, OnEvents } from './on-events.js';
import { PostgresEventLog } from './postgres-event-log.js';
import { PostgresEventStrategy } from './postgres-event-strategy.js';
import { type Counted, Probe, counted, publishAll, upTo } from './testing.js';

type Handle = (batch: EventBatch<Counted>) => Promise<void>;

/** What the handlers below do; each test sets it. */
const behaviour: { first: Handle; second: Handle } = {
  first: async () => undefined,
  second: async () => undefined,
};

@Controller()
class Consumers {
  @OnEvents(counted, 'first')
  onFirst(batch: EventBatch<Counted>): Promise<void> {
    return behaviour.first(batch);
  }

  @OnEvents(counted, 'second')
  onSecond(batch: EventBatch<Counted>): Promise<void> {
    return behaviour.second(batch);
  }
}

/** Like a filter of an HTTP application, which knows nothing of events. */
@Catch()
class Swallow implements ExceptionFilter {
  catch(): void {
    // Whatever it was, it ends here.
  }
}

let database: TestDatabase;
let probe: Probe;
const logs: PostgresEventLog[] = [];
const apps: { close(): Promise<void> }[] = [];

const offsetOf = async (group: string): Promise<number> => {
  const rows = await probe.query<{ handled: number }>(
    `SELECT (SELECT count(*) FROM events.log l WHERE l.topic = o.topic AND l.id <= o.last_id)::int AS handled
     FROM events.offsets o WHERE "group" = $1 AND topic = 'counted.v1'`,
    [group],
  );
  return rows[0]?.handled ?? 0;
};

/** The log of another process. */
function openLog(): PostgresEventLog {
  const log = new PostgresEventLog({ url: database.url });
  logs.push(log);
  return log;
}

interface Consuming {
  readonly log: EventLog;
  readonly strategy: PostgresEventStrategy;
}

async function consume(
  config: { pollMs?: number; batchMax?: number; stopMs?: number } = {},
): Promise<Consuming> {
  const root = {
    module: class Root {},
    imports: [EventsModule.postgres({ url: database.url, ...config })],
    controllers: [Consumers],
  };
  const app = await NestFactory.create(root, new FastifyAdapter(), { logger: false });
  app.useGlobalFilters(new Swallow());
  const strategy = app.get<PostgresEventStrategy>(EventStrategy);
  app.connectMicroservice({ strategy }, { inheritAppConfig: true });
  apps.push(app);
  await app.startAllMicroservices();
  return { log: app.get(EventLog), strategy };
}

/** Remembers the numbers of the events that a handler gets. */
function collect(): { seen: number[]; batches: number[]; handle: Handle } {
  const seen: number[] = [];
  const batches: number[] = [];
  return {
    seen,
    batches,
    handle: async (batch) => {
      batches.push(batch.length);
      seen.push(...batch.map(({ payload }) => payload.n));
    },
  };
}

beforeAll(async () => {
  database = await startTestDatabase();
  probe = new Probe(database.url);
  await probe.open();
});

beforeEach(async () => {
  behaviour.first = behaviour.second = async () => undefined;
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

it('gives each group every event once, in order and in batches', async () => {
  const first = collect();
  const second = collect();
  behaviour.first = first.handle;
  behaviour.second = second.handle;
  await publishAll(openLog(), 1, 1_200);
  const { strategy } = await consume({ batchMax: 500 });
  await strategy.drained('counted.v1', 'first');
  await strategy.drained('counted.v1', 'second');
  expect(first.seen).toEqual(upTo(1_200));
  expect(second.seen).toEqual(upTo(1_200));
  expect(first.batches).toEqual([500, 500, 200]);
});

it('passes the id, the key and the parsed payload', async () => {
  const got = Promise.withResolvers<EventBatch<Counted>>();
  behaviour.first = async (batch) => got.resolve(batch);
  const { log } = await consume();
  await log.publish(counted, { owner: 'ada', n: 1 });
  const [row] = await probe.query<{ id: string }>('SELECT id FROM events.log');
  expect(await got.promise).toEqual([
    { id: BigInt(row?.id ?? 0), key: 'ada', payload: { owner: 'ada', n: 1 } },
  ]);
});

it('is woken by a commit of its own process', async () => {
  const first = collect();
  behaviour.first = first.handle;
  const { log } = await consume({ pollMs: 3_600_000 });
  await publishAll(log, 1, 1);
  await vi.waitFor(() => expect(first.seen).toEqual([1]));
  await publishAll(log, 2, 2);
  await vi.waitFor(() => expect(first.seen).toEqual([1, 2]));
});

it('finds the events of another process', async () => {
  const first = collect();
  behaviour.first = first.handle;
  await consume({ pollMs: 20 });
  await publishAll(openLog(), 1, 3);
  await vi.waitFor(() => expect(first.seen).toEqual([1, 2, 3]));
});

it('delivers a batch again until its handler succeeds, even under a filter that swallows errors', async () => {
  const first = collect();
  let failures = 2;
  behaviour.first = async (batch) => {
    if (failures-- > 0) throw new Error('not now');
    await first.handle(batch);
  };
  const { log, strategy } = await consume();
  await publishAll(log, 1, 5);
  await strategy.drained('counted.v1', 'first');
  expect(first.seen).toEqual([1, 2, 3, 4, 5]);
  expect(failures).toBe(-1);
  expect(strategy.consumers().map(({ group, handled, failures: now }) => ({ group, handled, now }))).toEqual([
    { group: 'first', handled: 5, now: 0 },
    { group: 'second', handled: 5, now: 0 },
  ]);
});

it('is not held up by the failures of another group', async () => {
  const second = collect();
  behaviour.first = async () => {
    throw new Error('never');
  };
  behaviour.second = second.handle;
  const { log, strategy } = await consume();
  await publishAll(log, 1, 5);
  await strategy.drained('counted.v1', 'second');
  expect(second.seen).toEqual([1, 2, 3, 4, 5]);
  expect(await offsetOf('first')).toBe(0);
  await expect(strategy.drained('counted.v1', 'first', 100)).rejects.toThrow('within 100 ms');
});

it('delivers again what was handled but not yet noted when the connection broke', async () => {
  const first = collect();
  let broken = false;
  behaviour.first = async (batch) => {
    await first.handle(batch);
    if (broken) return;
    broken = true;
    await probe.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'events (consume)'`,
    );
  };
  const { log, strategy } = await consume();
  await publishAll(log, 1, 3);
  await vi.waitFor(() => strategy.drained('counted.v1', 'first'), { timeout: 10_000 });
  expect(first.seen).toEqual([1, 2, 3, 1, 2, 3]);
});

it('puts unreadable events aside, counts them and goes on', async () => {
  const first = collect();
  behaviour.first = first.handle;
  await probe.query(
    `INSERT INTO events.log (topic, key, payload) VALUES
     ('counted.v1', 'ada', '{"owner":"ada","n":1}'), ('counted.v1', 'ada', '{"owner":"ada","n":"one"}'),
     ('counted.v1', 'ada', 'no "JSON" \\'), ('counted.v1', 'ada', '{"owner":"ada","n":2}')`,
  );
  const { strategy } = await consume();
  await strategy.drained('counted.v1', 'first');
  expect(first.seen).toEqual([1, 2]);
  expect(strategy.consumers().find(({ group }) => group === 'first')).toMatchObject({
    handled: 2,
    dead: 2,
  });
  await strategy.drained('counted.v1', 'second');
  const dead = await probe.query<{ payload: string }>(
    `SELECT payload FROM events.log WHERE topic = 'counted.v1.dead' ORDER BY id LIMIT 2`,
  );
  expect(dead).toEqual([{ payload: '{"owner":"ada","n":"one"}' }, { payload: 'no "JSON" \\' }]);
});

it('goes on where the group stopped', async () => {
  const first = collect();
  behaviour.first = first.handle;
  const one = await consume();
  await publishAll(one.log, 1, 3);
  await one.strategy.drained('counted.v1', 'first');
  await apps.pop()?.close();
  await publishAll(openLog(), 4, 6);
  const two = await consume();
  await two.strategy.drained('counted.v1', 'first');
  expect(first.seen).toEqual([1, 2, 3, 4, 5, 6]);
});

it('has one consumer of a group at a time, and the next when that one ends', async () => {
  const first = collect();
  behaviour.first = first.handle;
  const one = await consume({ pollMs: 20 });
  const two = await consume({ pollMs: 20 });
  await publishAll(one.log, 1, 50);
  await one.strategy.drained('counted.v1', 'first');
  await two.strategy.drained('counted.v1', 'first');
  expect(first.seen).toEqual(upTo(50));
  await apps.shift()?.close();
  await publishAll(two.log, 51, 60);
  await two.strategy.drained('counted.v1', 'first');
  expect(first.seen).toEqual(upTo(60));
});

it('finishes the batch in hand when it is stopped', async () => {
  const started = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  behaviour.first = async () => {
    started.resolve();
    await release.promise;
  };
  const { log } = await consume({ batchMax: 2 });
  await publishAll(log, 1, 4);
  await started.promise;
  const closed = apps.pop()?.close();
  release.resolve();
  await closed;
  expect(await offsetOf('first')).toBe(2);
});

it('does not wait for ever for a handler that hangs', async () => {
  const started = Promise.withResolvers<void>();
  behaviour.first = () => {
    started.resolve();
    return new Promise(() => undefined);
  };
  const { log } = await consume({ stopMs: 100 });
  await publishAll(log, 1, 1);
  await started.promise;
  await apps.pop()?.close();
  expect(await offsetOf('first')).toBe(0);
});

it('rejects when called directly and the method throws, as any method', async () => {
  behaviour.first = async () => {
    throw new Error('direct');
  };
  await expect(new Consumers().onFirst([])).rejects.toThrow('direct');
});

it('refuses two handlers of one group for one event', () => {
  const strategy = new PostgresEventStrategy({ url: database.url, log: openLog() });
  const extras = { group: 'first', event: counted };
  strategy.addHandler('counted.v1', async () => undefined, true, extras);
  expect(() => strategy.addHandler('counted.v1', async () => undefined, true, extras)).toThrow(
    'Two handlers',
  );
  expect(() => strategy.addHandler('plain.v1', async () => undefined, true)).toThrow('@OnEvents');
});

it('keeps topics apart', async () => {
  const first = collect();
  behaviour.first = first.handle;
  const { log, strategy } = await consume();
  await log.publish(defineEvent({ ...counted, topic: 'other.v1' }), { owner: 'ada', n: 99 });
  await publishAll(log, 1, 2);
  await strategy.drained('counted.v1', 'first');
  expect(first.seen).toEqual([1, 2]);
});
