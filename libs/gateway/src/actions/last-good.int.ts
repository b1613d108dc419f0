import { Database, createPool } from '@svc/storage';
import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { LastGoodStore } from './last-good.store.js';

let test: TestDatabase;
let database: Database;
let store: LastGoodStore;

beforeAll(async () => {
  test = await startTestDatabase();
  database = new Database(createPool(test.url, { name: 'last-good' }));
  store = new LastGoodStore(database);
});

afterAll(async () => {
  await database.onApplicationShutdown();
  await test.stop();
});

it('keeps the latest version of each file as it is written, for all gateways', async () => {
  expect(await store.read('catalog')).toBeUndefined();
  const strange = { text: 'null \0, half \ud800, quote "', number: 1e-7, list: [null, true, { a: '' }] };
  await store.write('catalog', { hash: 'first', content: {} });
  await store.write('characters', { hash: 'other', content: { characters: [] } });
  await Promise.all(
    Array.from({ length: 8 }, () => store.write('catalog', { hash: 'second', content: strange })),
  );
  expect(await store.read('catalog')).toEqual({ hash: 'second', content: strange });
  expect(await store.read('characters')).toEqual({ hash: 'other', content: { characters: [] } });
});
