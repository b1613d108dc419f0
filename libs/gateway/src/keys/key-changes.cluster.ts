import { setTimeout as sleep } from 'node:timers/promises';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { EVENTS } from '@svc/contracts/messages';
import { NewApiKey } from '@svc/api/keys';
import { Problem } from '@svc/contracts/problems';
import { UsageHistory } from '@svc/contracts/ports';
import { EventStrategy, EventsModule, createTopics, kafkaConfig, kafkaConnection } from '@svc/events';
import { type Infra, temporaryInfra } from '@svc/infra';
import { LoggerModule, RequestSteps, createLogger, loadConfig } from '@svc/runtime';
import { StorageModule } from '@svc/storage';
import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { BatchedLookups, KeyCache } from '@svc/identity/auth';
import { KeyStore, AccountStore } from '@svc/identity/accounts';
import { EndUserLimitsStore, EndUsers } from '@svc/identity/end-users';
import { IdentitySettings, identityConfig } from '@svc/identity';
import { ApiKeys } from './api-keys.js';
import { KeyChanges, KeyChangesConsumer } from './key-changes.js';

let infra: Infra;
let database: TestDatabase;
let connection: ReturnType<typeof kafkaConnection>;
const apps: NestFastifyApplication[] = [];

/** Starts the part of a gateway that manages and caches keys. */
async function startGateway(): Promise<NestFastifyApplication> {
  const root = {
    module: class Keys {},
    imports: [
      LoggerModule.of(createLogger('silent')),
      StorageModule.at({ url: database.url }),
      EventsModule.kafka(connection),
    ],
    controllers: [KeyChangesConsumer],
    providers: [
      { provide: IdentitySettings, useValue: { config: loadConfig(identityConfig, {}), operatorToken: '' } },
      { provide: UsageHistory, useValue: undefined },
      RequestSteps,
      AccountStore,
      ApiKeys,
      BatchedLookups,
      KeyCache,
      KeyChanges,
      KeyStore,
      EndUserLimitsStore,
      EndUsers,
    ],
  };
  const app = await NestFactory.create<NestFastifyApplication>(root, new FastifyAdapter(), {
    logger: false,
    abortOnError: false,
  });
  app.connectMicroservice({ strategy: app.get(EventStrategy) });
  await app.startAllMicroservices();
  await app.init();
  apps.push(app);
  return app;
}

beforeAll(async () => {
  infra = await temporaryInfra();
  const [broker, ownDatabase] = await Promise.all([infra.kafka.start(), startTestDatabase()]);
  const variables = { KAFKA_BROKERS: broker, ...(await infra.kafka.credentials()) };
  connection = kafkaConnection(loadConfig(kafkaConfig, variables));
  database = ownDatabase;
  await createTopics(connection, EVENTS, {
    partitions: 3,
    replicas: 1,
    minInSyncReplicas: 1,
    retentionDays: 1,
  });
});

afterAll(async () => {
  await Promise.all(apps.map((app) => app.close()));
  await database?.stop();
  await infra?.wipe();
});

/** Pause between calls of a gateway, so that a hundred calls take at least one second. */
const PAUSE_MS = 10;
const WITHIN_A_SECOND = 100;

/**
 * Revokes a key through the first gateway that the second has cached. Returns how often the second accepted
 * it.
 */
async function timesBelieved(
  [one, two]: readonly NestFastifyApplication[],
  accountId: string,
): Promise<number> {
  const keys = one?.get(ApiKeys);
  const made = await keys?.create(accountId, NewApiKey.parse({ apiKeyType: 'INFERENCE', description: '' }));
  const isKnown = async (): Promise<boolean> => {
    try {
      await two?.get(KeyCache).identify(`Bearer ${made?.secret}`);
      return true;
    } catch (error) {
      if (Problem.from(error).code === 'AUTHENTICATION_FAILED') return false;
      throw error;
    }
  };
  expect(await isKnown()).toBe(true);
  await keys?.revoke(accountId, made?.key.id ?? '', 'operator:test');
  for (let times = 0; ; times += 1) {
    if (!(await isKnown())) return times;
    if (times > 30 * WITHIN_A_SECOND) throw new Error('it is believed for ever');
    await sleep(PAUSE_MS);
  }
}

/**
 * Suspends an account through the first gateway. Returns how often the second still served its cached key.
 */
async function timesServed(
  [one, two]: readonly NestFastifyApplication[],
  accountId: string,
  apiKey: string,
): Promise<number> {
  const accounts = one?.get(AccountStore);
  const isSuspended = async (): Promise<boolean> =>
    (await two?.get(KeyCache).identify(`Bearer ${apiKey}`))?.isSuspended === true;
  await vi.waitFor(async () => expect(await isSuspended()).toBe(false), { timeout: 30_000 });
  await accounts?.suspend(accountId, 'unpaid');
  one?.get(KeyChanges).made(accountId);
  let times = 0;
  while (!(await isSuspended())) {
    times += 1;
    if (times > 30 * WITHIN_A_SECOND) throw new Error('it is served for ever');
    await sleep(PAUSE_MS);
  }
  await accounts?.resume(accountId);
  one?.get(KeyChanges).made(accountId);
  return times;
}

it('suspends an account in every gateway within a second', async () => {
  const gateways = [await startGateway(), await startGateway()];
  const account = { name: 'Bob', tier: 'standard', paid: false } as const;
  const { id } = (await gateways[0]?.get(AccountStore).create(account)) ?? { id: '' };
  const key = NewApiKey.parse({ apiKeyType: 'INFERENCE', description: '' });
  const made = await gateways[0]?.get(ApiKeys).create(id, key);
  const times: number[] = [];
  while (times.length < 5) times.push(await timesServed(gateways, id, made?.secret ?? ''));
  // The median of five, since a busy machine may delay one of them.
  expect(times.toSorted((a, b) => a - b)[2]).toBeLessThanOrEqual(WITHIN_A_SECOND);
});

it('rejects a revoked key in every gateway within a second, even while Kafka is down', async () => {
  const gateways = [await startGateway(), await startGateway()];
  const account = { name: 'Ann', tier: 'standard', paid: false } as const;
  const { id } = (await gateways[0]?.get(AccountStore).create(account)) ?? { id: '' };
  const times = async (): Promise<number[]> => {
    const found: number[] = [];
    while (found.length < 5) found.push(await timesBelieved(gateways, id));
    return found.toSorted((a, b) => a - b);
  };
  /** The median of five, since a busy machine may delay one of them. */
  const usual = async (): Promise<number> => (await times())[2] ?? 0;
  const most = async (): Promise<number> => (await times())[4] ?? 0;
  expect(await usual()).toBeLessThanOrEqual(WITHIN_A_SECOND);
  await infra.kafka.kill();
  expect(await most()).toBeLessThanOrEqual(WITHIN_A_SECOND);
  await infra.kafka.start();
  expect(await usual()).toBeLessThanOrEqual(WITHIN_A_SECOND);
  await infra.kafka.pause();
  expect(await most()).toBeLessThanOrEqual(WITHIN_A_SECOND);
  await infra.kafka.resume();
  expect(await usual()).toBeLessThanOrEqual(WITHIN_A_SECOND);
});
