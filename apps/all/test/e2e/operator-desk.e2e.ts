import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { errorOf, eventually } from '../response-bodies.js';
import { Platform } from '../platform.js';
import { isClustered } from '../target.js';

const READER = 'operator-token-of-a-reader-in-a-test';
const TOKENS = [
  { name: 'reader', scopes: ['read'], expires: '2099-01-01T00:00:00Z', sha256: hash('sha256', READER) },
];
const HELLO = { model: 'test-model', messages: [{ role: 'user', content: 'hi' }] };

let platform: Platform;

beforeAll(async () => {
  platform = await Platform.start({
    env: {
      SVC_CATALOG_PRICE_FACTOR: '10',
      SVC_OPERATOR_TOKENS: JSON.stringify(TOKENS),
      SVC_OPERATOR_LINKS: 'Dashboards=https://grafana.example/d/svc, Runbooks=https://git.example/runbooks',
    },
  });
});
afterAll(() => platform.stop());

const home = (): string => platform.operatorUrl.replace('/operator/v1', '');

const asReader = (path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(platform.operatorUrl + path, {
    ...init,
    headers: { authorization: `Bearer ${READER}`, 'content-type': 'application/json' },
  });

describe('the desk', () => {
  it("is on the operator's port only, and its files need no token", async () => {
    for (const path of ['/desk', '/desk/books'])
      expect((await fetch(home() + path)).headers.get('content-type')).toMatch(/html|json/);
    expect((await fetch(`${platform.rootUrl}/desk`)).status).toBe(404);
    expect((await fetch(`${home()}/console`)).status).toBe(404);
  });

  it('has no file outside of its own', async () => {
    for (const path of ['/desk/index.html', '/desk/assets/..%2f..%2fpackage.json', '/desk/assets/unknown.js'])
      expect([400, 404]).toContain((await fetch(home() + path)).status);
  });
});

describe('the token of an operator', () => {
  it('shows its name, scopes and expiry', async () => {
    expect((await platform.operator('GET', '/token')).body).toEqual({
      name: 'operator',
      scopes: ['read', 'money', 'keys'],
      expiresAt: null,
    });
    expect(await (await asReader('/token')).json()).toEqual({
      name: 'reader',
      scopes: ['read'],
      expiresAt: '2099-01-01T00:00:00.000Z',
    });
  });

  it('leads to the pages in SVC_OPERATOR_LINKS', async () => {
    const { body } = await platform.operator('GET', '/links');
    expect(body['data']).toEqual([
      { name: 'Dashboards', url: 'https://grafana.example/d/svc' },
      { name: 'Runbooks', url: 'https://git.example/runbooks' },
    ]);
  });
});

describe('a list of backends', () => {
  it('has a row for each backend, with its calls, its state and the reason for that', async () => {
    const { status, body } = await platform.operator('GET', '/backends');
    expect(status).toBe(200);
    expect(body['routers']).toBe(isClustered() ? 2 : 1);
    const number = (): unknown => expect.toSatisfy((value) => value === null || typeof value === 'number');
    expect(body['data']).toContainEqual({
      firstTokenP50Ms: number(),
      firstTokenP99Ms: number(),
      failedShare: number(),
      model: 'test-model',
      name: expect.any(String) as unknown,
      url: expect.stringMatching(/^http/) as unknown,
      state: 'up',
      reason: null,
      drainedAs: null,
      inFlight: 0,
      waiting: 0,
      maxInFlight: expect.any(Number) as unknown,
      hitShare: null,
    });
  });
});

describe('the terms of an account', () => {
  it('change within a second, and are read again by every gateway', async () => {
    const { id, apiKey } = await platform.account('1.00');
    const changed = await platform.operator('PATCH', `/accounts/${id}`, { tier: 'partner', paid: true });
    expect(changed.body).toMatchObject({ id, tier: 'partner', paid: true });
    await eventually('the new tier is shown', async () => {
      const response = await fetch(`${platform.apiUrl}/api_keys/rate_limits`, {
        headers: { authorization: `Bearer ${apiKey}` },
      });
      const { data } = (await response.json()) as { data: { apiTier: { id: string } } };
      return data.apiTier.id === 'partner';
    });
    expect((await platform.operator('PATCH', `/accounts/${id}`, {})).status).toBe(400);
  });

  it('are not changed by a token without the scope, nor of an account that does not exist', async () => {
    const { id } = await platform.account('0');
    const refused = await asReader(`/accounts/${id}`, { method: 'PATCH', body: '{"paid":true}' });
    expect((await errorOf(refused)).code).toBe('UNAUTHORIZED');
    const nobody = '11111111-1111-4111-8111-111111111111';
    const { status, body } = await platform.operator('PATCH', `/accounts/${nobody}`, { paid: true });
    expect([status, body['code']]).toEqual([404, 'ACCOUNT_NOT_FOUND']);
  });
});

describe('a catalogue that is not in force', () => {
  interface Content {
    models: { id: string; pricing: { input: number } }[];
  }
  const check = async (text: string): Promise<Record<string, unknown>> => {
    const response = await asReader('/catalog/checks', { method: 'POST', body: JSON.stringify({ text }) });
    expect(response.status).toBe(200);
    return (await response.json()) as Record<string, unknown>;
  };
  const content = async (): Promise<Content> =>
    parse(await readFile(platform.env['SVC_CATALOG'] ?? '', 'utf8')) as Content;
  const withPrice = async (by: number): Promise<string> => {
    const file = await content();
    for (const { pricing } of file.models) pricing.input *= by;
    return stringify(file);
  };

  it('is compared with the one in force, and changes nothing', async () => {
    const { body: before } = await platform.operator('GET', '/catalog');
    expect(await check(stringify(await content()))).toMatchObject({ outcome: 'accepted', changes: [] });
    const doubled = await check(await withPrice(2));
    expect(doubled).toMatchObject({ outcome: 'accepted', reason: null, against: before['hash'] });
    expect(String(doubled['changes'])).toContain('test-model');
    const jumped = await check(await withPrice(1_000));
    expect(jumped['outcome']).toBe('refused');
    expect(jumped['reason']).toContain('factor of 10');
    expect((await platform.operator('GET', '/catalog')).body).toEqual(before);
  });

  it.each(['models: [', 'models: 1', '[', `${'['.repeat(20_000)}`])(
    'is broken, with the reason, if it is %.20s',
    async (text) => {
      const checked = await check(text);
      expect(checked).toMatchObject({ outcome: 'broken', changes: [] });
      expect(String(checked['reason']).length).toBeGreaterThan(10);
    },
  );

  it('is not among the actions of operators', async () => {
    const { body } = await platform.operator('GET', '/actions?action=checkCatalog');
    expect(body['data']).toEqual([]);
  });
});

describe('a refund', () => {
  it('keeps its reason with the action', async () => {
    const { id, apiKey } = await platform.account('1.00');
    const { id: requestId } = (await (await platform.chat(apiKey, HELLO)).json()) as { id: string };
    const reason = 'The answer was cut off';
    const refund = { requestId, reference: 'complaint-1', reason };
    expect((await platform.operator('POST', `/accounts/${id}/refunds`, refund)).status).toBe(201);
    const { body } = await platform.operator('GET', `/actions?action=refundCharge&target=${id}`);
    expect(body['data']).toMatchObject([{ input: { reason } }]);
  });
});
