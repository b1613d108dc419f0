import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AccountKeys, type KeyResponse } from '../account-keys.js';
import { Platform } from '../platform.js';
import { eventually } from '../response-bodies.js';

const HELLO = { model: 'big', messages: [{ role: 'user', content: 'hi' }] };

let platform: Platform;

beforeAll(async () => {
  platform = await Platform.start({
    models: [
      { id: 'big', aliases: ['gpt-x'] },
      { id: 'small', traits: ['fastest'] },
    ],
  });
});
afterAll(() => platform.stop());

const statusWith = async (apiKey: string, body: object = HELLO): Promise<number> =>
  (await platform.chat(apiKey, body)).status;

/** The status of a response, and the member and message of its error. */
const refusalOf = ({ status, body }: KeyResponse): unknown => [
  status,
  body.error?.param,
  body.error?.message,
];

const refusal = (param: string, message: string): unknown => [400, param, expect.stringContaining(message)];

describe('the restrictions of a key', () => {
  it('are shown as they were set, and null removes them', async () => {
    const keys = await AccountKeys.of(platform);
    const terms = {
      allowedModels: ['big', 'smal*'],
      allowedEndpoints: ['/chat/completions', '/crypto/rpc/{network}', '/image*'],
      allowedIps: ['127.0.0.1', '2001:db8::/32'],
    };
    const key = await keys.create(terms);
    expect(key).toMatchObject(terms);
    const change = { id: key.id, allowedModels: null, allowedIps: ['::ffff:127.0.0.0/104'] };
    expect((await keys.ask('PATCH', { body: change })).body.data).toMatchObject({
      allowedEndpoints: terms.allowedEndpoints,
      allowedIps: ['::ffff:127.0.0.0/104'],
    });
    expect(await statusWith(key.apiKey)).toBe(200);
  });

  it.each([
    [{ allowedModels: [] }, 'allowedModels', 'must not be empty'],
    [{ allowedEndpoints: ['/chat/completions', '/chat'] }, 'allowedEndpoints.1', 'must fit an endpoint'],
    [{ allowedEndpoints: ['/api/v1/chat/completions'] }, 'allowedEndpoints.0', 'must fit an endpoint'],
    [{ allowedIps: ['10.0.0.0/8', '10.0.0.256'] }, 'allowedIps.1', 'must be an IP address'],
    [{ canInfer: false }, 'canInfer', 'true for an INFERENCE key'],
  ])('that make no sense are refused: %j', async (terms, param, message) => {
    const keys = await AccountKeys.of(platform);
    const body = { apiKeyType: 'INFERENCE', description: 'd', ...terms };
    expect(refusalOf(await keys.ask('POST', { body }))).toEqual(refusal(param, message));
    const { id } = await keys.create({});
    const { data: before } = (await keys.ask('GET', { path: `/${id}` })).body;
    expect(refusalOf(await keys.ask('PATCH', { body: { id, ...terms } }))).toEqual(refusal(param, message));
    const { data: unchanged } = (await keys.ask('GET', { path: `/${id}` })).body;
    expect(unchanged).toEqual(before);
  });

  it('apply to the model that serves a request, by whatever name it is requested', async () => {
    const keys = await AccountKeys.of(platform);
    const { apiKey } = await keys.create({ allowedModels: ['fastest', 'other*'] });
    const requests = ['small', 'SMALL', 'fastest', 'small:strip_thinking_response=true', 'big', 'gpt-x'];
    const statuses: number[] = [];
    for (const model of requests) statuses.push(await statusWith(apiKey, { ...HELLO, model }));
    expect(statuses).toEqual([200, 200, 200, 200, 403, 403]);
    const response = await fetch(`${platform.apiUrl}/models`, {
      headers: { authorization: `Bearer ${apiKey}` },
    });
    const { data } = (await response.json()) as { data: { id: string }[] };
    expect(data.map(({ id }) => id)).toEqual(['small']);
  });

  it('take effect within a second, and so does the end of them', async () => {
    const keys = await AccountKeys.of(platform);
    const { id, apiKey } = await keys.create({});
    const asChanged = async (change: object): Promise<number> => {
      await keys.ask('PATCH', { body: { id, ...change } });
      return statusWith(apiKey);
    };
    expect(await asChanged({ allowedEndpoints: ['/embeddings'] })).toBe(403);
    expect(await asChanged({ allowedEndpoints: null })).toBe(200);
    expect(await asChanged({ disabled: true })).toBe(401);
    expect(await asChanged({ disabled: false })).toBe(200);
  });
});

describe('an ADMIN key with restrictions', () => {
  it('gives them to the keys that it creates, or narrower ones, and can take none from itself', async () => {
    const keys = await AccountKeys.of(platform);
    const admin = await keys.create({
      apiKeyType: 'ADMIN',
      allowedModels: ['b*', 'fastest'],
      allowedIps: ['127.0.0.0/8', '::1'],
      allowedEndpoints: ['/chat/*', '/api_keys*'],
    });
    const create = (terms: object): Promise<KeyResponse> =>
      keys.ask('POST', { body: { apiKeyType: 'INFERENCE', description: 'd', ...terms } }, admin.apiKey);
    const change = (terms: object): Promise<KeyResponse> => keys.ask('PATCH', { body: terms }, admin.apiKey);
    const { body } = await create({ allowedModels: ['big'] });
    expect(body.data).toMatchObject({
      allowedModels: ['big'],
      allowedIps: ['127.0.0.0/8', '::1'],
      allowedEndpoints: ['/chat/*', '/api_keys*'],
    });
    const wider: readonly (readonly [object, string])[] = [
      [{ allowedModels: ['*'] }, 'allowedModels'],
      [{ allowedModels: null }, 'allowedModels'],
      [{ allowedModels: ['big', 'small'] }, 'allowedModels'],
      [{ allowedIps: ['127.0.0.0/7'] }, 'allowedIps'],
      [{ allowedIps: ['0.0.0.0/0'] }, 'allowedIps'],
      [{ allowedEndpoints: ['*'] }, 'allowedEndpoints'],
    ];
    const unrestricted = await keys.create({});
    for (const [terms, param] of wider) {
      expect(refusalOf(await create(terms))).toEqual(refusal(param, 'within what your API key may use'));
      for (const { id } of [admin, body.data, unrestricted])
        expect(refusalOf(await change({ id, ...terms }))).toEqual(refusal(param, 'within what your'));
    }
    expect((await change({ id: unrestricted.id, description: 'renamed' })).status).toBe(200);
  });

  it('for management gives out keys that infer, and does not infer itself', async () => {
    const keys = await AccountKeys.of(platform);
    const parent = await keys.create({ apiKeyType: 'ADMIN', canInfer: false });
    const create = (terms: object): Promise<KeyResponse> =>
      keys.ask('POST', { body: { description: 'd', ...terms } }, parent.apiKey);
    expect(await statusWith(parent.apiKey)).toBe(403);
    const { body } = await create({ apiKeyType: 'INFERENCE' });
    expect(await statusWith(body.data.apiKey)).toBe(200);
    const child = await create({ apiKeyType: 'ADMIN' });
    expect(child.body.data).toMatchObject({ canInfer: false });
    expect(refusalOf(await create({ apiKeyType: 'ADMIN', canInfer: true }))).toEqual(
      refusal('canInfer', 'false, as for your API key'),
    );
    const own = await keys.ask('PATCH', { body: { id: parent.id, canInfer: true } }, parent.apiKey);
    expect(refusalOf(own)).toEqual(refusal('canInfer', 'false, as for your API key'));
  });

  it('does not disable itself', async () => {
    const keys = await AccountKeys.of(platform);
    const admin = await keys.create({ apiKeyType: 'ADMIN' });
    const own = await keys.ask('PATCH', { body: { id: admin.id, disabled: true } }, admin.apiKey);
    expect(refusalOf(own)).toEqual(refusal('disabled', 'another key'));
  });
});

describe('a rotated key', () => {
  const rotate = (keys: AccountKeys, id: string, by?: string): Promise<KeyResponse> =>
    keys.ask('POST', { path: `/${id}/rotate`, body: {} }, by);
  const rotateOver = (keys: AccountKeys, id: string, overlapSeconds: number): Promise<KeyResponse> =>
    keys.ask('POST', { path: `/${id}/rotate`, body: { overlapSeconds } });

  it('has a new secret, and keeps its id, its terms and what it has spent', async () => {
    const keys = await AccountKeys.of(platform);
    const terms = { consumptionLimit: { usd: 1 }, limitPeriod: 'LIFETIME', allowedModels: ['big'] };
    const key = await keys.create(terms);
    expect(await statusWith(key.apiKey)).toBe(200);
    const spent = async (): Promise<string | undefined> =>
      (await keys.ask('GET', { path: `/${key.id}` })).body.data.currentPeriodUsage?.usd;
    await eventually('its spending is known', async () => (await spent()) !== undefined);
    const { status, body } = await rotate(keys, key.id);
    const { apiKey, ...rest } = body.data;
    const { apiKey: earlier, ...before } = key;
    expect([status, rest]).toEqual([200, before]);
    expect(apiKey).not.toBe(earlier);
    expect([await statusWith(earlier), await statusWith(apiKey)]).toEqual([401, 200]);
    const { body: shown } = await keys.ask('GET', { path: `/${key.id}` });
    expect(shown.data.last6Chars).toBe(apiKey.slice(-6));
  });

  it('has two secrets for as long as the request says, and never three', async () => {
    const keys = await AccountKeys.of(platform);
    const { id, apiKey: first } = await keys.create({});
    const { body } = await rotateOver(keys, id, 3_600);
    const second = body.data.apiKey;
    expect([await statusWith(first), await statusWith(second)]).toEqual([200, 200]);
    const third = (await rotateOver(keys, id, 2)).body.data.apiKey;
    expect([await statusWith(first), await statusWith(third)]).toEqual([401, 200]);
    await eventually('the second secret has ended', async () => (await statusWith(second)) === 401);
    expect(await statusWith(third)).toBe(200);
    await keys.ask('DELETE', { path: `?id=${id}` });
    expect(await statusWith(third)).toBe(401);
  });

  it('is refused to a key that may do less, and to an unknown or revoked one', async () => {
    const keys = await AccountKeys.of(platform);
    const open = await keys.create({ apiKeyType: 'ADMIN' });
    const narrow = await keys.create({ apiKeyType: 'ADMIN', allowedModels: ['big'] });
    const poor = await keys.create({ apiKeyType: 'ADMIN', consumptionLimit: { usd: 1 } });
    expect(refusalOf(await rotate(keys, open.id, narrow.apiKey))).toEqual(
      refusal('allowedModels', 'within what your API key may use'),
    );
    expect(refusalOf(await rotate(keys, open.id, poor.apiKey))).toEqual(
      refusal('consumptionLimit.usd', 'at most its own limit'),
    );
    expect((await rotate(keys, narrow.id, narrow.apiKey)).status).toBe(200);
    await keys.ask('DELETE', { path: `?id=${open.id}` });
    expect((await rotate(keys, open.id)).status).toBe(404);
    expect((await rotate(keys, 'nothing')).status).toBe(404);
  });
});
