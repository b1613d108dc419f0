import { AccountQuery } from '@svc/api/operator';
import { walletAccountId } from '@svc/contracts/ports';
import { Database, PrismaDatabase, createPool } from '@svc/storage';
import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WalletStore } from './wallet.store.js';
import { AccountStore } from './account.store.js';

const ADDRESS = '0x2670B922ef37C7Df47158725C0CC407b5382293F';
const WALLET = ADDRESS.toLowerCase();
const NOBODY = '11111111-1111-4111-8111-111111111111';

let test: TestDatabase;
let database: Database;
let prisma: PrismaDatabase;
let accounts: AccountStore;

beforeAll(async () => {
  test = await startTestDatabase();
  database = new Database(createPool(test.url, { name: 'accounts' }));
  prisma = new PrismaDatabase(database);
  accounts = new AccountStore(prisma, database);
});

afterAll(async () => {
  await prisma.onApplicationShutdown();
  await database.onApplicationShutdown();
  await test.stop();
});

const open = async (name: string): Promise<string> => {
  const { id } = await accounts.create({ name, tier: 'standard', paid: false });
  return id;
};
const found = async (query: object): Promise<string[]> => {
  const list = await accounts.list(AccountQuery.parse(query));
  return list.map(({ id }) => id);
};
const eventsOf = (id: string): Promise<unknown[]> =>
  database.query('SELECT topic FROM events.outbox WHERE key = $1 ORDER BY topic', [id]);

describe('a list of accounts', () => {
  it('is newest first and shows each account once across all pages, even when another is created meanwhile', async () => {
    const ids = [await open('page 1'), await open('page 2'), await open('page 3')].toReversed();
    const first = await found({ search: 'PAGE', limit: 2 });
    await open('page 4');
    const rest = await found({ search: 'PAGE', limit: 2, before: first.at(-1) });
    expect([...first, ...rest]).toEqual(ids);
  });

  it('continues after an account that no longer matches the filter', async () => {
    const ids = [await open('filter 1'), await open('filter 2')];
    for (const id of ids) await accounts.suspend(id, 'why');
    const query = { search: 'filter', state: 'suspended', limit: 1 };
    const [first] = await found(query);
    await accounts.resume(first ?? '');
    expect(await found({ ...query, before: first })).toEqual([ids[0]]);
  });

  it('treats every character of a search literally', async () => {
    const id = await open('100% of_it');
    expect(await found({ search: '0% of_' })).toEqual([id]);
    expect(await found({ search: '0%_of' })).toEqual([]);
  });

  it('finds an account by the beginning of its id', async () => {
    const id = await open('by id');
    expect(await found({ search: id.slice(0, 12).toUpperCase() })).toEqual([id]);
  });

  it('finds a wallet by its address in any case', async () => {
    await accounts.ensure({ name: 'a wallet', tier: 'partner', paid: false }, ADDRESS);
    expect(await found({ search: WALLET })).toEqual([walletAccountId(WALLET)]);
    expect(await found({ search: ADDRESS, kind: 'wallet' })).toEqual([walletAccountId(WALLET)]);
    expect(await found({ search: ADDRESS, kind: 'account' })).toEqual([]);
  });
});

describe('a suspension', () => {
  it('keeps its start when its reason is replaced, and can be ended twice', async () => {
    const id = await open('Ann');
    const first = await accounts.suspend(id, 'unpaid');
    expect(first).toMatchObject({ state: 'suspended', suspension: { reason: 'unpaid' } });
    const second = await accounts.suspend(id, 'fraud');
    expect(second.suspension).toEqual({ at: first.suspension?.at, reason: 'fraud' });
    expect(await found({ search: id, state: 'active' })).toEqual([]);
    expect(await accounts.resume(id)).toMatchObject({ state: 'active', suspension: null });
    expect(await accounts.resume(id)).toMatchObject({ state: 'active', suspension: null });
    const topics = [
      'account.event.v1',
      'account.event.v1',
      'key.changed.v1',
      'key.changed.v1',
      'key.changed.v1',
    ];
    expect(await eventsOf(id)).toEqual(topics.map((topic) => ({ topic })));
  });

  it('of a wallet without an account keeps the default terms of wallets', async () => {
    const address = `0x${'AB'.repeat(20)}`;
    const wallet = address.toLowerCase();
    const terms = { name: wallet, tier: 'standard', paid: true, wallet };
    expect(await accounts.get(address)).toMatchObject({ ...terms, createdAt: null, state: 'active' });
    expect(await accounts.resume(address)).toMatchObject({ createdAt: null });
    expect(await accounts.suspend(address, 'fraud')).toMatchObject({ ...terms, state: 'suspended' });
    const entering = new WalletStore(database);
    expect((await entering.enter(wallet, 'n1')).account?.suspendedAt).toEqual(expect.any(String));
    await accounts.resume(address);
    expect((await entering.enter(wallet, 'n2')).account?.suspendedAt).toBeNull();
  });

  it('of an unknown account is rejected and publishes no event', async () => {
    await expect(accounts.suspend(NOBODY, 'why')).rejects.toMatchObject({ code: 'ACCOUNT_NOT_FOUND' });
    await expect(accounts.resume(NOBODY)).rejects.toMatchObject({ code: 'ACCOUNT_NOT_FOUND' });
    expect(await eventsOf(NOBODY)).toEqual([]);
  });
});
