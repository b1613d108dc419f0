import { randomUUID } from 'node:crypto';
import { Database, PrismaDatabase, createPool } from '@svc/storage';
import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { AccountStore } from './account.store.js';
import { ACTIVE_KEYS_MAX, KeyStore } from './key.store.js';

let test: TestDatabase;
let database: Database;
let prisma: PrismaDatabase;
let keys: KeyStore;
let accountId: string;

beforeAll(async () => {
  test = await startTestDatabase();
  database = new Database(createPool(test.url, { name: 'keys of a test' }));
  prisma = new PrismaDatabase(database);
  keys = new KeyStore(prisma, database);
});

beforeEach(async () => {
  const account = await new AccountStore(prisma, database).create({
    name: 'Ann',
    tier: 'standard',
    paid: false,
  });
  accountId = account.id;
});

afterAll(async () => {
  await prisma.onApplicationShutdown();
  await database.onApplicationShutdown();
  await test.stop();
});

/** Fills the table with keys whose secrets are unknown. */
const fill = (count: number, more: { revoked?: boolean; expired?: boolean } = {}): Promise<unknown> =>
  database.query(
    `INSERT INTO gateway.api_keys
       (id, account_id, secret_sha256, last6, api_key_type, description, revoked_at, expires_at)
     SELECT gen_random_uuid(), $1, sha256(convert_to(gen_random_uuid()::text, 'UTF8')), 'abcdef', 'INFERENCE', '',
       CASE WHEN $3 THEN now() END, CASE WHEN $4 THEN now() END
     FROM generate_series(1, $2)`,
    [accountId, count, more.revoked ?? false, more.expired ?? false],
  );

it('allows an account at most 500 active keys, even when keys are created concurrently', async () => {
  await fill(ACTIVE_KEYS_MAX - 3);
  await fill(20, { revoked: true });
  await fill(20, { expired: true });
  const made = await Promise.all(Array.from({ length: 10 }, () => keys.create(accountId, 'INFERENCE', {})));
  expect(made.filter(Boolean)).toHaveLength(3);
  expect(await keys.list(accountId)).toHaveLength(ACTIVE_KEYS_MAX);
});

it('stores the largest limit of the interface and a limit of one nano-dollar', async () => {
  const largest = 9_999_999_999_000_000_000n;
  const made = await keys.create(accountId, 'INFERENCE', { usdLimitNano: largest, diemLimitNano: 1n });
  expect(made?.key).toMatchObject({ usdLimitNano: largest, diemLimitNano: 1n, limitPeriod: 'EPOCH' });
  const found = await keys.find(accountId, made?.key.id ?? '');
  expect(found).toMatchObject({ usdLimitNano: largest, diemLimitNano: 1n });
});

it('does not store the secret', async () => {
  const made = await keys.create(accountId, 'ADMIN', { description: 'ops' });
  const rows = await database.query('SELECT * FROM gateway.api_keys WHERE account_id = $1', [accountId]);
  expect(made?.secret).toMatch(/^SVC_ADMIN_KEY_[\w-]{43}$/);
  expect(rows).toHaveLength(1);
  expect(JSON.stringify(rows)).not.toContain(made?.secret.slice('SVC_ADMIN_KEY_'.length));
});

it('records the last use of many keys at once, and never replaces a later time by an earlier one', async () => {
  await fill(50);
  const ids = (await keys.list(accountId)).map(({ id }) => id);
  const at = Date.parse('2026-11-21T10:00:00.000Z');
  const uses = (atMs: number): Map<string, number> => new Map([...ids, randomUUID()].map((id) => [id, atMs]));
  await Promise.all([at, at + 2_000, at + 1_000].map((atMs) => keys.noteUses(uses(atMs))));
  const seen = new Set((await keys.list(accountId)).map(({ lastUsedAt }) => lastUsedAt?.getTime()));
  expect([...seen]).toEqual([at + 2_000]);
});

it.each(['no-uuid', randomUUID()])('finds no key with the id %s', async (id) => {
  expect(await keys.find(accountId, id)).toBeUndefined();
  expect(await keys.change(accountId, id, { description: 'mine' })).toBeUndefined();
  expect(await keys.revoke(accountId, id, 'operator:test')).toBe(false);
});

it('neither shows, changes nor revokes a key of another account', async () => {
  const made = await keys.create(accountId, 'INFERENCE', { description: 'mine' });
  const other = await new AccountStore(prisma, database).create({
    name: 'Eve',
    tier: 'standard',
    paid: false,
  });
  const id = made?.key.id ?? '';
  expect(await keys.list(other.id)).toEqual([]);
  expect(await keys.find(other.id, id)).toBeUndefined();
  expect(await keys.change(other.id, id, { description: 'hers' })).toBeUndefined();
  expect(await keys.revoke(other.id, id, 'operator:test')).toBe(false);
  expect(await keys.find(accountId, id)).toMatchObject({ description: 'mine' });
});
