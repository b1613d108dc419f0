import { setTimeout as sleep } from 'node:timers/promises';
import { isLong } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorOf, eventually } from '../answers.js';
import { Platform, type TestAccount } from '../platform.js';

const MESSAGE =
  'Too many failed attempts (> 20) resulting in a non-success status code. Please wait 30s and try again.';
const HELLO = { model: 'test-model', messages: [{ role: 'user', content: 'hi' }] };

let platform: Platform;

beforeAll(async () => {
  platform = await Platform.start({
    env: { GATEWAY_FAILURE_BLOCK: 'on', GATEWAY_TRUSTED_PROXIES: 'loopback' },
  });
});

afterAll(() => platform.stop());

/** Fails so many times, one after the other. */
async function fail(account: TestAccount, times: number): Promise<number[]> {
  const statuses: number[] = [];
  for (let count = 0; count < times; count += 1) {
    const response = await platform.chat(account.apiKey, { ...HELLO, model: 'no-such-model' });
    await response.text();
    statuses.push(response.status);
  }
  return statuses;
}

const withKey = (apiKey: string, path: string, client: string): Promise<Response> =>
  fetch(`${platform.apiUrl}${path}`, {
    headers: { authorization: `Bearer ${apiKey}`, 'x-forwarded-for': client },
  });

describe('failures of a key', () => {
  it('are answered as themselves up to the twenty-first, and the next request is refused', async () => {
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
    // Neither other keys nor the address that they share are touched.
    expect((await platform.chat(other.apiKey, HELLO)).status).toBe(200);
    const log = await withKey(other.apiKey, '/api_keys/rate_limit_logs', '198.51.100.1');
    expect(await log.json()).toEqual({ object: 'list', data: [] });
  });

  it.runIf(isLong)(
    'are forgotten after 30 s, also for one who goes on trying',
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

  it('do not count where a limit refused', async () => {
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

describe('failures without a valid key', () => {
  it('count for the client address that a trusted proxy names, and for no other', async () => {
    const account = await platform.account();
    expect((await withKey(account.apiKey, '/characters', '203.0.113.8')).status).toBe(200);
    const statuses: number[] = [];
    for (let count = 0; count < 22; count += 1)
      statuses.push((await withKey('SVC_INFERENCE_KEY_wrong', '/characters', '203.0.113.7')).status);
    expect(statuses).toEqual([...Array.from({ length: 21 }, () => 401), 429]);
    expect((await withKey('SVC_INFERENCE_KEY_wrong', '/characters', '203.0.113.8')).status).toBe(401);
    // A key that was seen to be right is none of a stranger's guesses.
    expect((await withKey(account.apiKey, '/characters', '203.0.113.7')).status).toBe(200);
  });

  it('keep a blocked address from having any secret looked up, be it right', async () => {
    for (let count = 0; count < 21; count += 1)
      await withKey('SVC_INFERENCE_KEY_wrong', '/characters', '203.0.113.17');
    const account = await platform.account();
    expect((await withKey(account.apiKey, '/characters', '203.0.113.17')).status).toBe(429);
    expect((await withKey(account.apiKey, '/characters', '203.0.113.18')).status).toBe(200);
  });

  it('do not count for asking how to pay', async () => {
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
