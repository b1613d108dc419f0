import { setTimeout as sleep } from 'node:timers/promises';
import { Catch, Controller, type ExceptionFilter } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { EventLog } from '@svc/contracts/messages';
import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { EventStrategy } from '../delivery/event-strategy.js';
import type { EventsLogger } from '../delivery/logger.js';
import { EventsModule } from '../events.module.js';
import { type EventBatch, OnEvents } from '../delivery/on-events.js';
import { PostgresEventLog } from './postgres-event-log.js';
import { PostgresEventStrategy } from './postgres-event-strategy.js';
import { type Counted, Probe, counted, publishAll, upTo } from '../../test/counted-events.js';

type Handle = (batch: EventBatch<Counted>) => Promise<void>;

/** The behaviour of the handlers below; each test sets it. */
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

/** Like an exception filter of an HTTP application, unaware of events. */
@Catch()
class Swallow implements ExceptionFilter {
  catch(): void {
    // Swallows any error.
  }
}

let database: TestDatabase;
let probe: Probe;
const logs: PostgresEventLog[] = [];
const apps: { close(): Promise<void> }[] = [];

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
  config: { pollMs?: number; batchMax?: number; stopMs?: number; logger?: EventsLogger } = {},
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

/** Collects the numbers of the events that a handler receives. */
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

it('is woken by a commit of its own process', async () => {
  const first = collect();
  behaviour.first = first.handle;
  const { log } = await consume({ pollMs: 3_600_000 });
  await publishAll(log, 1, 1);
  await vi.waitFor(() => expect(first.seen).toEqual([1]));
  await publishAll(log, 2, 2);
  await vi.waitFor(() => expect(first.seen).toEqual([1, 2]));
});

it('delivers again what was handled but not committed when the connection broke', async () => {
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

it('reads what has gathered in growing batches, and then in small ones again', async () => {
  const first = collect();
  behaviour.first = first.handle;
  const other = openLog();
  await publishAll(other, 1, 2_000);
  const { strategy } = await consume();
  await strategy.drained('counted.v1', 'first');
  expect(first.batches).toEqual([250, 500, 1_000, 250]);
  await publishAll(other, 2_001, 2_300);
  await strategy.drained('counted.v1', 'first');
  expect(first.seen).toEqual(upTo(2_300));
  expect(first.batches.slice(4).every((size) => size <= 250)).toBe(true);
});

it('has one consumer per group at a time, and another one when that ends', async () => {
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

it('warns once if a group waits long for its current consumer, and takes over in the end', async () => {
  const warnings: string[] = [];
  const logger = { warn: (message: string) => void warnings.push(message), error: () => undefined };
  vi.useFakeTimers({ toFake: ['Date'] });
  try {
    const one = await consume({ pollMs: 20 });
    await publishAll(one.log, 1, 1);
    for (const group of ['first', 'second']) await one.strategy.drained('counted.v1', group);
    const two = await consume({ pollMs: 20, logger });
    await sleep(200);
    expect(warnings).toEqual([]);
    vi.setSystemTime(Date.now() + 31_000);
    await vi.waitFor(() => expect(warnings).toHaveLength(2));
    await sleep(200);
    expect(warnings.toSorted()).toEqual([
      'first has waited 30 s for counted.v1, which another database session is reading',
      'second has waited 30 s for counted.v1, which another database session is reading',
    ]);
    await apps.shift()?.close();
    await publishAll(two.log, 2, 2);
    await two.strategy.drained('counted.v1', 'first');
  } finally {
    vi.useRealTimers();
  }
});

it('rejects if the method is called directly and throws, like any method', async () => {
  behaviour.first = async () => {
    throw new Error('direct');
  };
  await expect(new Consumers().onFirst([])).rejects.toThrow('direct');
});

it('rejects two handlers of one group for one event', () => {
  const strategy = new PostgresEventStrategy({ url: database.url, log: openLog() });
  const extras = { group: 'first', event: counted };
  strategy.addHandler('counted.v1', async () => undefined, true, extras);
  expect(() => strategy.addHandler('counted.v1', async () => undefined, true, extras)).toThrow(
    'Two handlers',
  );
  expect(() => strategy.addHandler('plain.v1', async () => undefined, true)).toThrow('@OnEvents');
});
