import { randomUUID } from 'node:crypto';
import { createLogger } from '@svc/runtime';
import { Database, PrismaDatabase, createPool } from '@svc/storage';
import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { AccountStore } from '../accounts/account.store.js';
import { KeyUses } from './key-uses.js';
import { KeyStore } from '../accounts/key.store.js';

let test: TestDatabase;
let database: Database;
let prisma: PrismaDatabase;
let keys: KeyStore;
let uses: KeyUses;
let accountId: string;
let keyId: string;

const lastUsed = async (): Promise<Date | null | undefined> =>
  (await keys.find(accountId, keyId))?.lastUsedAt;

beforeAll(async () => {
  test = await startTestDatabase();
  database = new Database(createPool(test.url, { name: 'uses of a test' }));
  prisma = new PrismaDatabase(database);
  keys = new KeyStore(prisma, database);
});

beforeEach(async () => {
  ({ id: accountId } = await new AccountStore(prisma, database).create({
    name: 'Ann',
    tier: 'standard',
    paid: false,
  }));
  keyId = (await keys.create(accountId, 'INFERENCE', {}))?.key.id ?? '';
  uses = new KeyUses(keys, { log: createLogger('silent') });
});

afterAll(async () => {
  await prisma.onApplicationShutdown();
  await database.onApplicationShutdown();
  await test.stop();
});

it('writes the last use of a key on flush and on shutdown', async () => {
  const before = Date.now();
  uses.note(keyId);
  expect(await lastUsed()).toBeNull();
  await uses.flush();
  const first = (await lastUsed())?.getTime() ?? 0;
  expect(first).toBeGreaterThanOrEqual(before);
  await new Promise((resolve) => setTimeout(resolve, 5));
  uses.note(keyId);
  await uses.beforeApplicationShutdown();
  expect((await lastUsed())?.getTime()).toBeGreaterThan(first);
});

it('retries a failed write on the next flush', async () => {
  uses.note(keyId);
  await database.query('ALTER TABLE gateway.api_keys RENAME TO api_keys_away');
  await uses.flush();
  await database.query('ALTER TABLE gateway.api_keys_away RENAME TO api_keys');
  expect(await lastUsed()).toBeNull();
  await uses.flush();
  expect(await lastUsed()).toBeInstanceOf(Date);
});

it('ignores uses of further keys while its buffer is full', async () => {
  for (let count = 0; count < 20_000; count += 1) uses.note(randomUUID());
  uses.note(keyId);
  await uses.flush();
  expect(await lastUsed()).toBeNull();
  uses.note(keyId);
  await uses.flush();
  expect(await lastUsed()).toBeInstanceOf(Date);
});
