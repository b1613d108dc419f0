import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, type Server, type Socket, connect, createServer } from 'node:net';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { type Caller, UsageHistory, perMinute } from '@svc/contracts/ports';
import { NewApiKey } from '@svc/api/keys';
import type { Problem } from '@svc/contracts/problems';
import { EventStrategy, EventsModule } from '@svc/events';
import { LoggerModule, RequestSteps, createLogger, loadConfig } from '@svc/runtime';
import { Database, StorageModule } from '@svc/storage';
import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { AccountLimitsStore, AccountStore, KeyStore } from '@svc/identity/accounts';
import { ApiKeys } from './api-keys.js';
import { BatchedLookups, KeyCache } from '@svc/identity/auth';
import { IdentitySettings, identityConfig } from '@svc/identity';
import { EndUserLimitsStore, EndUsers } from '@svc/identity/end-users';
import { KeyChanges, KeyChangesConsumer } from './key-changes.js';

/** A proxy for the database connection that can be cut. */
class Line {
  private readonly sockets = new Set<Socket>();
  private isCut = false;

  private constructor(
    readonly url: string,
    private readonly server: Server,
  ) {}

  static async to(databaseUrl: string): Promise<Line> {
    const { hostname, port } = new URL(databaseUrl);
    const server = createServer((near) => line.join(near, connect(Number(port), hostname)));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const url = new URL(databaseUrl);
    url.hostname = '127.0.0.1';
    url.port = String((server.address() as AddressInfo).port);
    const line = new Line(url.href, server);
    return line;
  }

  cut(): void {
    this.isCut = true;
    for (const socket of this.sockets) socket.destroy();
  }

  mend(): void {
    this.isCut = false;
  }

  async close(): Promise<void> {
    this.cut();
    this.server.close();
    await once(this.server, 'close');
  }

  private join(near: Socket, far: Socket): void {
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
    if (this.isCut) near.destroy();
  }
}

/** A process with a key cache, and its connections to the database and the event log. */
interface Gateway {
  readonly app: NestFastifyApplication;
  readonly gate: KeyCache;
  readonly keys: ApiKeys;
  readonly data: Line;
  readonly log: Line;
}

let database: TestDatabase;
const gateways: Gateway[] = [];

async function startGateway(settings: Readonly<Record<string, string>> = {}): Promise<Gateway> {
  const [data, log] = [await Line.to(database.url), await Line.to(database.url)];
  const app = await NestFactory.create<NestFastifyApplication>(
    {
      module: class Keys {},
      imports: [
        LoggerModule.of(createLogger('silent')),
        StorageModule.at({ url: data.url }),
        EventsModule.postgres({ url: log.url, publishMs: 2_500 }),
      ],
      controllers: [KeyChangesConsumer],
      providers: [
        {
          provide: IdentitySettings,
          useValue: { config: loadConfig(identityConfig, settings), operatorToken: '' },
        },
        { provide: UsageHistory, useValue: undefined },
        RequestSteps,
        AccountLimitsStore,
        AccountStore,
        ApiKeys,
        BatchedLookups,
        EndUserLimitsStore,
        EndUsers,
        KeyCache,
        KeyChanges,
        KeyStore,
      ],
    },
    new FastifyAdapter(),
    { logger: false, abortOnError: false },
  );
  app.connectMicroservice({ strategy: app.get(EventStrategy) });
  await app.startAllMicroservices();
  await app.init();
  const gateway = { app, gate: app.get(KeyCache), keys: app.get(ApiKeys), data, log };
  gateways.push(gateway);
  return gateway;
}

let one: Gateway;
let two: Gateway;
let accountId: string;
let key: { id: string; authorization: string };

const codeOf = (identified: Promise<Caller>): Promise<string> =>
  identified.then(
    () => 'known',
    (error: Problem) => error.code,
  );
/** Waits until an assertion holds, with a timeout that is ample for any machine. */
const eventually = (holds: () => Promise<void>): Promise<void> => vi.waitFor(holds, { timeout: 20_000 });
const asks = ({ gate }: Gateway): Promise<string> => codeOf(gate.identify(key.authorization));

/** Waits until a process receives key changes; once subscribed, it also discards lookups in progress. */
async function untilItListens({ gate }: Gateway): Promise<void> {
  const forget = vi.spyOn(gate, 'forget');
  const { id } = await one.app.get(AccountStore).create({ name: 'Bob', tier: 'standard', paid: false });
  await eventually(async () => {
    const made = await one.keys.create(id, NewApiKey.parse({ apiKeyType: 'INFERENCE', description: '' }));
    await one.keys.revoke(id, made.key.id, 'operator:test');
    await vi.waitFor(() => expect(forget).toHaveBeenCalledWith(id), { timeout: 2_000 });
  });
  forget.mockRestore();
}

beforeAll(async () => {
  database = await startTestDatabase();
});

beforeEach(async () => {
  [one, two] = [await startGateway(), await startGateway()];
  const account = await one.app.get(AccountStore).create({ name: 'Ann', tier: 'standard', paid: false });
  accountId = account.id;
  const made = await one.keys.create(
    accountId,
    NewApiKey.parse({ apiKeyType: 'INFERENCE', description: 'of a test' }),
  );
  key = { id: made.key.id, authorization: `Bearer ${made.secret}` };
  // Both have the key cached from here on.
  assert.deepEqual([await asks(one), await asks(two)], ['known', 'known']);
});

afterEach(async () => {
  for (const { app, data, log } of gateways.splice(0)) {
    await app.close();
    await Promise.all([data.close(), log.close()]);
  }
});

afterAll(() => database.stop());

it('rejects a revoked key at once in the same process, and in every other one after its event', async () => {
  await one.keys.revoke(accountId, key.id, 'operator:test');
  expect(await asks(one)).toBe('AUTHENTICATION_FAILED');
  await eventually(async () => expect(await asks(two)).toBe('AUTHENTICATION_FAILED'));
});

it('applies the new limits of a changed key in every process', async () => {
  const change = { id: key.id, consumptionLimit: { usd: 1.5 }, limitPeriod: 'MONTH' as const };
  await one.keys.change(accountId, change);
  const keyLimit = { period: 'MONTH', usdNano: 1_500_000_000n };
  expect(await one.gate.identify(key.authorization)).toMatchObject({ keyLimit });
  await vi.waitFor(async () =>
    expect(await two.gate.identify(key.authorization)).toMatchObject({ keyLimit }),
  );
});

it("applies the operator's limits of an account to its keys in every process", async () => {
  const models = [
    { model: '*', requestsPerMinute: 7 },
    { model: 'm', tokensPerMinute: 9 },
  ];
  await one.app.get(AccountLimitsStore).replace(accountId, { concurrentRequests: 3, models });
  one.app.get(KeyChanges).made(accountId);
  const expected = {
    concurrent: 3,
    accountLimits: [
      { limits: perMinute('user', { requestsPerMinute: 7 }) },
      { model: 'm', limits: perMinute('user', { tokensPerMinute: 9 }) },
    ],
  };
  expect(await one.gate.identify(key.authorization)).toMatchObject(expected);
  await eventually(async () => expect(await two.gate.identify(key.authorization)).toMatchObject(expected));
});

it('suspends an account in every process until it is resumed', async () => {
  const accounts = one.app.get(AccountStore);
  const changes = one.app.get(KeyChanges);
  const isSuspended = async ({ gate }: Gateway): Promise<boolean> =>
    (await gate.identify(key.authorization)).isSuspended === true;
  await accounts.suspend(accountId, 'unpaid');
  changes.made(accountId);
  expect(await isSuspended(one)).toBe(true);
  await eventually(async () => expect(await isSuspended(two)).toBe(true));
  await accounts.resume(accountId);
  changes.made(accountId);
  expect(await isSuspended(one)).toBe(false);
  await eventually(async () => expect(await isSuspended(two)).toBe(false));
});

it('looks keys up again while cut off from the event log, and receives events after reconnecting', async () => {
  two.log.cut();
  await one.keys.revoke(accountId, key.id, 'operator:test');
  await eventually(async () => expect(await asks(two)).toBe('AUTHENTICATION_FAILED'));
  two.log.mend();
  const made = await one.keys.create(accountId, NewApiKey.parse({ apiKeyType: 'ADMIN', description: '' }));
  const authorization = `Bearer ${made.secret}`;
  expect(await two.gate.identify(authorization)).toMatchObject({ keyId: made.key.id, keyType: 'ADMIN' });
  await one.keys.revoke(accountId, made.key.id, 'operator:test');
  await eventually(async () =>
    expect(await codeOf(two.gate.identify(authorization))).toBe('AUTHENTICATION_FAILED'),
  );
});

it('accepts known keys and no unknown ones while the database does not respond', async () => {
  await untilItListens(two);
  expect(await asks(two)).toBe('known');
  two.data.cut();
  two.log.cut();
  for (let count = 0; count < 3; count += 1) {
    two.gate.invalidate();
    expect(await asks(two)).toBe('known');
  }
  const stranger = 'Bearer SVC_INFERENCE_KEY_nobody-knows-it';
  expect(await codeOf(two.gate.identify(stranger))).toBe('UNAVAILABLE');
  two.data.mend();
  await one.keys.revoke(accountId, key.id, 'operator:test');
  await eventually(async () => {
    two.gate.invalidate();
    expect(await asks(two)).toBe('AUTHENTICATION_FAILED');
  });
});

it('refreshes a key in use before its cache entry expires, so that no request waits for it', async () => {
  const gateway = await startGateway({ GATEWAY_KEY_CACHE_MS: '8000' });
  const { app, gate } = gateway;
  await untilItListens(gateway);
  await gate.identify(key.authorization);
  // Changes the key without an event.
  await app
    .get(Database)
    .query('UPDATE gateway.api_keys SET requests_per_minute = 7 WHERE id = $1', [key.id]);
  const seen = new Set<unknown>();
  await eventually(() => {
    const caller = gate.trusted(key.authorization, {});
    seen.add(caller ? caller.limits?.[0]?.max : 'to be looked up');
    expect(seen).toEqual(new Set([undefined, 7]));
    return Promise.resolve();
  });
});

it('accepts a known key beyond its cache time while the database does not respond, but not forever', async () => {
  const silent = await startGateway({ GATEWAY_KEY_CACHE_MS: '100', GATEWAY_KEY_STALE_MS: '10000' });
  await untilItListens(silent);
  expect(await asks(silent)).toBe('known');
  silent.data.cut();
  silent.log.cut();
  await eventually(async () => {
    expect(silent.gate.trusted(key.authorization, {})).toBeUndefined();
    expect(await asks(silent)).toBe('known');
  });
  await eventually(async () => expect(await asks(silent)).toBe('UNAVAILABLE'));
  silent.data.mend();
  await eventually(async () => expect(await asks(silent)).toBe('known'));
});

it('does not cache a lookup during which the key was revoked', async () => {
  two.gate.forget(accountId);
  const other = one.app.get(Database);
  const reading = await other.transaction(async (client) => {
    // A lookup reads the key first and then waits here for its account.
    await client.query('LOCK TABLE gateway.accounts IN ACCESS EXCLUSIVE MODE');
    const identity = asks(two);
    await eventually(async () => {
      const waiting = await other.query('SELECT 1 FROM pg_locks WHERE NOT granted AND mode = $1', [
        'AccessShareLock',
      ]);
      expect(waiting).toHaveLength(1);
    });
    await client.query('UPDATE gateway.api_keys SET revoked_at = now() WHERE id = $1', [key.id]);
    return { identity };
  });
  two.gate.forget(accountId);
  // The lookup began before the key was revoked.
  expect(await reading.identity).toBe('known');
  expect(await asks(two)).toBe('AUTHENTICATION_FAILED');
});

it('applies a change while cut off from the event log, and another process publishes it', async () => {
  one.log.cut();
  await one.keys.revoke(accountId, key.id, 'operator:test');
  expect(await asks(one)).toBe('AUTHENTICATION_FAILED');
  // Any process publishes the events of others.
  await eventually(async () => expect(await asks(two)).toBe('AUTHENTICATION_FAILED'));
  one.log.mend();
});

it('publishes no event for a change that was not committed', async () => {
  const taken = await one.keys.create(accountId, NewApiKey.parse({ apiKeyType: 'ADMIN', description: '' }));
  await expect(one.keys.change(accountId, { id: randomUUID(), description: 'x' })).rejects.toMatchObject({
    code: 'API_KEY_NOT_FOUND',
  });
  await one.keys.revoke(accountId, taken.key.id, 'operator:test');
  const database = one.app.get(Database);
  await eventually(async () => expect(await database.query('SELECT 1 FROM events.outbox')).toEqual([]));
  const events = await database.query<{ payload: string }>(
    `SELECT payload FROM events.log WHERE topic = 'key.changed.v1' AND key = $1`,
    [accountId],
  );
  expect(events.map(({ payload }) => JSON.parse(payload) as unknown)).toEqual([
    { accountId, keyId: taken.key.id },
  ]);
});
