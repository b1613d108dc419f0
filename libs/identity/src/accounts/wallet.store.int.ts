import { walletAccountId } from '@svc/contracts/ports';
import { Database, createPool } from '@svc/storage';
import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WalletStore } from './wallet.store.js';

const gateway = (index: number): WalletStore => {
  const store = stores[index % stores.length];
  if (!store) throw new Error('there are three');
  return store;
};

const WALLET = '0x2670b922ef37c7df47158725c0cc407b5382293f';

let test: TestDatabase;
let databases: Database[];
let stores: WalletStore[];

beforeAll(async () => {
  test = await startTestDatabase();
  databases = [1, 2, 3].map((count) => new Database(createPool(test.url, { name: `gateway ${count}` })));
  stores = databases.map((database) => new WalletStore(database));
});

afterAll(async () => {
  for (const database of databases) await database.onApplicationShutdown();
  await test.stop();
});

it('accepts a nonce once in 100 concurrent attempts across three processes', async () => {
  const entries = Array.from({ length: 100 }, (_, index) => gateway(index).enter(WALLET, 'nonce001'));
  const found = await Promise.all(entries);
  expect(found.filter((each) => each.isFresh)).toHaveLength(1);
});

it('accepts the same nonce from another wallet', async () => {
  expect(await gateway(0).enter('0x0000000000000000000000000000000000000001', 'nonce001')).toMatchObject({
    isFresh: true,
  });
});

it("returns the operator's settings for the account of a wallet", async () => {
  expect(await gateway(0).enter(WALLET, 'nonce002')).toEqual({ isFresh: true, account: undefined });
  const id = walletAccountId(WALLET);
  await databases[0]?.query(
    `INSERT INTO gateway.accounts (id, name, tier, paid, concurrent_requests, fallback_models, fallback_on)
     VALUES ($1, 'w', 'partner', true, 9, '{m}', '{content_filter}')`,
    [id],
  );
  await databases[0]?.query(
    `INSERT INTO gateway.account_limits (account_id, model, requests_per_minute) VALUES ($1, '*', 7)`,
    [id],
  );
  expect((await gateway(0).enter(WALLET, 'nonce003')).account).toEqual({
    tier: 'partner',
    paid: true,
    concurrentRequests: 9,
    suspendedAt: null,
    userKey: expect.stringMatching(/^[0-9a-f-]{36}$/),
    limitsUsers: false,
    fallbackModels: ['m'],
    fallbackOn: ['content_filter'],
    limits: [{ model: '*', requestsPerMinute: 7, tokensPerMinute: null }],
  });
});
