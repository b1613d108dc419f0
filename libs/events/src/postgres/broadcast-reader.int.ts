import { Catch, Controller, type ExceptionFilter } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { EventLog } from '@svc/contracts/messages';
import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { EventStrategy } from '../delivery/event-strategy.js';
import { EventsModule } from '../events.module.js';
import { type Broadcast, OnEveryProcess } from '../delivery/on-every-process.js';
import { PostgresEventLog } from './postgres-event-log.js';
import { BROADCAST_POLL_MS } from './postgres-event-strategy.js';
import { type Counted, Probe, counted, publishAll } from '../../test/counted-events.js';
import { Heard, eventually } from '../../test/event-harness.js';

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
const apps: NestFastifyApplication[] = [];

function openLog(): PostgresEventLog {
  const log = new PostgresEventLog({ url: database.url });
  logs.push(log);
  return log;
}

/** A process that is listening once this returns. */
async function listen(config: { broadcastPollMs?: number } = {}): Promise<Heard> {
  const heard = new Heard();
  @Controller()
  class Listener {
    @OnEveryProcess(counted)
    hear(news: Broadcast<Counted>): Promise<void> {
      return heard.hear(news);
    }
  }
  const root = {
    module: class Root {},
    imports: [EventsModule.postgres({ url: database.url, broadcastPollMs: 20, ...config })],
    controllers: [Listener],
  };
  const app = await NestFactory.create<NestFastifyApplication>(root, new FastifyAdapter(), { logger: false });
  app.useGlobalFilters(new Swallow());
  app.connectMicroservice({ strategy: app.get(EventStrategy) }, { inheritAppConfig: true });
  apps.push(app);
  await app.startAllMicroservices();
  await heard.untilListening((mark) => publishAll(app.get(EventLog), mark, mark));
  return heard;
}

const cutConnections = (): Promise<unknown> =>
  probe.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE application_name = 'events (broadcasts)' AND datname = current_database()`,
  );

beforeAll(async () => {
  database = await startTestDatabase();
  probe = new Probe(database.url);
  await probe.open();
});

beforeEach(() => probe.clear());

afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
  for (const log of logs.splice(0)) await log.onApplicationShutdown();
});

afterAll(async () => {
  await probe.close();
  await database.stop();
});

it('stores no position of a process', async () => {
  const heard = await listen();
  await publishAll(openLog(), 1, 1);
  await eventually(() => expect(heard.numbers).toEqual([1]));
  expect(await probe.query('SELECT 1 FROM events.offsets')).toEqual([]);
});

it('by default polls for events of other processes at least four times a second', () => {
  expect(BROADCAST_POLL_MS).toBeLessThanOrEqual(250);
});

it('is woken by a commit of its own process', async () => {
  const heard = await listen({ broadcastPollMs: 3_600_000 });
  await publishAll(apps[0]?.get(EventLog) ?? openLog(), 1, 1);
  await eventually(() => expect(heard.numbers).toEqual([1]));
});

it('reports possibly missing events when its connection breaks, and then delivers those published meanwhile', async () => {
  const heard = await listen();
  const log = openLog();
  await publishAll(log, 1, 1);
  await eventually(() => expect(heard.numbers).toEqual([1]));
  const before = heard.news.length;
  await probe.query('ALTER TABLE events.log RENAME TO log_away');
  await cutConnections();
  await eventually(() => expect(heard.missed.slice(before)).toContain(true));
  await probe.query('ALTER TABLE events.log_away RENAME TO log');
  await publishAll(log, 2, 2);
  await eventually(() => expect(heard.numbers).toEqual([1, 2]));
  await publishAll(log, 3, 3);
  await eventually(() => expect(heard.numbers).toEqual([1, 2, 3]));
  expect(heard.missed.at(-1)).toBe(false);
});

it('continues from the end of a log that has become shorter', async () => {
  const heard = await listen();
  const log = openLog();
  await publishAll(log, 1, 5);
  await eventually(() => expect(heard.numbers).toEqual([1, 2, 3, 4, 5]));
  await probe.query('TRUNCATE events.log RESTART IDENTITY');
  const before = heard.news.length;
  await cutConnections();
  await eventually(() => expect(heard.missed.slice(before)).toContain(true));
  // Events before the reader has found the new end are missed, as it reports.
  await vi.waitFor(
    async () => {
      await publishAll(log, 6, 6);
      expect(heard.numbers.at(-1)).toBe(6);
    },
    { timeout: 20_000 },
  );
});
