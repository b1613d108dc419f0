import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AccountKeys, type Key } from '../account-keys.js';
import { errorOf, eventually } from '../response-bodies.js';
import { Platform, type TestAccount } from '../platform.js';

const NOBODY = '11111111-1111-4111-8111-111111111111';
const HELLO = { model: 'test-model', messages: [{ role: 'user', content: 'hi' }] };

let platform: Platform;

beforeAll(async () => {
  platform = await Platform.start({
    models: [{ id: 'anonymous-model', privacy: 'anonymized' }],
    // The refusals in these tests would add up.
  });
});

afterAll(() => platform.stop());

const chat = async (apiKey: string, more: object = {}): Promise<{ status: number; code: string }> => {
  const response = await platform.chat(apiKey, { ...HELLO, ...more });
  const { code } = await errorOf(response);
  return { status: response.status, code };
};

/** Pause between requests to a gateway, so that a hundred requests take at least a second. */
const PAUSE_MS = 10;
const WITHIN_A_SECOND = 100;

/**
 * Revokes a key that every gateway has cached. Returns the number of requests that each accepted before it
 * refused.
 */
async function timesBelieved(given: {
  readonly account: TestAccount;
  readonly adminKey: string;
  readonly revoking: string;
}): Promise<number[]> {
  const body = { apiKeyType: 'INFERENCE', description: '' };
  const made = await platform.operator('POST', `/accounts/${given.account.id}/api_keys`, body);
  const { apiKey, id } = made.body as { apiKey: string; id: string };
  const isKnown = async (gateway: string): Promise<boolean> => {
    const headers = { authorization: `Bearer ${apiKey}` };
    const response = await fetch(`${gateway}/api_keys/rate_limit_logs`, { headers });
    await response.text();
    expect([200, 401]).toContain(response.status);
    return response.status === 200;
  };
  const { gatewayUrls } = platform;
  expect(await Promise.all(gatewayUrls.map(isKnown))).not.toContain(false);
  const revoked = await fetch(`${given.revoking}/api_keys?id=${id}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${given.adminKey}` },
  });
  expect(revoked.status).toBe(200);
  return Promise.all(
    gatewayUrls.map(async (gateway) => {
      let times = 0;
      await eventually('a revoked key is wrong', async () => {
        if (!(await isKnown(gateway))) return true;
        times += 1;
        await sleep(PAUSE_MS);
        return false;
      });
      return times;
    }),
  );
}

describe('200', () => {
  it('returns the balances on every response to a holder of a key, including refusals', async () => {
    const keys = await AccountKeys.of(platform, '3.25');
    const { apiKey } = keys.account;
    const responses = [
      await keys.ask('GET'),
      await keys.ask('GET', { path: `/${NOBODY}` }),
      await keys.ask('GET', {}, apiKey),
      await platform.chat(apiKey, { ...HELLO, model: 'no-such-model' }),
      await fetch(`${platform.apiUrl}/characters`, { headers: { authorization: `Bearer ${apiKey}` } }),
      await platform.chat(apiKey, HELLO),
    ];
    expect(responses.map(({ status }) => status)).toEqual([200, 404, 401, 404, 200, 200]);
    for (const { headers } of responses) {
      expect([headers.get('x-svc-balance-usd'), headers.get('x-svc-balance-diem')]).toEqual(['3.25', '0.00']);
    }
    const stranger = await fetch(`${platform.apiUrl}/models`);
    expect(stranger.headers.has('x-svc-balance-usd')).toBe(false);
  });

  it('shows a key the models that its privacy setting allows, and all models without a key', async () => {
    const keys = await AccountKeys.of(platform);
    const key = await keys.create({ modelPrivacy: 'PRIVATE_TEXT' });
    const models = async (apiKey?: string): Promise<string[]> => {
      const headers = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
      const response = await fetch(`${platform.apiUrl}/models`, { headers });
      const { data } = (await response.json()) as { data: { id: string }[] };
      return data.map(({ id }) => id);
    };
    expect(await models(key.apiKey)).toEqual(['test-model']);
    expect(await models(keys.adminKey)).toEqual(['test-model', 'anonymous-model']);
    expect(await models()).toEqual(['test-model', 'anonymous-model']);
  });
});

describe('401', () => {
  it('rejects an invalid sign-in even next to a valid key', async () => {
    const { apiKey } = await platform.account();
    const body = { model: 'test-model', messages: [{ role: 'user', content: 'hi' }] };
    for (const name of ['sign-in-with-x', 'x-sign-in-with-x']) {
      const response = await platform.chat(apiKey, body, { headers: { [name]: 'e30=' } });
      expect(response.status).toBe(401);
      expect((await errorOf(response)).code).toBe('X402_SIGN_IN_INVALID_PAYLOAD');
    }
  });

  it('lets a response in progress finish when its key is revoked, and accepts no new request', async () => {
    const keys = await AccountKeys.of(platform);
    const { id } = keys.account;
    const key = await keys.create();
    const messages = [{ role: 'user', content: 'go [[sim tokens=200 itl-ms=10]]' }];
    const stream = await platform.chat(key.apiKey, { ...HELLO, messages, stream: true });
    expect(stream.status).toBe(200);
    const revoked = await keys.ask('DELETE', { path: `?id=${key.id}` });
    expect([revoked.status, revoked.body]).toEqual([200, { success: true }]);
    expect(await chat(key.apiKey)).toEqual({ status: 401, code: 'AUTHENTICATION_FAILED' });
    expect((await stream.text()).endsWith('data: [DONE]\n\n')).toBe(true);
    expect(Number((await platform.balances(id)).usd)).toBeLessThan(10);
  });

  it('rejects a revoked key on every gateway within a second, whichever revoked it', async () => {
    const { account, adminKey } = await AccountKeys.of(platform);
    const { gatewayUrls } = platform;
    const beliefs: number[] = [];
    for (const revoking of gatewayUrls)
      beliefs.push(...(await timesBelieved({ account, adminKey, revoking })));
    // The median, since a busy machine may delay some of them.
    const usual = beliefs.toSorted((a, b) => a - b)[beliefs.length >> 1];
    expect(usual).toBeLessThanOrEqual(WITHIN_A_SECOND);
  });

  it('lets a key expire', async () => {
    const keys = await AccountKeys.of(platform);
    const key = await keys.create({ expiresAt: new Date(Date.now() + 2_000).toISOString() });
    await chat(key.apiKey);
    await eventually('the key has ended', async () => (await chat(key.apiKey)).status === 401);
    const { body } = await keys.ask('GET');
    expect(body.data.map(({ id }: Key) => id)).not.toContain(key.id);
    expect((await keys.ask('PATCH', { body: { id: key.id, expiresAt: '2099-01-01' } })).status).toBe(404);
  });

  it('rejects a wrong key where none is needed', async () => {
    const headers = { authorization: 'Bearer SVC_INFERENCE_KEY_wrong' };
    expect((await fetch(`${platform.apiUrl}/models`, { headers })).status).toBe(401);
  });
});

describe('402', () => {
  it('creates a key that may spend nothing until that is changed', async () => {
    const keys = await AccountKeys.of(platform);
    const key = await keys.create({ consumptionLimit: { usd: 0 } });
    expect(await chat(key.apiKey)).toEqual({ status: 402, code: 'API_KEY_USD_SPEND_LIMIT_EXCEEDED' });
    await keys.ask('PATCH', { body: { id: key.id, consumptionLimit: { usd: null } } });
    expect((await chat(key.apiKey)).status).toBe(200);
  });
});

describe('403', () => {
  it('refuses models that the privacy setting of a key forbids', async () => {
    const keys = await AccountKeys.of(platform);
    const key = await keys.create({ modelPrivacy: 'PRIVATE_ONLY' });
    const response = await platform.chat(key.apiKey, { ...HELLO, model: 'anonymous-model' });
    const { code, error } = await errorOf(response);
    expect([response.status, code, error.message]).toEqual([
      403,
      'UNAUTHORIZED',
      "This API key is set to 'PRIVATE_ONLY', but `anonymous-model` is an Anonymous model. Choose a Private, TEE, " +
        'or E2EE model, or change the model privacy setting of this API key.',
    ]);
    expect((await chat(key.apiKey)).status).toBe(200);
    expect((await chat(keys.adminKey, { model: 'anonymous-model' })).status).toBe(200);
  });
});
