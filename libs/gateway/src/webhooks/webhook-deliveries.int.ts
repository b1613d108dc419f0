import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type AccountEvent, OPERATOR, newAccountEvent } from '@svc/contracts/messages';
import { createLogger } from '@svc/runtime';
import { Database, createPool } from '@svc/storage';
import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { WebhookDeliveryStore } from './delivery.store.js';
import { WebhookEndpointStore } from './endpoint.store.js';
import { ExpiringKeysStore } from './expiring-keys.store.js';
import { MailNotices } from './mail-notices.js';
import { MailServer } from './mail-server.js';
import { WebhookDeliveries, WebhookFetcher } from './webhook-deliveries.js';
import { WebhookSecrets } from './webhook-secrets.js';

const secrets = new WebhookSecrets('a key of the operator with at least 32 characters');
let test: TestDatabase;
let database: Database;
let store: WebhookDeliveryStore;
let endpoints: WebhookEndpointStore;
let server: Server;
let status: number;
let received: string[];
let running: WebhookDeliveries[];

beforeAll(async () => {
  test = await startTestDatabase();
  database = new Database(createPool(test.url, { name: 'webhooks of a test' }));
  store = new WebhookDeliveryStore(database);
  endpoints = new WebhookEndpointStore(database, secrets);
  server = createServer((request, response) => {
    received.push(String(request.headers['webhook-id']));
    response.writeHead(status).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
});

beforeEach(async () => {
  await database.query('DELETE FROM gateway.webhook_endpoints');
  [status, received, running] = [204, [], []];
});

afterEach(async () => {
  for (const deliveries of running) await deliveries.beforeApplicationShutdown();
});

afterAll(async () => {
  server.close();
  await database.onApplicationShutdown();
  await test.stop();
});

/** Delivers as a process does. */
function deliver(): WebhookDeliveries {
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const fetcher = new WebhookFetcher({ allowPrivateHosts: [host] });
  const logger = { log: createLogger('silent') };
  const mails = new MailNotices(new MailServer(undefined), secrets, logger);
  const deliveries = new WebhookDeliveries(store, endpoints, secrets, fetcher, mails, logger);
  running.push(deliveries);
  deliveries.onApplicationBootstrap();
  return deliveries;
}

async function endpointOf(
  events: AccountEvent['type'][] = ['refund.created'],
): Promise<{ accountId: string; id: string }> {
  const accountId = randomUUID();
  await database.query(
    `INSERT INTO gateway.accounts (id, name, tier, paid) VALUES ($1, 'a', 'standard', true)`,
    [accountId],
  );
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const { endpoint } = await endpoints.create(accountId, { url, events });
  return { accountId, id: endpoint.id };
}

const eventFor = ({ accountId }: { accountId: string }) =>
  newAccountEvent(accountId, 'refund.created', { usd: 1 });
const listed = ({ id }: { id: string }) => store.list(id, { limit: 100 });
const eventually = (holds: () => Promise<void>): Promise<void> => vi.waitFor(holds, { timeout: 20_000 });
const stateOf = async (endpoint: { accountId: string; id: string }) =>
  (await endpoints.find(endpoint.accountId, endpoint.id)).state;

it.each([
  ['An account', async () => (await endpointOf()).accountId],
  ['The operator', () => Promise.resolve(OPERATOR)],
])('%s has 10 endpoints at most, however many are requested at once', async (owner, open) => {
  const ownerId = await open();
  const wanted = { url: 'https://example.com/', events: ['refund.created'] };
  for (let count = 0; count < 7; count += 1) await endpoints.create(ownerId, wanted);
  const made = await Promise.allSettled(Array.from({ length: 16 }, () => endpoints.create(ownerId, wanted)));
  expect(await endpoints.list(ownerId)).toHaveLength(10);
  const refused = made.flatMap((each) => (each.status === 'rejected' ? [String(each.reason)] : []));
  expect(new Set(refused)).toEqual(
    new Set([expect.stringContaining(`${owner} may have 10 webhook endpoints. Delete one`)]),
  );
});

it('records an event once for each endpoint that wants it, however often it arrives', async () => {
  const endpoint = await endpointOf();
  const other = await endpointOf(['balance.low']);
  const event = eventFor(endpoint);
  for (let count = 0; count < 3; count += 1) await store.record(event);
  await store.record(eventFor(other));
  expect(await listed(endpoint)).toMatchObject([{ event_id: event.id, state: 'pending' }]);
  expect(await listed(other)).toEqual([]);
});

it('delivers to a suspended account its suspension and what happened before, and nothing else', async () => {
  const endpoint = await endpointOf(['refund.created', 'account.suspended', 'account.resumed']);
  const [recorded, late] = [eventFor(endpoint), eventFor(endpoint)];
  await store.record(recorded);
  const { accountId } = endpoint;
  await database.query(
    `UPDATE gateway.accounts SET suspended_at = now() + interval '1 second' WHERE id = $1`,
    [accountId],
  );
  await store.record(late);
  const suspended = newAccountEvent(accountId, 'account.suspended', { reason: 'r' });
  const during = { ...eventFor(endpoint), at: new Date(Date.now() + 2_000).toISOString() };
  for (const event of [during, { ...suspended, at: during.at }]) await store.record(event);
  deliver();
  const expected = [recorded, late, suspended].map(({ id }) => id);
  await eventually(async () => expect(new Set(received)).toEqual(new Set(expected)));
  expect(await listed(endpoint)).toHaveLength(3);
  await database.query('UPDATE gateway.accounts SET suspended_at = NULL WHERE id = $1', [accountId]);
  const resumed = newAccountEvent(accountId, 'account.resumed', {});
  await store.record(resumed);
  expect(await listed(endpoint)).toHaveLength(4);
});

it('delivers what is due once, with several processes', async () => {
  const all = await Promise.all(Array.from({ length: 10 }, () => endpointOf()));
  const events = all.flatMap((endpoint) => Array.from({ length: 5 }, () => eventFor(endpoint)));
  const processes = [deliver(), deliver(), deliver()];
  for (const event of events) await store.record(event);
  for (const process of processes) process.wake();
  await eventually(async () => expect(new Set(received)).toEqual(new Set(events.map(({ id }) => id))));
  expect(received).toHaveLength(events.length);
});

it('continues after a process died with its lease', async () => {
  const endpoint = await endpointOf();
  const event = eventFor(endpoint);
  await store.record(event);
  const [taken] = (await store.claim('server', 100, 500)).filter(({ id }) => id === endpoint.id);
  expect(taken).toBeDefined();
  deliver();
  await eventually(async () =>
    expect(await listed(endpoint)).toMatchObject([{ state: 'delivered', tries: 1 }]),
  );
  expect(received).toEqual([event.id]);
});

it('disables an endpoint after five days without a success, and notifies the account', async () => {
  const endpoint = await endpointOf();
  await database.query(
    `UPDATE gateway.webhook_endpoints SET failing_since = now() - interval '6 days' WHERE id = $1`,
    [endpoint.id],
  );
  status = 500;
  await store.record(eventFor(endpoint));
  deliver();
  await eventually(async () => expect(await stateOf(endpoint)).toBe('failing'));
  const events = await database.query<{ payload: string }>(
    `SELECT payload FROM events.outbox WHERE topic = 'account.event.v1' AND key = $1`,
    [endpoint.accountId],
  );
  expect(events.map(({ payload }) => (JSON.parse(payload) as AccountEvent).data['state'])).toEqual([
    'failing',
  ]);
});

it('gives up after ten attempts', async () => {
  const endpoint = await endpointOf();
  status = 503;
  await store.record(eventFor(endpoint));
  const deliveries = deliver();
  for (let tries = 1; tries <= 10; tries += 1) {
    await database.query('UPDATE gateway.webhook_deliveries SET next_try_at = now() WHERE endpoint_id = $1', [
      endpoint.id,
    ]);
    await database.query('UPDATE gateway.webhook_endpoints SET due_at = now() WHERE id = $1', [endpoint.id]);
    deliveries.wake();
    await eventually(async () => expect((await listed(endpoint))[0]?.tries).toBe(tries));
  }
  expect(await listed(endpoint)).toMatchObject([{ state: 'failed', status: 503, next_try_at: null }]);
});

it('encrypts stored secrets with a new key', async () => {
  const endpoint = await endpointOf();
  const other = 'another key of the operator, with 32 characters';
  await new WebhookEndpointStore(
    database,
    new WebhookSecrets(other, 'a key of the operator with at least 32 characters'),
  ).sealAgain();
  const [row] = await database.query<{ secret: Buffer }>(
    'SELECT secret FROM gateway.webhook_endpoints WHERE id = $1',
    [endpoint.id],
  );
  expect(new WebhookSecrets(other).open(row?.secret ?? Buffer.alloc(0), endpoint.id)).toHaveLength(32);
});

it('notifies once of each expiry of a key', async () => {
  const { accountId } = await endpointOf();
  const id = randomUUID();
  await database.query(
    `INSERT INTO gateway.api_keys (id, account_id, secret_sha256, last6, api_key_type, description, expires_at)
     VALUES ($1, $2, $3, 'abcdef', 'INFERENCE', '', now() + interval '2 days')`,
    [id, accountId, randomBytes(32)],
  );
  const keys = new ExpiringKeysStore(database);
  const notified = async (): Promise<number> =>
    (await database.query('SELECT FROM events.outbox WHERE key = $1', [accountId])).length;
  await Promise.all([keys.notify(), keys.notify()]);
  expect(await notified()).toBe(1);
  await database.query(`UPDATE gateway.api_keys SET expires_at = now() + interval '1 day' WHERE id = $1`, [
    id,
  ]);
  await keys.notify();
  expect(await notified()).toBe(2);
});
