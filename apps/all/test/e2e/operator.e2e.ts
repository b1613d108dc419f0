import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Cost, errorOf } from '../response-bodies.js';
import { type OperatorResponse, Platform, type TestAccount } from '../platform.js';

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

  it('lists transfers newest first, in pages, whose sum is exactly the cost that clients saw', async () => {
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

  it('audits the books', async () => {
    const { status, body } = await platform.audit();
    expect(status).toBe(200);
    expect(body).toMatchObject({ ok: true, imbalanceUsd: '0.00', imbalanceDiem: '0.00', mismatches: [] });
    expect(body['charges']).toBeGreaterThan(0);
  });

  it('returns the secret of a key once, with the prefix of its kind', async () => {
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
    ['/accounts', { name: 'a\0' }, 'name'],
    ['/accounts', { name: '\ud800' }, 'name'],
    [`/accounts/${NOBODY}/credits`, { usd: '1', reference: 'a\0' }, 'reference'],
    [`/accounts/${NOBODY}/credits`, { usd: '1', reference: '\udc00a' }, 'reference'],
    [`/accounts/${NOBODY}/refunds`, { requestId: 'a\0', reference: 'r' }, 'requestId'],
    [`/accounts/${NOBODY}/refunds`, { requestId: 'a', reference: '\ud800' }, 'reference'],
    [`/accounts/${NOBODY}/api_keys`, { apiKeyType: 'ADMIN', description: 'a\0' }, 'description'],
    ['/accounts/x/credits', { usd: '1', reference: 'r' }, 'id'],
  ])('rejects %s %j', async (path, body, param) => {
    const answer = await platform.operator('POST', path, body);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({
      code: 'INVALID_REQUEST',
      error: param === undefined ? {} : { param },
    });
  });
});

describe('401', () => {
  it.each([undefined, 'Bearer wrong', 'Bearer '])('rejects the authorization %j', async (authorization) => {
    const headers = authorization === undefined ? {} : { authorization };
    const response = await fetch(`${platform.operatorUrl}/ledger/audit`, { headers });
    expect(response.status).toBe(401);
    expect((await errorOf(response)).code).toBe('AUTHENTICATION_FAILED');
  });
});

describe('404', () => {
  it('rejects an unknown account', async () => {
    const { status, body } = await platform.operator('GET', `/accounts/${NOBODY}`);
    expect([status, body['code']]).toEqual([404, 'ACCOUNT_NOT_FOUND']);
  });

  it('serves the operator only on its own port, and clients only on theirs', async () => {
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
  it('rejects a reference that was used with another amount', async () => {
    const { id } = await platform.account('1.00');
    const { status, body } = await platform.operator('POST', `/accounts/${id}/credits`, {
      usd: '2.00',
      reference: 'start',
    });
    expect([status, body['code']]).toEqual([409, 'REFERENCE_REUSED']);
    expect(await platform.balances(id)).toMatchObject({ usd: '1.00' });
  });
});

interface Charged extends TestAccount {
  readonly requestId: string;
  readonly cost: Cost;
}

/** An account that has made one request. */
async function charged(): Promise<Charged> {
  const account = await platform.account('5.00');
  const answer = await account.openai.chat.completions.create({
    model: 'test-model',
    messages: [{ role: 'user', content: 'hi' }],
  });
  return { ...account, requestId: answer.id, cost: (answer as unknown as { cost: Cost }).cost };
}

const refund = (id: string, body: unknown): Promise<OperatorResponse> =>
  platform.operator('POST', `/accounts/${id}/refunds`, body);

describe('a charge', () => {
  it('shows an operator the cost of a request, line by line, and its refunds', async () => {
    const { id, requestId, cost } = await charged();
    const show = async (): Promise<OperatorResponse['body']> => {
      const { status, body } = await platform.operator('GET', `/charges/${requestId}`);
      expect(status).toBe(200);
      return body;
    };
    const shown = await show();
    expect(shown).toMatchObject({
      requestId,
      accountId: id,
      model: 'test-model',
      state: 'charged',
      writeOff: '0.00',
      refunds: [],
    });
    expect(Number((shown['cost'] as { usd: string }).usd)).toBe(cost.usd);
    const lines = shown['lines'] as { units: number; pricePerMillion: string; amount: string }[];
    expect(lines.length).toBeGreaterThan(0);
    for (const { units, pricePerMillion, amount } of lines)
      expect(Number(amount)).toBeCloseTo((units * Number(pricePerMillion)) / 1e6, 8);
    const sum = lines.reduce((total, { amount }) => total + Number(amount), 0);
    expect(sum).toBeCloseTo(cost.usd, 9);
    await refund(id, { requestId, reference: 'part', usd: '0.000000001' });
    expect(await show()).toMatchObject({
      state: 'partly_refunded',
      refunds: [{ reference: 'part', cause: 'operator', amount: { usd: '0.000000001', diem: '0.00' } }],
    });
    await refund(id, { requestId, reference: 'rest' });
    expect(await show()).toMatchObject({ state: 'refunded' });
  });

  it('is not found for an unknown request', async () => {
    const { status, body } = await platform.operator('GET', '/charges/chatcmpl-none');
    expect([status, body['code']]).toEqual([404, 'CHARGE_NOT_FOUND']);
  });
});

describe('a refund', () => {
  describe('201', () => {
    it('returns exactly the cost that the client saw, as soon as the response is complete', async () => {
      const { id, requestId, cost } = await charged();
      const { status, body } = await refund(id, { requestId, reference: 'sorry' });
      expect(status).toBe(201);
      expect(body).toMatchObject({
        object: 'list',
        data: [
          {
            kind: 'refund',
            debitAccount: 'revenue',
            creditAccount: `customer:${id}`,
            currency: 'USD',
            reference: 'sorry',
          },
        ],
      });
      const [transfer] = body['data'] as { amount: string }[];
      expect(Number(transfer?.amount)).toBe(cost.usd);
      expect(await platform.balances(id)).toMatchObject({ usd: '5.00' });
    });

    it('returns the same response for the same reference, request and amount', async () => {
      const { id, requestId } = await charged();
      const part = { requestId, reference: 'part', usd: '0.000000001' };
      const first = await refund(id, part);
      expect(await refund(id, part)).toEqual(first);
      const rest = await refund(id, { requestId, reference: 'rest' });
      expect(await refund(id, { requestId, reference: 'rest' })).toEqual(rest);
      expect(await platform.balances(id)).toMatchObject({ usd: '5.00' });
    });
  });

  describe('400', () => {
    it.each([
      ['requestId', { requestId: '' }],
      ['reference', { reference: ' ' }],
      ['usd', { usd: '0' }],
      ['usd', { usd: '-1' }],
      ['usd', { usd: 1 }],
      ['diem', { diem: '0.0000000001' }],
      ['amount', { amount: '1' }],
    ])('reports the field %s in %j', async (field, fault) => {
      const { id } = await platform.account('0');
      const { status, body } = await refund(id, { requestId: 'chatcmpl-1', reference: 'r', ...fault });
      expect([status, body['code']]).toEqual([400, 'INVALID_REQUEST']);
      expect((body['error'] as { param: string | null }).param ?? '').toBe(field);
    });
  });

  describe('404', () => {
    it('rejects an unknown account', async () => {
      const { status, body } = await refund(NOBODY, { requestId: 'chatcmpl-1', reference: 'r' });
      expect([status, body['code']]).toEqual([404, 'ACCOUNT_NOT_FOUND']);
    });

    it('rejects a request that the account was not charged for', async () => {
      const { requestId } = await charged();
      const { id } = await platform.account('0');
      const { status, body } = await refund(id, { requestId, reference: 'r' });
      expect([status, body['code']]).toEqual([404, 'CHARGE_NOT_FOUND']);
      expect(body['error']).toMatchObject({ param: 'requestId' });
    });
  });

  describe('409', () => {
    it.each([
      ['usd', { usd: '5.00' }],
      ['diem', { diem: '0.000000001' }],
    ])('rejects more %s than was paid', async (field, amount) => {
      const { id, requestId } = await charged();
      const { status, body } = await refund(id, { requestId, reference: 'r', ...amount });
      expect([status, body['code']]).toEqual([409, 'REFUND_TOO_LARGE']);
      expect(body['error']).toMatchObject({ param: field });
    });

    it('rejects a charge that was already refunded', async () => {
      const { id, requestId } = await charged();
      await refund(id, { requestId, reference: '1' });
      const { status, body } = await refund(id, { requestId, reference: '2' });
      expect([status, body['code']]).toEqual([409, 'REFUND_TOO_LARGE']);
      expect(await platform.balances(id)).toMatchObject({ usd: '5.00' });
    });

    it('rejects a reference that was used for another amount', async () => {
      const { id, requestId } = await charged();
      await refund(id, { requestId, reference: 'r', usd: '0.000000001' });
      const { status, body } = await refund(id, { requestId, reference: 'r', usd: '0.000000002' });
      expect([status, body['code']]).toEqual([409, 'REFERENCE_REUSED']);
      expect(body['error']).toMatchObject({ param: 'reference' });
    });
  });
});
