import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { LocalChain } from '@svc/infra';
import { isLong } from '@svc/testing';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorOf, eventually } from '../response-bodies.js';
import { buyer, pay, paymentOf, sellerOn, topUpUrl } from '../buyers.js';
import { OPERATOR_TOKEN, Platform, type TestAccount } from '../platform.js';
import { isClustered } from '../target.js';
import { evmWallet, signedInAt, solanaWallet } from '../wallets.js';

const MESSAGE =
  'Too many failed attempts (> 20) resulting in a non-success status code. Please wait 30s and try again.';
const HELLO = { model: 'test-model', messages: [{ role: 'user', content: 'hi' }] };

let platform: Platform;

beforeAll(async () => {
  platform = await Platform.start({
    models: [{ id: 'offline', backends: [{ url: 'http://127.0.0.1:9/v1', model: 'gone' }] }],
    env: { GATEWAY_FAILURE_BLOCK: 'on', GATEWAY_TRUSTED_PROXIES: 'loopback' },
  });
});

afterAll(() => platform.stop());

/** Fails this number of times, one after the other. */
async function fail(account: TestAccount, times: number): Promise<number[]> {
  const statuses: number[] = [];
  for (let count = 0; count < times; count += 1) {
    const response = await platform.chat(account.apiKey, { ...HELLO, model: 'no-such-model' });
    await response.text();
    statuses.push(response.status);
  }
  return statuses;
}

const from = (client: string, path: string, { headers, ...init }: RequestInit = {}): Promise<Response> =>
  fetch(`${platform.apiUrl}${path}`, { ...init, headers: { ...headers, 'x-forwarded-for': client } });

const withKey = (apiKey: string, path: string, client: string): Promise<Response> =>
  from(client, path, { headers: { authorization: `Bearer ${apiKey}` } });

/** Sends different wrong keys from one address, each as soon as the last was refused, until stopped. */
class Flood {
  private readonly statuses: number[] = [];
  private isEnding = false;
  private readonly senders: readonly Promise<void>[];

  constructor(private readonly client: string) {
    this.senders = Array.from({ length: 8 }, (_, sender) => this.send(sender));
  }

  /** Resolves when the address is blocked. */
  blocks(): Promise<void> {
    return eventually('the address is blocked', () => this.statuses.includes(429));
  }

  async end(): Promise<readonly number[]> {
    this.isEnding = true;
    await Promise.all(this.senders);
    return this.statuses;
  }

  private async send(sender: number): Promise<void> {
    for (let count = 0; !this.isEnding; count += 1) {
      const response = await withKey(
        `SVC_INFERENCE_KEY_wrong-${sender}-${count}`,
        '/characters',
        this.client,
      );
      await response.text();
      this.statuses.push(response.status);
    }
  }
}

it.skipIf(isClustered())('refusals for failures are counted, with and without a valid key', async () => {
  const counted = async (): Promise<number> => {
    const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` };
    const text = await (await fetch(new URL('/metrics', platform.operatorUrl), { headers })).text();
    return Number(/^svc_limits_refusals_total\{svc_limits_type="FAILED_REQUESTS"\} (\d+)/m.exec(text)?.[1]);
  };
  const account = await platform.account();
  await fail(account, 21);
  const before = await counted();
  expect((await platform.chat(account.apiKey, HELLO)).status).toBe(429);
  expect((await withKey(account.apiKey, '/api_keys/rate_limit_logs', '198.51.100.77')).status).toBe(429);
  const flood = new Flood('198.51.100.78');
  await flood.blocks();
  const refused = (await flood.end()).filter((status) => status === 429).length;
  expect((await counted()) - before).toBe(2 + refused);
});

describe('failures of a key', () => {
  it('get their normal response up to the twenty-first, and then the key is blocked', async () => {
    const account = await platform.account();
    const other = await platform.account();
    expect(await fail(account, 21)).toEqual(Array.from({ length: 21 }, () => 404));
    const refused = await platform.chat(account.apiKey, HELLO);
    expect(refused.status).toBe(429);
    const retryAfter = Number(refused.headers.get('retry-after'));
    expect(retryAfter).toBeGreaterThan(20);
    expect(retryAfter).toBeLessThanOrEqual(30);
    const untilSeconds = Number(refused.headers.get('x-ratelimit-reset-requests')) - Date.now() / 1_000;
    expect(untilSeconds).toBeGreaterThan(20);
    expect(untilSeconds).toBeLessThanOrEqual(31);
    expect(refused.headers.get('x-svc-balance-usd')).toBe('10.00');
    expect(await errorOf(refused)).toMatchObject({
      error: { message: MESSAGE, type: 'rate_limit_error', code: 'RATE_LIMIT_EXCEEDED' },
    });
    // Neither other keys nor the shared address are affected.
    expect((await platform.chat(other.apiKey, HELLO)).status).toBe(200);
    const log = await withKey(other.apiKey, '/api_keys/rate_limit_logs', '198.51.100.1');
    expect(await log.json()).toEqual({ object: 'list', data: [] });
  });

  it.runIf(isLong)(
    'expire after 30 s, even for a client that keeps trying',
    async () => {
      const account = await platform.account();
      expect(await fail(account, 21)).toEqual(Array.from({ length: 21 }, () => 404));
      const refused = await platform.chat(account.apiKey, HELLO);
      await sleep(Number(refused.headers.get('retry-after')) * 1_000);
      await eventually(
        'the block ends',
        async () => (await platform.chat(account.apiKey, HELLO)).status === 200,
      );
      expect(await fail(account, 1)).toEqual([404]);
    },
    60_000,
  );

  it('do not count if a limit refused the request', async () => {
    const { body } = await platform.operator('POST', '/accounts', { name: 'limited' });
    await platform.operator('POST', `/accounts/${String(body['id'])}/credits`, {
      usd: '1.00',
      reference: 'a',
    });
    const key = await platform.operator('POST', `/accounts/${String(body['id'])}/api_keys`, {
      apiKeyType: 'INFERENCE',
      description: '',
      requestsPerMinute: 1,
    });
    const apiKey = String(key.body['apiKey']);
    const statuses: number[] = [];
    for (let count = 0; count < 30; count += 1) statuses.push((await platform.chat(apiKey, HELLO)).status);
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
    const refused = await errorOf(await platform.chat(apiKey, { ...HELLO, max_tokens: 'x' }));
    expect(refused.code).toBe('INVALID_REQUEST');
  });
});

describe("what is not the caller's failure", () => {
  const simulated = (sim: object): object => ({ ...HELLO, sim });

  it.each([
    ['the model is offline', { ...HELLO, model: 'offline' }],
    ['the backend is full', simulated({ fault: '503' })],
  ])('does not block a key: 30 responses of 503, because %s', async (_, body) => {
    const { apiKey } = await platform.account();
    const statuses: number[] = [];
    for (let count = 0; count < 30; count += 1) {
      const response = await platform.chat(apiKey, body);
      await response.text();
      statuses.push(response.status);
    }
    expect(new Set(statuses)).toEqual(new Set([503]));
    expect((await platform.chat(apiKey, HELLO)).status).toBe(200);
  });

  it('does not block a key: 30 requests whose client disconnects before the response', async () => {
    const { apiKey } = await platform.account();
    const before = platform.simulator.cancellations().length;
    for (let count = 0; count < 30; count += 1) {
      const leaving = new AbortController();
      const response = platform.chat(apiKey, simulated({ ttftMs: 60_000 }), { signal: leaving.signal });
      const ended = response.then(
        () => 'a response',
        () => 'left',
      );
      await eventually('the backend has the request', () => platform.simulator.stats().inFlight > 0);
      leaving.abort();
      expect(await ended).toBe('left');
      await eventually(
        'the backend call has ended',
        () => platform.simulator.cancellations().length === before + count + 1,
      );
    }
    expect((await platform.chat(apiKey, HELLO)).status).toBe(200);
  });

  it('does not excuse a client that disconnects before it reads that its key is wrong', async () => {
    const client = '203.0.113.40';
    const { hostname, port } = new URL(platform.apiUrl);
    const guess = [
      'GET /api/v1/characters HTTP/1.1',
      `host: ${hostname}`,
      `x-forwarded-for: ${client}`,
      'authorization: Bearer SVC_INFERENCE_KEY_wrong',
    ];
    for (let count = 0; count < 40; count += 1) {
      const socket = connect(Number(port), hostname);
      await once(socket, 'connect');
      socket.write(`${guess.join('\r\n')}\r\n\r\n`, () => socket.destroy());
      await once(socket, 'close');
    }
    await expect.poll(async () => (await from(client, '/models')).status, { timeout: 20_000 }).toBe(429);
  });
});

describe('failures without a valid key', () => {
  it('count only for the client address that a trusted proxy reports', async () => {
    const account = await platform.account();
    expect((await withKey(account.apiKey, '/characters', '203.0.113.8')).status).toBe(200);
    const statuses: number[] = [];
    for (let count = 0; count < 22; count += 1)
      statuses.push((await withKey('SVC_INFERENCE_KEY_wrong', '/characters', '203.0.113.7')).status);
    expect(statuses).toEqual([...Array.from({ length: 21 }, () => 401), 429]);
    expect((await withKey('SVC_INFERENCE_KEY_wrong', '/characters', '203.0.113.8')).status).toBe(401);
    // A key that was accepted before is not counted as a guess of an unknown client.
    expect((await withKey(account.apiKey, '/characters', '203.0.113.7')).status).toBe(200);
  });

  it('do not block valid keys or wallets of the same address, even new ones, during a flood', async () => {
    const flood = new Flood('203.0.113.17');
    await flood.blocks();
    const statuses: number[] = [];
    for (let count = 0; count < 10; count += 1) {
      const { apiKey } = await platform.account('0');
      statuses.push((await withKey(apiKey, '/characters', '203.0.113.17')).status);
      const wallet = count % 2 === 0 ? evmWallet() : solanaWallet();
      const headers = await signedInAt(platform.apiUrl, wallet);
      const path = `/x402/balance/${wallet.address}`;
      statuses.push((await from('203.0.113.17', path, { headers })).status);
    }
    expect(new Set(await flood.end())).toEqual(new Set([401, 429]));
    expect(statuses).toEqual(Array.from({ length: 20 }, () => 200));
    expect((await from('203.0.113.17', '/models')).status).toBe(429);
    expect((await from('203.0.113.18', '/models')).status).toBe(200);
  });

  it.each([
    ['a 404', { path: '/no-such-route', method: 'GET' }],
    ['a 405', { path: '/models', method: 'DELETE' }],
  ])('do not count with a valid key: %s counts for the key', async (_, { path, method }) => {
    const client = method === 'GET' ? '203.0.113.27' : '203.0.113.28';
    const { apiKey } = await platform.account('0');
    const statuses: number[] = [];
    for (let count = 0; count < 22; count += 1) {
      const authorization = `Bearer ${apiKey}`;
      statuses.push((await from(client, path, { method, headers: { authorization } })).status);
    }
    expect(statuses).toEqual([...Array.from({ length: 21 }, () => (method === 'GET' ? 404 : 405)), 429]);
    expect((await withKey(apiKey, '/characters', '203.0.113.29')).status).toBe(429);
    expect((await from(client, '/models')).status).toBe(200);
  });

  it('do not count with a valid wallet: a 404 counts for the wallet', async () => {
    const wallet = evmWallet();
    const statuses: number[] = [];
    for (let count = 0; count < 22; count += 1) {
      const headers = await signedInAt(platform.apiUrl, wallet);
      statuses.push((await from('203.0.113.30', '/no-such-route', { headers })).status);
    }
    expect(statuses).toEqual([...Array.from({ length: 21 }, () => 404), 429]);
    expect((await from('203.0.113.30', '/models')).status).toBe(200);
  });

  it('count for a missing route with missing or wrong credentials', async () => {
    const statuses: number[] = [];
    for (let count = 0; count < 22; count += 1) {
      const headers = count % 2 === 0 ? { authorization: `Bearer SVC_INFERENCE_KEY_wrong${count}` } : {};
      statuses.push((await from('203.0.113.31', '/no-such-route', { headers })).status);
    }
    expect(statuses).toEqual([...Array.from({ length: 21 }, () => 404), 429]);
  });

  it('do not count for requests for payment terms', async () => {
    const ask = (): Promise<Response> =>
      fetch(`${platform.apiUrl}/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-forwarded-for': '203.0.113.9' },
        body: JSON.stringify(HELLO),
      });
    const statuses = await Promise.all(Array.from({ length: 30 }, async () => (await ask()).status));
    expect(new Set([...statuses, (await ask()).status])).toEqual(new Set([402]));
  });
});

// Only Linux accepts addresses such as 127.0.0.5 without configuration.
describe.runIf(process.platform === 'linux')('without a trusted proxy', () => {
  let direct: Platform;
  const agents: Agent[] = [];

  beforeAll(async () => {
    direct = await Platform.start({ env: { GATEWAY_FAILURE_BLOCK: 'on' } });
  });
  afterAll(async () => {
    await Promise.all(agents.map((agent) => agent.close()));
    await direct.stop();
  });

  /** A client at its own address, which sends a wrong key and claims another address each time. */
  function clientAt(localAddress: string): () => Promise<number> {
    const agent = new Agent({ localAddress });
    agents.push(agent);
    let count = 0;
    return async () => {
      const headers = {
        authorization: 'Bearer SVC_INFERENCE_KEY_wrong',
        'x-forwarded-for': `203.0.113.${(count += 1)}`,
        'x-real-ip': `203.0.113.${count}`,
        forwarded: `for=203.0.113.${count}`,
      };
      const { statusCode, body } = await request(`${direct.apiUrl}/characters`, {
        dispatcher: agent,
        headers,
      });
      await body.dump();
      return statusCode;
    };
  }

  it('blocks the address of the connection, also behind a balancer, and ignores headers of clients', async () => {
    const [one, other] = [clientAt('127.0.0.5'), clientAt('127.0.0.6')];
    const statuses: number[] = [];
    for (let count = 0; count < 22; count += 1) statuses.push(await one());
    expect(statuses).toEqual([...Array.from({ length: 21 }, () => 401), 429]);
    expect(await other()).toBe(401);
  });
});

describe('a client that retries its payment after a 409', () => {
  let chain: LocalChain;
  let seller: Platform;

  beforeAll(async () => {
    chain = await LocalChain.start();
    const { env } = await sellerOn(chain);
    seller = await Platform.start({ env: { ...env, X402_SETTLE_WAIT_MS: '1', GATEWAY_FAILURE_BLOCK: 'on' } });
  });
  afterAll(async () => {
    await seller?.stop();
    await chain?.stop();
  });

  it('is not blocked and gets its credit', { timeout: 120_000 }, async () => {
    const header = await paymentOf(await buyer(chain, 10), topUpUrl(seller));
    const send = async (): Promise<number> => (await pay(seller, header)).status;
    await chain.call('evm_setAutomine', [false]);
    const statuses: number[] = [];
    for (let count = 0; count < 30; count += 1) statuses.push(await send());
    expect(new Set(statuses)).toEqual(new Set([409]));
    await chain.call('evm_setAutomine', [true]);
    await chain.call('evm_mine', []);
    await expect.poll(send, { timeout: 60_000 }).toBe(200);
  });
});
