import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AccountKeys, type Key, askKeys } from '../account-keys.js';
import { errorOf, eventually } from '../response-bodies.js';
import { Platform } from '../platform.js';

const NOBODY = '11111111-1111-4111-8111-111111111111';
const HELLO = { model: 'test-model', messages: [{ role: 'user', content: 'hi' }] };
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const NO_LIMITS = { usd: null, diem: null, vcu: null };

let platform: Platform;

beforeAll(async () => {
  // The refusals in these tests would add up. On a slow machine, spending is counted late.
  const env = { LEDGER_READ_WAIT_MS: '20000' };
  platform = await Platform.start({ env });
});

afterAll(() => platform.stop());

const chat = async (apiKey: string, more: object = {}): Promise<{ status: number; code: string }> => {
  const response = await platform.chat(apiKey, { ...HELLO, ...more });
  const { code } = await errorOf(response);
  return { status: response.status, code };
};

describe('200', () => {
  it('creates a key that works, and returns its secret only once', async () => {
    const keys = await AccountKeys.of(platform);
    const key = await keys.create({ description: 'website' });
    expect(key).toEqual({
      id: expect.any(String),
      apiKey: expect.stringMatching(/^SVC_INFERENCE_KEY_[\w-]{43}$/),
      apiKeyType: 'INFERENCE',
      description: 'website',
      expiresAt: null,
      consumptionLimit: NO_LIMITS,
      limitPeriod: 'EPOCH',
      modelPrivacy: 'ALL',
    });
    expect((await chat(key.apiKey)).status).toBe(200);
    const [list, one] = [await keys.ask('GET'), await keys.ask('GET', { path: `/${key.id}` })];
    const secret = key.apiKey.slice('SVC_INFERENCE_KEY_'.length);
    for (const shown of [JSON.stringify(list.body), JSON.stringify(one.body), await platform.log()]) {
      expect(shown).not.toContain(secret);
    }
    expect(one.body.data.last6Chars).toBe(secret.slice(-6));
  });

  it('lists the active keys of the account, newest first', async () => {
    const keys = await AccountKeys.of(platform);
    await AccountKeys.of(platform);
    const first = await keys.create({ description: 'first' });
    const second = await keys.create({ apiKeyType: 'ADMIN', description: 'second' });
    const { status, body } = await keys.ask('GET');
    expect([status, body]).toEqual([200, { object: 'list', data: expect.any(Array) }]);
    expect(body.data.map(({ description }: Key) => description)).toEqual(['second', 'first', 'admin', '']);
    expect(body.data[1]).toEqual({
      id: first.id,
      apiKeyType: 'INFERENCE',
      description: 'first',
      createdAt: expect.stringMatching(ISO),
      expiresAt: null,
      lastUsedAt: null,
      last6Chars: first.apiKey.slice(-6),
      consumptionLimits: NO_LIMITS,
      limitPeriod: 'EPOCH',
      modelPrivacy: 'ALL',
      usage: { trailingSevenDays: { usd: '0.0000', vcu: '0.0000', diem: '0.0000' } },
    });
    await keys.ask('DELETE', { path: `?id=${first.id}` }, second.apiKey);
    const left = await keys.ask('GET');
    expect(left.body.data.map(({ description }: Key) => description)).toEqual(['second', 'admin', '']);
  });

  it('accepts limits, an expiry and a privacy setting, and returns them unchanged', async () => {
    const keys = await AccountKeys.of(platform);
    const {
      id,
      apiKey: _,
      ...made
    } = await keys.create({
      expiresAt: '2099-01-31',
      consumptionLimit: { usd: 9_999_999_999, diem: 0.000000001, vcu: 5 },
      limitPeriod: 'MONTH',
      modelPrivacy: 'PRIVATE_ONLY',
      requestsPerMinute: 10,
      tokensPerMinute: 1_000,
    });
    const terms = {
      apiKeyType: 'INFERENCE',
      description: 'd',
      expiresAt: '2099-01-31T00:00:00.000Z',
      limitPeriod: 'MONTH',
      modelPrivacy: 'PRIVATE_ONLY',
      requestsPerMinute: 10,
      tokensPerMinute: 1_000,
    };
    const limits = { usd: 9_999_999_999, diem: 0.000000001, vcu: null };
    expect(made).toEqual({ ...terms, consumptionLimit: limits });
    const { body } = await keys.ask('GET', { path: `/${id}` });
    expect(body.data).toMatchObject({
      ...terms,
      consumptionLimits: limits,
      currentPeriodUsage: { usd: '0.0000', diem: '0.0000' },
    });
  });

  it('changes the given members and keeps the others', async () => {
    const keys = await AccountKeys.of(platform);
    const key = await keys.create({ expiresAt: '2099-01-31', consumptionLimit: { usd: 5, diem: 6 } });
    const change = {
      id: key.id,
      description: 'new',
      expiresAt: null,
      consumptionLimit: { usd: 7.5 },
      requestsPerMinute: 7,
      tokensPerMinute: 7_000,
    };
    const { status, body } = await keys.ask('PATCH', { body: change });
    expect([status, body.success]).toEqual([200, true]);
    expect(body.data).not.toHaveProperty('usage');
    const expected = {
      id: key.id,
      description: 'new',
      expiresAt: null,
      consumptionLimits: { usd: 7.5, diem: 6, vcu: null },
      limitPeriod: 'EPOCH',
      requestsPerMinute: 7,
      tokensPerMinute: 7_000,
    };
    expect(body.data).toMatchObject(expected);
    expect((await keys.ask('GET', { path: `/${key.id}` })).body.data).toMatchObject(expected);
    const without = await keys.ask('PATCH', { body: { id: key.id, requestsPerMinute: null } });
    expect(without.body.data).toMatchObject({ tokensPerMinute: 7_000 });
    expect(without.body.data).not.toHaveProperty('requestsPerMinute');
  });

  it('has tags that are kept, changed and removed, at most ten of 64 characters, none a control character', async () => {
    const keys = await AccountKeys.of(platform);
    const key = await keys.create({ tags: ['a team', 'ü', 'a team'] });
    const shown = async (): Promise<unknown> => (await keys.ask('GET', { path: `/${key.id}` })).body.data;
    expect(await shown()).toMatchObject({ tags: ['a team', 'ü'] });
    await keys.ask('PATCH', { body: { id: key.id, description: 'new' } });
    expect(await shown()).toMatchObject({ tags: ['a team', 'ü'] });
    const tags = Array.from({ length: 10 }, (_, at) => String(at).repeat(64));
    expect((await keys.ask('PATCH', { body: { id: key.id, tags } })).body.data).toMatchObject({ tags });
    for (const wrong of [[...tags, 'x'], ['x'.repeat(65)], [''], ['a\nb'], ['a\0'], [1]])
      expect((await keys.ask('PATCH', { body: { id: key.id, tags: wrong } })).status).toBe(400);
    await keys.ask('PATCH', { body: { id: key.id, tags: [] } });
    expect(await shown()).not.toHaveProperty('tags');
  });

  it('returns what a key has spent and when it was last used', async () => {
    const keys = await AccountKeys.of(platform);
    const key = await keys.create({ consumptionLimit: { usd: 5 }, limitPeriod: 'LIFETIME' });
    const messages = [{ role: 'user', content: 'go [[sim tokens=2000]]' }];
    expect((await chat(key.apiKey, { messages })).status).toBe(200);
    const get = async (): Promise<Key> => (await keys.ask('GET', { path: `/${key.id}` })).body.data;
    await eventually('its last use is known', async () => (await get()).lastUsedAt !== null);
    const { usage, currentPeriodUsage, lastUsedAt } = await get();
    expect(lastUsedAt).toMatch(ISO);
    // 2,000 tokens at 0.60 USD per million, plus a short prompt.
    expect(usage.trailingSevenDays).toEqual({ usd: '0.0012', vcu: '0.0000', diem: '0.0000' });
    expect(currentPeriodUsage).toEqual({ usd: '0.0012', diem: '0.0000' });
  });

  it('revokes also by an id in the body, and repeatedly', async () => {
    const keys = await AccountKeys.of(platform);
    const key = await keys.create();
    for (const request of [
      { body: { id: key.id } },
      { path: `?id=${key.id}` },
      { path: `?id=${key.id}`, body: '' },
    ]) {
      const { status, body } = await keys.ask('DELETE', request);
      expect([status, body]).toEqual([200, { success: true }]);
    }
    expect((await chat(key.apiKey)).status).toBe(401);
  });

  it('lets an ADMIN key with limits give other keys what is left of its own, and no more', async () => {
    const keys = await AccountKeys.of(platform);
    const terms = { consumptionLimit: { usd: 5 }, limitPeriod: 'MONTH', requestsPerMinute: 9 };
    const admin = await keys.create({ apiKeyType: 'ADMIN', ...terms });
    const as = (method: string, body: object) => keys.ask(method, { body }, admin.apiKey);
    const make = (more: object) =>
      as('POST', {
        apiKeyType: 'INFERENCE',
        description: 'd',
        limitPeriod: 'MONTH',
        requestsPerMinute: 9,
        ...more,
      });
    const change = (id: string, more: object) => as('PATCH', { id, ...more });
    const limitOf = async ({ id }: { id: string }): Promise<unknown> =>
      (await keys.ask('GET', { path: `/${id}` })).body.data;

    for (const raised of [
      { consumptionLimit: { usd: 6 } },
      { consumptionLimit: { usd: null } },
      { limitPeriod: 'EPOCH' },
      { requestsPerMinute: 10 },
      { requestsPerMinute: null },
    ])
      expect([raised, (await change(admin.id, raised)).body.code]).toEqual([raised, 'INVALID_REQUEST']);
    for (const wanted of [
      {},
      { consumptionLimit: { usd: 5.01 } },
      { consumptionLimit: { usd: 1 }, limitPeriod: 'EPOCH' },
      { consumptionLimit: { usd: 1 }, requestsPerMinute: 10 },
    ])
      expect([wanted, (await make(wanted)).body.code]).toEqual([wanted, 'INVALID_REQUEST']);
    expect(await limitOf(admin)).toMatchObject({ consumptionLimits: { usd: 5 } });

    const made = await Promise.all([1, 2, 3, 4].map(() => make({ consumptionLimit: { usd: 2 } })));
    expect(made.filter(({ status }) => status === 200)).toHaveLength(2);
    expect(await limitOf(admin)).toMatchObject({ consumptionLimits: { usd: 1 } });

    const other = await keys.create({ consumptionLimit: { usd: 1 }, limitPeriod: 'MONTH' });
    expect((await change(other.id, { consumptionLimit: { usd: 2.5 } })).status).toBe(400);
    expect((await change(other.id, { consumptionLimit: { usd: 1.5 } })).status).toBe(200);
    expect((await change(other.id, { consumptionLimit: { usd: 0.5 } })).status).toBe(200);
    expect(await limitOf(admin)).toMatchObject({ consumptionLimits: { usd: 0.5 } });
    expect((await change(admin.id, { consumptionLimit: { usd: 0.25 } })).status).toBe(200);
    // A key without limits may do all of that.
    expect((await keys.ask('PATCH', { body: { id: admin.id, consumptionLimit: { usd: 9 } } })).status).toBe(
      200,
    );
  });

  it('lets an ADMIN key revoke itself', async () => {
    const keys = await AccountKeys.of(platform);
    const { body } = await keys.ask('GET');
    const own = body.data.find(({ description }: Key) => description === 'admin');
    expect((await keys.ask('DELETE', { path: `?id=${own?.id}` })).status).toBe(200);
    expect((await keys.ask('GET')).status).toBe(401);
  });

  it('lets the operator create keys with terms, and set the limits of an account', async () => {
    const keys = await AccountKeys.of(platform);
    const { id } = keys.account;
    const made = await platform.operator('POST', `/accounts/${id}/api_keys`, {
      apiKeyType: 'INFERENCE',
      description: 'by the operator',
      consumptionLimit: { usd: 1 },
      requestsPerMinute: 3,
    });
    expect(made.status).toBe(201);
    const shown = await keys.ask('GET', { path: `/${String(made.body['id'])}` });
    expect(shown.body.data).toMatchObject({
      requestsPerMinute: 3,
      consumptionLimits: { ...NO_LIMITS, usd: 1 },
    });
    const limits = {
      concurrentRequests: 4,
      models: [
        { model: '*', requestsPerMinute: 100 },
        { model: 'test-model', tokensPerMinute: 5 },
      ],
    };
    const path = `/accounts/${id}/limits`;
    expect(await platform.operator('GET', path)).toEqual({
      status: 200,
      body: { concurrentRequests: null, models: [] },
    });
    expect(await platform.operator('PUT', path, limits)).toEqual({ status: 200, body: limits });
    expect(await platform.operator('GET', path)).toEqual({ status: 200, body: limits });
    expect((await platform.operator('PUT', path, {})).body).toEqual({ concurrentRequests: null, models: [] });
    expect((await platform.operator('GET', `/accounts/${NOBODY}/limits`)).status).toBe(404);
  });
});

describe('400', () => {
  it.each([
    [{ apiKeyType: 'ROOT' }, 'apiKeyType'],
    [{ description: 'x'.repeat(65) }, 'description'],
    [{ description: 'a\0b' }, 'description'],
    [{ description: 'half of a pair: \ud800' }, 'description'],
    [{ expiresAt: '2020-01-01' }, 'expiresAt'],
    [{ expiresAt: 'soon' }, 'expiresAt'],
    [{ consumptionLimit: { usd: 0.0000000001 } }, 'consumptionLimit.usd'],
    [{ consumptionLimit: { usd: 10_000_000_000 } }, 'consumptionLimit.usd'],
    [{ limitPeriod: 'YEAR' }, 'limitPeriod'],
    [{ modelPrivacy: 'SOME' }, 'modelPrivacy'],
    [{ note: 'hello' }, 'note'],
  ])('rejects a key with %j', async (more, param) => {
    const keys = await AccountKeys.of(platform);
    const { status, body } = await keys.ask('POST', {
      body: {
        apiKeyType: 'INFERENCE',
        description: 'd',
        ...more,
      },
    });
    expect([status, body.code, body.error.param]).toEqual([400, 'INVALID_REQUEST', param]);
  });

  it('rejects an unknown key or one of another account, with the message of each route', async () => {
    const keys = await AccountKeys.of(platform);
    const foreign = await (await AccountKeys.of(platform)).create();
    for (const id of [NOBODY, 'no-uuid', foreign.id]) {
      const answers = [
        await keys.ask('PATCH', { body: { id, description: 'mine' } }),
        await keys.ask('DELETE', { path: `?id=${id}` }),
        await keys.ask('GET', { path: `/${id}` }),
      ];
      expect(answers.map(({ status, body }) => [status, body.error.code])).toEqual(
        answers.map(() => [404, 'API_KEY_NOT_FOUND']),
      );
    }
    expect((await chat(foreign.apiKey)).status).toBe(200);
  });

  it('requires the id of the key to revoke', async () => {
    const keys = await AccountKeys.of(platform);
    const { status, body } = await keys.ask('DELETE');
    expect([status, body.error.param]).toEqual([400, 'id']);
  });

  it('allows 500 keys per account', async () => {
    const keys = await AccountKeys.of(platform);
    const { id } = keys.account;
    const path = `/accounts/${id}/api_keys`;
    const one = { apiKeyType: 'INFERENCE', description: 'one of many' };
    let left = 498;
    const make = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        // Concurrent creations wait for each other, which may time out on a busy machine.
        while ((await platform.operator('POST', path, one)).status === 503);
      }
    };
    await Promise.all(Array.from({ length: 20 }, make));
    expect((await keys.ask('GET')).body.data).toHaveLength(500);
    const { status, body } = await keys.ask('POST', { body: one });
    expect([status, body.error.message]).toEqual([400, expect.stringContaining('500 active API keys')]);
  });
});

describe('401', () => {
  it.each([
    ['GET', ''],
    ['POST', ''],
    ['PATCH', ''],
    ['DELETE', `?id=${NOBODY}`],
    ['GET', `/${NOBODY}`],
  ])('requires an ADMIN key for %s /api_keys%s', async (method, path) => {
    const { apiKey } = await platform.account();
    const request = { method, path, ...(method.startsWith('P') && { body: {} }) };
    const answers = [
      await askKeys(platform, { ...request, apiKey: undefined }),
      await askKeys(platform, { ...request, apiKey: 'SVC_ADMIN_KEY_wrong' }),
      await askKeys(platform, { ...request, apiKey }),
    ];
    expect(answers.map(({ status, body: { error } }) => [status, error.message])).toEqual([
      [401, 'Authentication failed'],
      [401, 'Authentication failed'],
      [401, 'Admin API key required'],
    ]);
  });
});

describe('429', () => {
  it('creates 20 keys per minute, and returns when to retry', async () => {
    const keys = await AccountKeys.of(platform);
    const other = await AccountKeys.of(platform);
    const one = { apiKeyType: 'INFERENCE', description: 'one of many' };
    let made = 0;
    let answer = await keys.ask('POST', { body: one });
    // A new minute may start in between.
    for (; answer.status === 200 && made < 60; made += 1) answer = await keys.ask('POST', { body: one });
    expect([answer.status, answer.body.code]).toEqual([429, 'RATE_LIMIT_EXCEEDED']);
    expect(made).toBeGreaterThanOrEqual(20);
    expect(made).toBeLessThanOrEqual(40);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(Number(answer.headers.get('retry-after'))).toBeLessThanOrEqual(60);
    await other.create();
  });
});
