import { ActionQuery } from '@svc/api/operator';
import { Database, createPool } from '@svc/storage';
import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ActionStore } from './action.store.js';

let test: TestDatabase;
let database: Database;
let store: ActionStore;

beforeAll(async () => {
  test = await startTestDatabase();
  database = new Database(createPool(test.url, { name: 'file-changes' }));
  store = new ActionStore(database);
});

afterAll(async () => {
  await database.onApplicationShutdown();
  await test.stop();
});

const recorded = async (action: string): Promise<(string | null)[]> =>
  (await store.list(ActionQuery.parse({ action }))).map(({ target }) => target);

it('records a change once for all gateways, and each return to an earlier version', async () => {
  for (const hash of ['first', 'second', 'first'])
    await Promise.all(
      Array.from({ length: 8 }, () => store.recordFile('catalogFile', hash, { changes: [hash] })),
    );
  expect(await recorded('catalogFile')).toEqual(['first', 'second', 'first']);
  const [newest] = await store.list(ActionQuery.parse({ action: 'catalogFile', limit: 1 }));
  expect(newest).toMatchObject({ token: 'file', input: { changes: ['first'] }, status: 200, code: null });
});

it('records the catalogue and the characters apart', async () => {
  await store.recordFile('charactersFile', 'first', { changes: [] });
  expect(await recorded('charactersFile')).toEqual(['first']);
});
