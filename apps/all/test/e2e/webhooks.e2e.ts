import { randomUUID } from 'node:crypto';
import { type Simulator, startSimulator } from '@svc/simulator';
import OpenAI from 'openai';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AccountKeys } from '../account-keys.js';
import { BatchClient, chatLine, linesText } from '../batch-client.js';
import { Platform } from '../platform.js';
import { eventually } from '../response-bodies.js';
import { type Received, WebhookReceiver } from '../webhook-receiver.js';

const CHAT = { model: 'test-model', messages: [{ role: 'user', content: 'hi' }] };

let platform: Platform;
let receiver: WebhookReceiver;
let backend: Simulator;

const videoModel = (id: string, settings: string): object => ({
  id,
  name: id,
  type: 'video',
  tier: 'XS',
  constraints: { durations: ['5s'], resolutions: ['480p'] },
  pricing: { perSecond: { '480p': 0.02 } },
  backends: [{ url: `${backend.url}/v1`, model: `clip;delay-ms=0${settings}` }],
});

beforeAll(async () => {
  backend = await startSimulator({ port: 0 });
  receiver = await WebhookReceiver.start();
  platform = await Platform.start({
    env: {
      GATEWAY_WEBHOOK_PRIVATE_HOSTS: receiver.host,
      GATEWAY_WEBHOOK_KEY: 'key-of-the-webhooks-of-the-tests-of-the-platform',
    },
    models: [
      { id: 'dear', pricing: { input: 100_000, output: 100_000 } },
      videoModel('clip', ''),
      videoModel('fails', ';fault=failed'),
    ],
  });
});

afterAll(async () => {
  await platform.stop();
  await backend.close();
  receiver.stop();
});

interface Endpoint {
  readonly id: string;
  readonly secret: string;
  readonly state: string;
}

interface Delivery {
  readonly id: string;
  readonly eventId: string;
  readonly eventType: string;
  readonly state: string;
  readonly tries: number;
  readonly status: number | null;
  readonly fault: string | null;
}

class Customer {
  private constructor(
    readonly id: string,
    readonly apiKey: string,
    readonly adminKey: string,
  ) {}

  static async with(usd = '10.00'): Promise<Customer> {
    const { account, adminKey } = await AccountKeys.of(platform, usd);
    return new Customer(account.id, account.apiKey, adminKey);
  }

  async call<Body>(method: string, path: string, body?: object): Promise<{ status: number; body: Body }> {
    const response = await fetch(`${platform.apiUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${this.adminKey}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as Body };
  }

  async endpoint(path: string, events = ['balance.low']): Promise<Endpoint> {
    const made = await this.call<Endpoint>('POST', '/webhook_endpoints', {
      url: path.startsWith('/') ? receiver.url + path : path,
      events,
    });
    if (made.status !== 200) throw new Error(`the endpoint was refused: ${made.status}`);
    return made.body;
  }

  async test({ id }: Endpoint): Promise<Delivery> {
    const { status, body } = await this.call<Delivery>('POST', `/webhook_endpoints/${id}/test`);
    if (status !== 200) throw new Error(`the test was refused: ${status}`);
    return body;
  }

  async deliveries({ id }: Endpoint): Promise<Delivery[]> {
    const { body } = await this.call<{ data: Delivery[] }>(
      'GET',
      `/webhook_endpoints/${id}/deliveries?limit=100`,
    );
    return body.data;
  }

  /** The deliveries that were attempted, of which there is at least one. */
  async attempted(endpoint: Endpoint): Promise<Delivery[]> {
    let attempted: Delivery[] = [];
    await eventually('a delivery is attempted', async () => {
      attempted = (await this.deliveries(endpoint)).filter(({ tries }) => tries > 0);
      return attempted.length > 0;
    });
    return attempted;
  }

  video(model: string, callbackUrl: string): Promise<Response> {
    const body = { model, prompt: 'A cat', duration: '5s', callback_url: callbackUrl };
    return fetch(`${platform.apiUrl}/video/queue`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  }

  spend(user?: string): Promise<Response> {
    return platform.chat(this.apiKey, { ...CHAT, model: 'dear', max_tokens: 16, ...(user && { user }) });
  }
}

async function arrival(path: string, type?: string): Promise<Received> {
  await eventually(`a delivery at ${path}`, () => receiver.at(path, type).length > 0);
  const [first] = receiver.at(path, type);
  if (!first) throw new Error('nothing was received');
  return first;
}

const headersOf = ({ headers }: Received) => headers as Record<string, string>;
const openai = new OpenAI({ apiKey: 'none' });
const unwrapped = (received: Received, secret: string) =>
  openai.webhooks.unwrap(received.body, headersOf(received), secret);

it('an account is notified when its batch has ended', async () => {
  const customer = await Customer.with();
  const { secret } = await customer.endpoint('/batches', ['batch.completed']);
  const batch = await new BatchClient(platform, customer.apiKey).begin(linesText(chatLine('1'), '{}'));
  const event: unknown = await unwrapped(await arrival('/batches'), secret);
  expect(event).toMatchObject({
    type: 'batch.completed',
    data: { id: batch.id, completed: 1, failed: 1 },
  });
});

describe('the callback of a job', () => {
  it('is delivered once it has ended, signed by the endpoint of the same origin, beside its own event', async () => {
    const customer = await Customer.with();
    const endpoint = await customer.endpoint('/jobs', ['video.completed']);
    const queued = await customer.video('clip', `${receiver.url}/job-7`);
    expect(queued.status).toBe(200);
    const { queue_id: id } = (await queued.json()) as { queue_id: string };
    expect((await customer.video('fails', `${receiver.url}/job-8`)).status).toBe(200);
    const event = { type: 'video.completed', data: { id, model: 'clip' } };
    for (const path of ['/job-7', '/jobs'])
      expect(await unwrapped(await arrival(path), endpoint.secret)).toMatchObject(event);
    const failed: unknown = await unwrapped(await arrival('/job-8'), endpoint.secret);
    expect(failed).toMatchObject({ type: 'video.failed', data: { code: 'INFERENCE_FAILED' } });
    expect(receiver.at('/jobs')).toHaveLength(1);
    const ids = (await customer.deliveries(endpoint)).map(({ eventId }) => eventId);
    expect(new Set(ids).size).toBe(3);
  });

  it('needs an endpoint of its origin, and costs nothing without one', async () => {
    const customer = await Customer.with();
    await customer.endpoint('/jobs', []);
    for (const url of [`${receiver.url}1/job`, 'https://example.com/job', 'file:///job', 'job']) {
      const refused = await customer.video('clip', url);
      expect([refused.status, await refused.json()]).toEqual([
        400,
        expect.objectContaining({ code: 'INVALID_REQUEST' }),
      ]);
    }
    expect(await platform.balances(customer.id)).toMatchObject({ usd: '10.00' });
  });

  it('that gets a 410 is not repeated, and the endpoint stays enabled', async () => {
    const customer = await Customer.with();
    const endpoint = await customer.endpoint('/jobs-of-one', []);
    expect((await customer.video('clip', `${receiver.url}/gone/9`)).status).toBe(200);
    expect(await customer.attempted(endpoint)).toMatchObject([{ state: 'failed', status: 410 }]);
    expect((await customer.call('GET', `/webhook_endpoints/${endpoint.id}`)).body).toMatchObject({
      state: 'enabled',
    });
  });
});

describe('a webhook endpoint', () => {
  it('shows its secret once, can be changed and deleted, and belongs to its account', async () => {
    const customer = await Customer.with();
    const { secret, ...made } = await customer.endpoint('/mine');
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const path = `/webhook_endpoints/${made.id}`;
    expect((await customer.call('GET', path)).body).toEqual(made);
    expect((await customer.call('GET', '/webhook_endpoints')).body).toEqual({ object: 'list', data: [made] });
    const changed = await customer.call('PATCH', path, { enabled: false, events: ['refund.created'] });
    expect(changed.body).toEqual({ ...made, state: 'disabled', events: ['refund.created'] });
    const other = await Customer.with('0');
    for (const [method, of] of [
      ['GET', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['POST', '/rotate'],
      ['POST', '/test'],
      ['GET', '/deliveries'],
      ['POST', `/deliveries/${randomUUID()}/replay`],
    ] as const) {
      const body = ['PATCH', 'POST'].includes(method) ? {} : undefined;
      expect(await other.call(method, path + of, body)).toMatchObject({
        status: 404,
        body: { code: 'WEBHOOK_ENDPOINT_NOT_FOUND' },
      });
    }
    expect((await customer.call('DELETE', path)).body).toEqual({ id: made.id, deleted: true });
    expect((await customer.call('GET', path)).status).toBe(404);
  });

  it('needs an ADMIN key and a URL, and an account has at most ten', async () => {
    const customer = await Customer.with('0');
    const response = await fetch(`${platform.apiUrl}/webhook_endpoints`, {
      headers: { authorization: `Bearer ${customer.apiKey}` },
    });
    expect(response.status).toBe(401);
    for (const url of ['file:///etc/passwd', 'hooks', ''])
      expect(
        await customer.call('POST', '/webhook_endpoints', { url, events: ['balance.low'] }),
      ).toMatchObject({ status: 400, body: { code: 'INVALID_REQUEST' } });
    for (let count = 0; count < 10; count += 1) await customer.endpoint(`/many/${count}`);
    const eleventh = { url: `${receiver.url}/many`, events: ['balance.low'] };
    expect((await customer.call('POST', '/webhook_endpoints', eleventh)).status).toBe(400);
  });
});

describe('a delivery', () => {
  it('of a low balance is verified by the packages of OpenAI and of Standard Webhooks, once', async () => {
    const customer = await Customer.with('10.00');
    const { secret } = await customer.endpoint('/low');
    const alerts = [{ type: 'balance.low', currency: 'USD', amount: 9.5 }];
    expect((await customer.call('PUT', '/alerts', { alerts })).body).toEqual({ alerts });
    expect((await customer.call('GET', '/alerts')).body).toEqual({ alerts });
    expect((await customer.spend()).status).toBe(200);
    expect((await customer.spend()).status).toBe(200);
    const received = await arrival('/low');
    const event = await unwrapped(received, secret);
    expect(event).toMatchObject({
      id: received.headers['webhook-id'],
      object: 'event',
      created_at: expect.any(Number),
      type: 'balance.low',
      data: { currency: 'USD', amount: 9.5, balance: expect.any(Number) },
    });
    expect(new Webhook(secret).verify(received.body, headersOf(received))).toEqual(event);
    const forged = { ...received, body: received.body.replace('9.5', '1.5') };
    await expect(unwrapped(forged, secret)).rejects.toThrow(/signature/i);
    expect(() => new Webhook(secret).verify(forged.body, headersOf(forged))).toThrow(/signature/i);
    await customer.test(await customer.endpoint('/low-end'));
    await arrival('/low-end');
    expect(receiver.at('/low')).toHaveLength(1);
  });

  it('is of what one of the users of the account has spent, under the hash that stands for its name', async () => {
    const customer = await Customer.with('10.00');
    const { secret } = await customer.endpoint('/users', ['end_user.spend_threshold']);
    const alert = { type: 'end_user.spend_threshold', period: 'MONTH', currency: 'USD', amount: 0.01 };
    const set = { alerts: [{ ...alert, endUser: 'alice' }] };
    const { body: stored } = await customer.call<{ alerts: { endUser: string }[] }>('PUT', '/alerts', set);
    expect(stored).toEqual({ alerts: [{ ...alert, endUser: expect.stringMatching(/^eu_/) }] });
    expect((await customer.call('PUT', '/alerts', stored)).body).toEqual(stored);
    expect((await customer.spend('bob')).status).toBe(200);
    expect((await customer.spend('alice')).status).toBe(200);
    expect((await customer.spend('alice')).status).toBe(200);
    const event: unknown = await unwrapped(await arrival('/users'), secret);
    const [{ endUser } = { endUser: '' }] = stored.alerts;
    expect(event).toMatchObject({
      type: 'end_user.spend_threshold',
      data: { end_user: endUser, period: 'MONTH', currency: 'USD', amount: 0.01 },
    });
    await customer.test(await customer.endpoint('/users-end'));
    await arrival('/users-end');
    expect(receiver.at('/users')).toHaveLength(1);
  });

  it('is repeated with its id after a failure, and when it is replayed', async () => {
    const customer = await Customer.with('0');
    const endpoint = await customer.endpoint('/once');
    const { id, eventId } = await customer.test(endpoint);
    await eventually('it arrives twice', () => receiver.at('/once').length === 2);
    await eventually(
      'it is stored',
      async () => (await customer.deliveries(endpoint))[0]?.state === 'delivered',
    );
    expect(await customer.deliveries(endpoint)).toMatchObject([{ id, tries: 2, status: 204, fault: null }]);
    const replay = `/webhook_endpoints/${endpoint.id}/deliveries/${id}/replay`;
    expect((await customer.call('POST', replay)).body).toMatchObject({ state: 'pending', tries: 0 });
    await eventually('it arrives again', () => receiver.at('/once').length === 3);
    expect(new Set(receiver.at('/once').map(({ headers }) => headers['webhook-id']))).toEqual(
      new Set([eventId]),
    );
  });

  it('is signed with both secrets after a rotation', async () => {
    const customer = await Customer.with('0');
    const endpoint = await customer.endpoint('/rotated');
    const path = `/webhook_endpoints/${endpoint.id}/rotate`;
    const { body: rotated } = await customer.call<Endpoint>('POST', path, { overlapSeconds: 60 });
    expect(rotated.secret).not.toBe(endpoint.secret);
    await customer.test(endpoint);
    const first = await arrival('/rotated');
    for (const { secret } of [endpoint, rotated])
      await expect(unwrapped(first, secret)).resolves.toMatchObject({ type: 'webhook.test' });
    const { body: last } = await customer.call<Endpoint>('POST', path, { overlapSeconds: 0 });
    await customer.test(endpoint);
    await eventually('it arrives', () => receiver.at('/rotated').length === 2);
    const second = receiver.at('/rotated')[1] ?? first;
    await expect(unwrapped(second, last.secret)).resolves.toMatchObject({ type: 'webhook.test' });
    await expect(unwrapped(second, rotated.secret)).rejects.toThrow(/signature/i);
  });

  it('to a server that responds with 410 is the last, of which the other endpoints are notified', async () => {
    const customer = await Customer.with('0');
    const gone = await customer.endpoint('/gone');
    await customer.endpoint('/notified', ['webhook_endpoint.disabled']);
    await customer.test(gone);
    const { body } = await arrival('/notified');
    expect(JSON.parse(body)).toMatchObject({ data: { endpoint_id: gone.id, state: 'gone' } });
    expect((await customer.call('GET', `/webhook_endpoints/${gone.id}`)).body).toMatchObject({
      state: 'gone',
    });
    expect(await customer.attempted(gone)).toMatchObject([{ state: 'failed', status: 410 }]);
  });
});

describe('a hostile receiver', () => {
  const unreachable = 'The URL could not be reached.';
  it.each([
    ['http://127.0.0.1:1/', unreachable],
    ['http://127.0.0.1:8080/', unreachable],
    ['http://[::ffff:169.254.169.254]/latest/meta-data', unreachable],
    ['http://localhost/', unreachable],
    ['http://2130706433:8080/', unreachable],
    ['/redirect', 'The URL redirects too often or in a way that is not allowed.'],
    ['/large', 'The content of the URL is too large.'],
  ])('at %s is refused', async (url, fault) => {
    const customer = await Customer.with('0');
    const endpoint = await customer.endpoint(url);
    await customer.test(endpoint);
    expect(await customer.attempted(endpoint)).toMatchObject([{ state: 'pending', tries: 1, fault }]);
    expect(receiver.at('/target')).toEqual([]);
  });

  it('that never responds delays only its own deliveries', async () => {
    const slow = await Customer.with('0');
    const hanging = await slow.endpoint('/hang');
    for (let count = 0; count < 40; count += 1) await slow.test(hanging);
    const quick = await Customer.with('0');
    await quick.test(await quick.endpoint('/quick'));
    await arrival('/quick');
    expect(receiver.at('/hang').length).toBeLessThanOrEqual(4);
    const faults = new Set((await slow.attempted(hanging)).map(({ fault }) => fault));
    expect(faults).toEqual(new Set(['The URL took too long to answer.']));
  });
});
