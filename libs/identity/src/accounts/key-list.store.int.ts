import { OperatorKeyQuery } from '@svc/api/operator';
import { Database, PrismaDatabase, createPool } from '@svc/storage';
import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { KeyStore } from './key.store.js';
import { AccountStore } from './account.store.js';
import { KeyListStore } from './key-list.store.js';

let test: TestDatabase;
let database: Database;
let prisma: PrismaDatabase;
let keys: KeyStore;
let list: KeyListStore;

beforeAll(async () => {
  test = await startTestDatabase();
  database = new Database(createPool(test.url, { name: 'list of keys' }));
  prisma = new PrismaDatabase(database);
  keys = new KeyStore(prisma, database);
  list = new KeyListStore(prisma, database);
});

afterAll(async () => {
  await prisma.onApplicationShutdown();
  await database.onApplicationShutdown();
  await test.stop();
});

const open = async (): Promise<string> => {
  const account = { name: 'Ann', tier: 'standard', paid: false } as const;
  return (await new AccountStore(prisma, database).create(account)).id;
};
const make = async (accountId: string, description = '', expiresAt: Date | null = null): Promise<string> =>
  (await keys.create(accountId, 'INFERENCE', { description, expiresAt }))?.key.id ?? '';
const found = async (query: object): Promise<string[]> => {
  const listed = await list.list(OperatorKeyQuery.parse(query));
  return listed.map(({ key }) => key.id);
};

it('lists the keys of an account in pages, newest first, including revoked and expired ones', async () => {
  const accountId = await open();
  await make(await open());
  const active = await make(accountId);
  const expired = await make(accountId, '', new Date(Date.now() - 1_000));
  const revoked = await make(accountId);
  await keys.revoke(accountId, revoked, 'operator:test');
  const first = await found({ accountId, limit: 2 });
  expect(first).toEqual([revoked, expired]);
  expect(await found({ accountId, limit: 2, before: expired })).toEqual([active]);
  for (const [state, id] of Object.entries({ active, expired, revoked }))
    expect(await found({ accountId, state })).toEqual([id]);
});

it('finds a key of any account by its id, the end of its secret, and its description', async () => {
  const accountId = await open();
  const made = await keys.create(accountId, 'ADMIN', { description: 'Build server' });
  const id = made?.key.id ?? '';
  for (const search of [id.slice(0, 13), made?.secret.slice(-6), 'uild SERV'])
    expect(await found({ search })).toContain(id);
  expect(await found({ search: 'no such key' })).toEqual([]);
});
