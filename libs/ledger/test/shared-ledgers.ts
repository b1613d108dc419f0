import 'reflect-metadata';
import { Global, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Accounting } from '@svc/contracts/accounting';
import { Books, Ledger, UsageHistory } from '@svc/contracts/ports';
import { EventLog } from '@svc/contracts/messages';
import { EventStrategy, EventsModule } from '@svc/events';
import { HoldBook } from '@svc/hold-book';
import { JobWorkers } from '@svc/jobs';
import {
  InternalToken,
  LoggerModule,
  Readiness,
  type Running,
  createLogger,
  loadConfig,
  serve,
} from '@svc/runtime';
import { Database, StorageModule } from '@svc/storage';
import type { TestRedis } from '@svc/storage/testing';
import { Redis } from 'ioredis';
import { ledgerClientConfig, sharedLedgerConfig } from '../src/ledger.config.js';
import type { SharedLedgerConfig } from '../src/ledger.config.js';
import { Clock } from '../src/clock.js';
import { LedgerApiModule } from '../src/ledger-api.module.js';
import { LedgerClientModule } from '../src/ledger-client.module.js';
import { LedgerModule } from '../src/ledger.module.js';
import { Poster } from '../src/posting/poster.js';
import { Staking } from '../src/staking/staking.js';
import type { RenewingLedger } from '../src/renewing-ledger.js';
import {
  FailingLog,
  FailingLogModule,
  type LedgerOptions,
  type RunningLedger,
  startLedgerOf,
} from './testing.js';

const TOKEN = 'internal-token-of-the-tests-of-the-ledger';
/** Enough for the busiest machine. */
const WAIT_MS = 60_000;

function sharedConfig(redisUrl: string, more: Partial<SharedLedgerConfig> = {}): SharedLedgerConfig {
  return {
    ...loadConfig(sharedLedgerConfig, { REDIS_URL: redisUrl }),
    LEDGER_REDIS_WAIT_MS: WAIT_MS,
    ...more,
  };
}

/** The number of holds on a Redis, over all accounts. */
async function heldOn(redisUrl: string): Promise<number> {
  const redis = new Redis(redisUrl);
  let count = 0;
  for (const key of await redis.keys('svc:holds:*:holds')) count += await redis.hlen(key);
  redis.disconnect();
  return count;
}

/** Deletes all holds. */
export async function forgetHolds(redisUrl: string): Promise<void> {
  const redis = new Redis(redisUrl);
  await redis.flushall();
  redis.disconnect();
}

/** A ledger in this process, with its holds on Redis. */
export async function startShared(
  redis: Pick<TestRedis, 'url'>,
  { config, ...options }: LedgerOptions,
): Promise<RunningLedger> {
  const running = await startLedgerOf(LedgerModule.shared(sharedConfig(redis.url, config)), options);
  return { ...running, held: () => heldOn(redis.url) };
}

@Global()
@Module({
  providers: [{ provide: JobWorkers, useValue: { work: () => undefined } satisfies JobWorkers }],
  exports: [JobWorkers],
})
class NoWorkersModule {}

@Module({})
class Root {}

/** A process that serves the ledger to others. */
async function serveLedger(
  redis: Pick<TestRedis, 'url'>,
  { url, config, clock }: Omit<LedgerOptions, 'consume'>,
): Promise<Running> {
  const running = await serve({
    module: {
      module: Root,
      imports: [
        StorageModule.at({ url }),
        EventsModule.postgres({ url, pollMs: 50 }),
        NoWorkersModule,
        LedgerApiModule.with({ config: sharedConfig(redis.url, config), token: new InternalToken(TOKEN) }),
      ],
    },
    logger: createLogger('silent'),
    api: { host: '127.0.0.1', port: 0 },
    events: (app) => app.get(EventStrategy, { strict: false }),
    drainMs: 1_000,
  });
  if (clock) running.app.get(Clock, { strict: false }).now = () => clock.now();
  return running;
}

/** A ledger as a settling process sees it, with another process that keeps the books. */
export async function startOverHttp(
  redis: Pick<TestRedis, 'url'>,
  options: LedgerOptions,
): Promise<RunningLedger> {
  await forgetHolds(redis.url);
  const server = await serveLedger(redis, options);
  const client = await startClient(server.apiUrl, options);
  const part = <Part>(token: abstract new (...args: never[]) => Part): Part =>
    server.app.get(token, { strict: false });
  return {
    app: server.app,
    ...client,
    poster: part(Poster),
    holdBook: part(HoldBook),
    database: part(Database),
    readiness: part(Readiness),
    staking: part(Staking),
    workers: part(JobWorkers) as RunningLedger['workers'],
    held: () => heldOn(redis.url),
    stop: async () => {
      await client.stop();
      await server.stop();
    },
  };
}

/** A process that settles, and calls ledgers in other processes. */
interface LedgerClient {
  readonly ledger: RenewingLedger;
  readonly accounting: Accounting;
  readonly books: Books;
  readonly history: UsageHistory;
  readonly log: FailingLog;
  stop(): Promise<void>;
}

/** `urls` are the ledgers' URLs, separated by commas. */
async function startClient(
  urls: string,
  { url, env = {} }: { readonly url: string; readonly env?: Record<string, string> },
): Promise<LedgerClient> {
  const config = loadConfig(ledgerClientConfig, {
    LEDGER_URL: urls,
    LEDGER_WAIT_MS: String(WAIT_MS),
    ...env,
  });
  const client = LedgerClientModule.at({ config, token: TOKEN });
  const app = await NestFactory.createApplicationContext(
    {
      module: Root,
      imports: [
        LoggerModule.of(createLogger('silent')),
        EventsModule.postgres({ url, pollMs: 50 }),
        {
          ...client,
          imports: [FailingLogModule],
          providers: [...(client.providers ?? []), { provide: EventLog, useExisting: FailingLog }],
        },
      ],
    },
    { logger: false, abortOnError: false },
  );
  const part = <Part>(token: abstract new (...args: never[]) => Part): Part =>
    app.get(token, { strict: false });
  return {
    ledger: part(Ledger) as RenewingLedger,
    accounting: part(Accounting),
    books: part(Books),
    history: part(UsageHistory),
    log: part(FailingLog),
    stop: () => app.close(),
  };
}
