import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Cost, errorOf } from '../answers.js';
import { Platform } from '../platform.js';

const NOBODY = '11111111-1111-4111-8111-111111111111';

let platform: Platform;

beforeAll(async () => {
  platform = await Platform.start();
});

afterAll(() => platform.stop());

describe('200 and 201', () => {
  it('opens an account, credits it once per reference, and shows its balances as decimal strings', async () => {
    const { status, body } = await platform.operator('POST', '/accounts', {
      name: 'Ann',
      tier: 'partner',
      paid: true,
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({ name: 'Ann', tier: 'partner', paid: true });
    const path = `/accounts/${String(body['id'])}`;
    const credit = { usd: '10.00', reference: 'invoice 1' };
    const credits = await Promise.all(
      [1, 2, 3].map(() => platform.operator('POST', `${path}/credits`, credit)),
    );
    expect(new Set(credits.map((answer) => answer.body['id'])).size).toBe(1);
    await platform.operator('POST', `${path}/credits`, { usd: '0.000000001', reference: 'invoice 2' });
    const account = await platform.operator('GET', path);
    expect(account.body).toMatchObject({ ...body, balances: { usd: '10.000000001', diem: '0.00' } });
  });

  it('lists transfers newest first, in pages, which sum to exactly the costs that clients saw', async () => {
    const { id, openai } = await platform.account('5.00');
    let seenNano = 0;
    for (let count = 0; count < 3; count += 1) {
      const answer = await openai.chat.completions.create({
        model: 'test-model',
        messages: [{ role: 'user', content: 'hi' }],
      });
      seenNano += Math.round((answer as unknown as { cost: Cost }).cost.usd * 1e9);
    }
    const first = await platform.operator('GET', `/accounts/${id}/transfers?limit=2`);
    const rest = await platform.operator(
      'GET',
      `/accounts/${id}/transfers?limit=2&before=${String(first.body['nextBefore'])}`,
    );
    const transfers = [first, rest].flatMap(
      ({ body }) => body['data'] as { kind: string; amount: string; id: string }[],
    );
    expect(transfers.map(({ kind }) => kind)).toEqual(['charge', 'charge', 'charge', 'credit']);
    const charged = transfers
      .filter(({ kind }) => kind === 'charge')
      .map(({ amount }) => Math.round(Number(amount) * 1e9));
    expect(charged.reduce((sum, nano) => sum + nano, 0)).toBe(seenNano);
    expect(BigInt(transfers[0]?.id ?? 0) > BigInt(transfers[1]?.id ?? 0)).toBe(true);
  });

  it('proves the books', async () => {
    const { status, body } = await platform.audit();
    expect(status).toBe(200);
    expect(body).toMatchObject({ ok: true, imbalanceUsd: '0.00', imbalanceDiem: '0.00', mismatches: [] });
    expect(body['charges']).toBeGreaterThan(0);
  });

  it('shows the secret of a key once, with the prefix of its kind', async () => {
    const { id } = await platform.account('0');
    const key = await platform.operator('POST', `/accounts/${id}/api_keys`, {
      apiKeyType: 'ADMIN',
      description: 'ops',
    });
    expect(key.status).toBe(201);
    expect(key.body['apiKey']).toMatch(/^SVC_ADMIN_KEY_[\w-]{43}$/);
    expect(String(key.body['apiKey']).endsWith(String(key.body['last6Chars']))).toBe(true);
  });
});

describe('400', () => {
  it.each([
    ['/accounts', { name: '' }, 'name'],
    ['/accounts', { name: 'x', tier: 'gold' }, 'tier'],
    ['/accounts', { name: 'x', money: 1 }, undefined],
    [`/accounts/${NOBODY}/credits`, { usd: 10, reference: 'r' }, 'usd'],
    [`/accounts/${NOBODY}/credits`, { usd: '-1', reference: 'r' }, 'usd'],
    [`/accounts/${NOBODY}/credits`, { usd: '0.0000000001', reference: 'r' }, 'usd'],
    [`/accounts/${NOBODY}/credits`, { usd: '1' }, 'reference'],
    [`/accounts/${NOBODY}/api_keys`, { apiKeyType: 'ROOT', description: '' }, 'apiKeyType'],
    ['/accounts/x/credits', { usd: '1', reference: 'r' }, 'id'],
  ])('refuses %s %j', async (path, body, param) => {
    const answer = await platform.operator('POST', path, body);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({
      code: 'INVALID_REQUEST',
      error: param === undefined ? {} : { param },
    });
  });
});

describe('401', () => {
  it.each([undefined, 'Bearer wrong', 'Bearer '])('refuses the authorization %j', async (authorization) => {
    const headers = authorization === undefined ? {} : { authorization };
    const response = await fetch(`${platform.operatorUrl}/ledger/audit`, { headers });
    expect(response.status).toBe(401);
    expect((await errorOf(response)).code).toBe('AUTHENTICATION_FAILED');
  });
});

describe('404', () => {
  it('knows no account that is not there', async () => {
    const { status, body } = await platform.operator('GET', `/accounts/${NOBODY}`);
    expect([status, body['code']]).toEqual([404, 'ACCOUNT_NOT_FOUND']);
  });

  it('serves the operator on its own port only, and clients on theirs only', async () => {
    const headers = { authorization: 'Bearer operator-token-of-the-tests-of-the-platform' };
    expect((await fetch(`${platform.rootUrl}/operator/v1/ledger/audit`, { headers })).status).toBe(404);
    expect((await fetch(platform.operatorUrl.replace('/operator/v1', '/api/v1/models'))).status).toBe(404);
    for (const url of [platform.rootUrl, platform.operatorUrl.replace('/operator/v1', '')]) {
      expect((await fetch(`${url}/healthz`)).status).toBe(200);
      expect((await fetch(`${url}/readyz`)).status).toBe(200);
    }
  });
});

describe('409', () => {
  it('refuses a reference that was used with another amount', async () => {
    const { id } = await platform.account('1.00');
    const { status, body } = await platform.operator('POST', `/accounts/${id}/credits`, {
      usd: '2.00',
      reference: 'start',
    });
    expect([status, body['code']]).toEqual([409, 'REFERENCE_REUSED']);
    expect(await platform.balances(id)).toMatchObject({ usd: '1.00' });
  });
});
