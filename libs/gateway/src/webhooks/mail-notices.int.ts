import { randomUUID } from 'node:crypto';
import { type Server, createServer } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { NewWebhookEndpoint } from '@svc/api/webhooks';
import { newAccountEvent } from '@svc/contracts/messages';
import { createLogger } from '@svc/runtime';
import { Database, createPool } from '@svc/storage';
import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import { notices } from '@svc/telemetry';
import { Mailbox } from '@svc/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { ConfirmationsStore } from './confirmations.store.js';
import { WebhookDeliveryStore } from './delivery.store.js';
import { type StoredEndpoint, WebhookEndpointStore } from './endpoint.store.js';
import { mailCode } from './mail-codes.js';
import { MailNotices } from './mail-notices.js';
import { MailServer, type MailServerOptions } from './mail-server.js';
import { CONFIRMATION } from './mail-texts.js';
import { WebhookDeliveries, WebhookFetcher } from './webhook-deliveries.js';
import { WebhookSecrets } from './webhook-secrets.js';

const DAY_MS = 86_400_000;
const secrets = new WebhookSecrets('a key of the operator with at least 32 characters');
const logger = { log: createLogger('silent') };
let test: TestDatabase;
let database: Database;
let store: WebhookDeliveryStore;
let endpoints: WebhookEndpointStore;
let confirmations: ConfirmationsStore;
let mailbox: Mailbox;
let deliveries: WebhookDeliveries;

const serverAt = (port: number, further: Partial<MailServerOptions> = {}): MailServer =>
  new MailServer({
    host: '127.0.0.1',
    port,
    tls: 'off',
    from: 'notices@svc.example',
    login: undefined,
    ...further,
  });

beforeAll(async () => {
  test = await startTestDatabase();
  database = new Database(createPool(test.url, { name: 'mails of a test' }));
  store = new WebhookDeliveryStore(database);
  endpoints = new WebhookEndpointStore(database, secrets);
  confirmations = new ConfirmationsStore(database);
});

beforeEach(async () => {
  await database.query('DELETE FROM gateway.webhook_endpoints');
  await database.query('DELETE FROM gateway.confirmation_mails');
  mailbox = await Mailbox.start();
  const mails = new MailNotices(serverAt(mailbox.port), secrets, logger);
  deliveries = new WebhookDeliveries(store, endpoints, secrets, new WebhookFetcher({}), mails, logger);
  deliveries.onApplicationBootstrap();
});

afterEach(async () => {
  await deliveries.beforeApplicationShutdown();
  await mailbox.stop();
});

afterAll(async () => {
  await database.onApplicationShutdown();
  await test.stop();
});

const eventually = (holds: () => Promise<void> | void): Promise<void> =>
  vi.waitFor(holds, { timeout: 20_000 });

interface Owned extends StoredEndpoint {
  readonly accountId: string;
}

async function addressOf(url = 'mailto:ann@customer.example'): Promise<Owned> {
  const accountId = randomUUID();
  await database.query(
    `INSERT INTO gateway.accounts (id, name, tier, paid) VALUES ($1, 'a', 'standard', true)`,
    [accountId],
  );
  const { endpoint } = await endpoints.create(accountId, { url, events: ['refund.created'] });
  return { accountId, ...endpoint };
}

async function sealedOf({ id }: Owned): Promise<Buffer> {
  const [row] = await database.query<{ secret: Buffer }>(
    'SELECT secret FROM gateway.webhook_endpoints WHERE id = $1',
    [id],
  );
  return secrets.open(row?.secret ?? Buffer.alloc(0), id);
}

async function codeOf(endpoint: Owned, atMs = Date.now()): Promise<string> {
  return mailCode(await sealedOf(endpoint), endpoint.url, atMs);
}

async function confirmed(): Promise<Owned> {
  const endpoint = await addressOf();
  await endpoints.confirm(endpoint.accountId, endpoint.id, await codeOf(endpoint));
  return endpoint;
}

async function record({ accountId }: Owned, data = {}): Promise<void> {
  await store.record(newAccountEvent(accountId, 'refund.created', data));
}

const listed = ({ id }: Owned) => store.list(id, { limit: 100 });

it('sends an unconfirmed address its code and nothing else, until the code is confirmed', async () => {
  const endpoint = await addressOf();
  const { accountId, id } = endpoint;
  expect(endpoint.state).toBe('unconfirmed');
  await record(endpoint, { usd: 1 });
  await store.add(id, newAccountEvent(accountId, CONFIRMATION, { endpoint_id: id }));
  deliveries.wake();
  await eventually(() => expect(mailbox.mails).toHaveLength(1));
  expect(mailbox.mails).toMatchObject([{ from: 'notices@svc.example', to: ['ann@customer.example'] }]);
  const [, code = ''] = /The code is: (\S+)/.exec(mailbox.texts()[0] ?? '') ?? [];
  await expect(endpoints.change(accountId, id, { enabled: true })).rejects.toMatchObject({
    code: 'INVALID_REQUEST',
  });
  expect(await endpoints.confirm(accountId, id, ` ${code.toUpperCase()} `)).toMatchObject({
    state: 'enabled',
  });
  await record(endpoint, { usd: 2 });
  deliveries.wake();
  await eventually(() => expect(mailbox.mails).toHaveLength(2));
  expect(mailbox.texts()[1]).toContain('Subject: A charge was refunded\n');
  expect(mailbox.texts()[1]).toContain('usd: 2');
  await eventually(async () =>
    expect(await listed(endpoint)).toMatchObject(Array(2).fill({ state: 'delivered' })),
  );
});

it('refuses codes that are wrong, of another address or older than a day', async () => {
  const [endpoint, other] = [await addressOf(), await addressOf()];
  const { accountId, id } = endpoint;
  const codes = [
    '0000-0000-0000-0000-0000',
    '',
    await codeOf(other),
    await codeOf(endpoint, Date.now() - 2 * DAY_MS),
  ];
  for (const code of codes)
    await expect(endpoints.confirm(accountId, id, code)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  await expect(endpoints.confirm(other.accountId, id, await codeOf(endpoint))).rejects.toMatchObject({
    code: 'WEBHOOK_ENDPOINT_NOT_FOUND',
  });
  await endpoints.confirm(accountId, id, await codeOf(endpoint, Date.now() - DAY_MS));
  expect((await endpoints.find(accountId, id)).state).toBe('enabled');
});

it('never turns a URL whose secret was shown into an e-mail address, nor shows the secret of one', async () => {
  const mail = await confirmed();
  const server = await addressOf('https://customer.example/hooks');
  for (const [{ accountId, id }, url] of [
    [server, 'mailto:bob@customer.example'],
    [mail, 'mailto:bob@customer.example'],
    [mail, 'https://customer.example/hooks'],
  ] as const)
    await expect(endpoints.change(accountId, id, { url })).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  await expect(endpoints.rotate(mail.accountId, mail.id, 0)).rejects.toMatchObject({
    code: 'INVALID_REQUEST',
  });
});

it('joins events in one mail, and waits a minute before the next one', async () => {
  const endpoint = await confirmed();
  await deliveries.beforeApplicationShutdown();
  for (let usd = 1; usd <= 3; usd += 1)
    await record(endpoint, { usd, reason: 'one\r\nBcc: eve@evil.example' });
  const mails = new MailNotices(serverAt(mailbox.port), secrets, logger);
  deliveries = new WebhookDeliveries(store, endpoints, secrets, new WebhookFetcher({}), mails, logger);
  deliveries.onApplicationBootstrap();
  await eventually(async () =>
    expect(await listed(endpoint)).toMatchObject(Array(3).fill({ state: 'delivered' })),
  );
  expect(mailbox.mails).toHaveLength(1);
  expect(mailbox.mails[0]?.to).toEqual(['ann@customer.example']);
  const [text = ''] = mailbox.texts();
  expect(text).toContain('Subject: 3 notices\n');
  expect(text).toContain('reason: one Bcc: eve@evil.example');
  expect(text).not.toMatch(/^Bcc/m);
  await record(endpoint);
  expect(await store.claim('mail', 10, 1_000)).toEqual([]);
  expect(await store.idleMs('mail')).toBeGreaterThan(30_000);
});

/** How often mails have had this outcome in this process. */
const counted = (outcome: string): number =>
  notices.attempts.points().find(({ values }) => values.join() === `mail,${outcome}`)?.value ?? 0;

it('sends what it could not send once the mail server works again, and counts both', async () => {
  const endpoint = await confirmed();
  const [unsent, delivered] = [counted('unsent'), counted('delivered')];
  const { port } = mailbox;
  await mailbox.stop();
  await record(endpoint, { usd: 7 });
  deliveries.wake();
  await eventually(async () =>
    expect(await listed(endpoint)).toMatchObject([
      { state: 'pending', tries: 1, status: null, fault: 'The mail server could not be reached.' },
    ]),
  );
  mailbox = await Mailbox.start({}, port);
  await database.query('UPDATE gateway.webhook_deliveries SET next_try_at = now()');
  await database.query('UPDATE gateway.webhook_endpoints SET due_at = now(), lease_until = NULL');
  deliveries.wake();
  await eventually(async () =>
    expect(await listed(endpoint)).toMatchObject([{ state: 'delivered', tries: 2 }]),
  );
  expect(mailbox.texts()).toEqual([expect.stringContaining('usd: 7')]);
  expect([counted('unsent') - unsent, counted('delivered') - delivered]).toEqual([1, 1]);
});

it('disables an address after five days of refusals, and not for what is wrong with the mail server', async () => {
  const endpoint = await confirmed();
  const { port } = mailbox;
  await mailbox.stop();
  const failed = async (tries: number): Promise<void> => {
    await database.query(`UPDATE gateway.webhook_endpoints SET failing_since = now() - interval '6 days'`);
    await database.query('UPDATE gateway.webhook_deliveries SET next_try_at = now()');
    await database.query('UPDATE gateway.webhook_endpoints SET due_at = now(), lease_until = NULL');
    deliveries.wake();
    await eventually(async () => expect(await listed(endpoint)).toMatchObject([{ state: 'pending', tries }]));
  };
  await record(endpoint);
  await failed(1);
  expect((await endpoints.find(endpoint.accountId, endpoint.id)).state).toBe('enabled');
  const unknown = Object.assign(new Error('no such user'), { responseCode: 550 });
  mailbox = await Mailbox.start({ onRcptTo: (_, __, done) => done(unknown) }, port);
  await failed(2);
  expect(await listed(endpoint)).toMatchObject([{ status: 550, fault: 'The mail server replied with 550.' }]);
  await eventually(async () =>
    expect((await endpoints.find(endpoint.accountId, endpoint.id)).state).toBe('failing'),
  );
});

it('sends a mailbox 3 codes a day, an account 10 and all accounts 1,000, also in parallel', async () => {
  const take = (accountId: string, address: string) =>
    confirmations.take(accountId, address).then(
      () => 1,
      () => 0,
    );
  const sum = async (takes: Promise<number>[]): Promise<number> =>
    (await Promise.all(takes)).reduce((total, each) => total + each, 0);
  const tagged = Array.from({ length: 8 }, (_, at) => take(randomUUID(), `Ann+${at}@customer.example`));
  expect(await sum(tagged)).toBe(3);
  const accountId = randomUUID();
  expect(await sum(Array.from({ length: 20 }, (_, at) => take(accountId, `a${at}@customer.example`)))).toBe(
    10,
  );
  await database.query(
    `INSERT INTO gateway.confirmation_mails (id, account_id, mailbox_sha256)
     SELECT gen_random_uuid(), gen_random_uuid(), '' FROM generate_series(14, 999)`,
  );
  const others = Array.from({ length: 5 }, (_, at) => take(randomUUID(), `b${at}@customer.example`));
  expect(await sum(others)).toBe(1);
  await database.query(`UPDATE gateway.confirmation_mails SET sent_at = now() - interval '25 hours'`);
  expect(await take(accountId, 'ann@customer.example')).toBe(1);
});

it.each([
  'mailto:ann@customer.example\r\nBcc: eve@evil.example',
  'mailto:ann@customer.example%0d%0aBcc:eve@evil.example',
  'mailto:ann@customer.example,eve@evil.example',
  'mailto:ann@customer.example?bcc=eve@evil.example',
  'mailto:Ann <ann@customer.example>',
  'mailto:"ann"@customer.example',
  'mailto:ann@localhost',
  'mailto:',
  'MAILTO:ann@customer.example',
  'mail\nto:ann@customer.example',
])('refuses the address %j', (url) => {
  expect(NewWebhookEndpoint.safeParse({ url, events: [] }).success).toBe(false);
});

describe('the connection to the mail server', () => {
  const mail = { to: 'ann@customer.example', subject: 's', text: 't', id: 'id' };
  const never = new AbortController().signal;

  it('ends at its deadline, however slowly the server replies', async () => {
    let closed = 0;
    const slow: Server = createServer((socket) => {
      socket.write('220 slow ESMTP\r\n');
      const timer = setInterval(() => socket.write('250-x\r\n'), 20);
      socket
        .on('error', () => undefined)
        .on('close', () => {
          clearInterval(timer);
          closed += 1;
        });
    }).listen(0, '127.0.0.1');
    await once(slow, 'listening');
    const server = serverAt((slow.address() as AddressInfo).port, { timeoutMs: 300 });
    await expect(server.send(mail, never)).rejects.toMatchObject({
      message: 'The mail server did not reply in time.',
      status: null,
    });
    await eventually(() => expect(closed).toBe(1));
    slow.close();
  });

  it('ends when the process stops', async () => {
    const hanging = createServer(() => undefined).listen(0, '127.0.0.1');
    await once(hanging, 'listening');
    const stopping = new AbortController();
    const sent = serverAt((hanging.address() as AddressInfo).port).send(mail, stopping.signal);
    stopping.abort();
    await expect(sent).rejects.toMatchObject({ name: 'MailRefused' });
    hanging.close();
  });

  it('is refused without STARTTLS, or with a certificate that nobody trusts', async () => {
    await expect(serverAt(mailbox.port, { tls: 'starttls' }).send(mail, never)).rejects.toMatchObject({
      name: 'MailRefused',
    });
    const encrypted = await Mailbox.start({ disabledCommands: [] });
    await expect(serverAt(encrypted.port, { tls: 'starttls' }).send(mail, never)).rejects.toMatchObject({
      message: 'The mail server could not be reached.',
    });
    expect(encrypted.mails).toEqual([]);
    await encrypted.stop();
  });

  it('has the user and the password of the settings, and reports the status of a refusal', async () => {
    const strict = await Mailbox.start({
      authOptional: false,
      allowInsecureAuth: true,
      onAuth: ({ username, password }, _, done) =>
        password === 'right' ? done(null, { user: username }) : done(new Error('no')),
    });
    const login = { user: 'svc', pass: 'right' };
    await serverAt(strict.port, { login }).send(mail, never);
    expect(strict.mails).toHaveLength(1);
    await expect(
      serverAt(strict.port, { login: { ...login, pass: 'wrong' } }).send(mail, never),
    ).rejects.toMatchObject({ message: 'The mail server replied with 535.', status: 535 });
    await strict.stop();
  });
});
