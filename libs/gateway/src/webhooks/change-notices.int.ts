import { randomUUID } from 'node:crypto';
import { Catalog } from '@svc/catalog';
import { CatalogFile } from '@svc/contracts/catalog';
import type { BackendState } from '@svc/contracts/inference';
import type { AccountEvent } from '@svc/contracts/messages';
import { Database, createPool } from '@svc/storage';
import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { ChangeNoticesStore } from './change-notices.store.js';
import { backendNotices, catalogNotices, modelNotices } from './change-notices.worker.js';
import { WebhookDeliveryStore } from './delivery.store.js';
import { WebhookEndpointStore } from './endpoint.store.js';
import { WebhookSecrets } from './webhook-secrets.js';

let test: TestDatabase;
let database: Database;
let store: ChangeNoticesStore;
let endpoints: WebhookEndpointStore;

beforeAll(async () => {
  test = await startTestDatabase();
  database = new Database(createPool(test.url, { name: 'notices of a test' }));
  store = new ChangeNoticesStore(database, new WebhookDeliveryStore(database));
  endpoints = new WebhookEndpointStore(
    database,
    new WebhookSecrets('a key of the operator of 32 characters'),
  );
});

beforeEach(async () => {
  await database.query('TRUNCATE gateway.notices, events.outbox');
});

afterAll(async () => {
  await database.onApplicationShutdown();
  await test.stop();
});

/** The events in the outbox, which nobody empties here. */
async function events(): Promise<Pick<AccountEvent, 'type' | 'data'>[]> {
  const rows = await database.query<{ payload: string }>('SELECT payload FROM events.outbox ORDER BY id');
  return rows.map((row) => {
    const { type, data } = JSON.parse(row.payload) as AccountEvent;
    return { type, data };
  });
}

const backend = (name: string, state: BackendState['state'], reason: string | null = null): BackendState => ({
  model: 'm',
  name,
  url: `http://${name}.test/v1`,
  state,
  reason,
  drainedAs: null,
  inFlight: 0,
  waiting: 0,
  maxInFlight: 1,
  firstTokenP50Ms: null,
  firstTokenP99Ms: null,
  failedShare: null,
  hitShare: null,
});

it('notifies the operator once of each change of a backend, however many processes see it, and of none that works', async () => {
  const look = (...backends: BackendState[]) => store.notifyOperator('backend ', backendNotices(backends));
  await look(backend('a', 'up'), backend('b', 'full'), backend('c', 'off', 'New driver'));
  const paused = { model: 'm', backend: 'c', state: 'off', reason: 'New driver' };
  expect(await events()).toEqual([{ type: 'backend.paused', data: paused }]);
  const failed = [backend('a', 'cooling', 'It timed out.'), backend('b', 'up'), backend('c', 'off')];
  await Promise.all(Array.from({ length: 4 }, () => look(...failed)));
  await look(backend('a', 'up'), backend('b', 'up'));
  await look(backend('a', 'up'), backend('b', 'up'), backend('c', 'up'));
  expect((await events()).map(({ type, data }) => `${type} ${data['backend']}`)).toEqual([
    'backend.paused c',
    'backend.ejected a',
    'backend.restored a',
  ]);
});

it('notifies the operator of a catalogue that comes into force, and of one that does not', async () => {
  const look = (hash: string, refused?: string) => {
    const rejected =
      refused === undefined ? null : { at: '2031-03-03T10:00:00Z', hash: refused, reason: 'r' };
    const changes = ['the price of m rises'];
    return store.notifyOperator('catalogue ', catalogNotices({ hash, changes, rejected }));
  };
  const seen: [string, string?][] = [['1'], ['1'], ['1', '2'], ['1', '2'], ['3'], ['3', '2']];
  for (const [hash, refused] of seen) await look(hash, refused);
  const refusal = { type: 'catalog.refused', data: { hash: '2', reason: 'r' } };
  expect(await events()).toEqual([
    refusal,
    { type: 'catalog.changed', data: { hash: '3', changes: 1, first_change: 'the price of m rises' } },
    refusal,
  ]);
});

const catalogWith = (deprecation: object): Catalog =>
  new Catalog(
    CatalogFile.parse({
      models: [
        {
          id: 'old',
          name: 'old',
          contextTokens: 1_000,
          maxCompletionTokens: 100,
          pricing: { input: 1, output: 1 },
          backends: [{ url: 'http://server.test/v1', model: 'x' }],
          deprecation,
        },
      ],
      tiers: { L: { standard: { requestsPerMinute: 1, tokensPerMinute: 1 } } },
    }),
  );

async function endpointOf(types: string[], suspendedAt: Date | null = null): Promise<string> {
  const accountId = randomUUID();
  await database.query(
    `INSERT INTO gateway.accounts (id, name, tier, paid, suspended_at) VALUES ($1, 'a', 'standard', true, $2)`,
    [accountId, suspendedAt],
  );
  const { endpoint } = await endpoints.create(accountId, { url: 'http://hooks.test/', events: types });
  return endpoint.id;
}

it('notifies every account that wants it, once, when the catalogue announces the end of a model', async () => {
  expect(await store.wanted()).toEqual({ byOperator: false, byAccounts: false });
  const wanting = [await endpointOf(['model.deprecated']), await endpointOf(['model.deprecated'])];
  expect(await store.wanted()).toEqual({ byOperator: false, byAccounts: true });
  await endpointOf(['refund.created']);
  await endpointOf(['model.deprecated'], new Date());
  const terms = { startsAt: '2031-01-01', date: '2031-02-01', removesAt: '2031-03-01T12:00:00Z' };
  const look = (day: string, more: object = {}) =>
    store.notifyAccounts(modelNotices(catalogWith({ ...terms, ...more }), Date.parse(day)));
  const deliveries = async () =>
    database.query<{ endpoint_id: string; body: string }>(
      `SELECT endpoint_id, body FROM gateway.webhook_deliveries WHERE event_type = 'model.deprecated'
       ORDER BY created_at, id`,
    );
  await look('2030-12-31');
  expect(await deliveries()).toEqual([]);
  await look('2031-01-01');
  await look('2031-01-02');
  const rows = await deliveries();
  expect(new Set(rows.map((row) => row.endpoint_id))).toEqual(new Set(wanting));
  expect(rows).toHaveLength(2);
  expect(JSON.parse(rows[0]?.body ?? '')).toMatchObject({
    type: 'model.deprecated',
    data: {
      model: 'old',
      deprecated_at: '2031-02-01T00:00:00.000Z',
      removed_at: '2031-03-01T12:00:00.000Z',
      replacement: null,
    },
  });
  await look('2031-01-03', { removesAt: '2031-04-01' });
  expect(await deliveries()).toHaveLength(4);
});
