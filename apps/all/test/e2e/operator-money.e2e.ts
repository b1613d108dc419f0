import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Platform } from '../platform.js';

const HELLO = { model: 'test-model', messages: [{ role: 'user', content: 'hi' }] };

let platform: Platform;

beforeAll(async () => {
  platform = await Platform.start();
});

afterAll(() => platform.stop());

const post = (path: string, body: object): ReturnType<Platform['operator']> =>
  platform.operator('POST', path, body);

describe('a credit of too much', () => {
  it('is reversed by its reference, once, and the operator action keeps the reason', async () => {
    const { id } = await platform.account('0');
    await post(`/accounts/${id}/credits`, { usd: '5000.00', reference: 'invoice-17' });
    const body = { reference: 'invoice-17', reason: 'Typed 5000 instead of 50' };
    const reversed = await post(`/accounts/${id}/credit_reversals`, body);
    expect(reversed.status).toBe(201);
    expect(reversed.body).toMatchObject({ kind: 'credit_reversal', amount: '5000.00', currency: 'USD' });
    expect((await post(`/accounts/${id}/credit_reversals`, body)).body).toEqual(reversed.body);
    expect(await platform.balances(id)).toMatchObject({ usd: '0.00' });
    const actions = await platform.operator('GET', `/actions?target=${id}&action=reverseCredit`);
    expect(actions.body['data']).toEqual([
      expect.objectContaining({ input: body, status: 201 }),
      expect.objectContaining({ input: body, status: 201 }),
    ]);
  });

  it('is reversed only if there is one with the reference', async () => {
    const { id } = await platform.account('0');
    const { status, body } = await post(`/accounts/${id}/credit_reversals`, {
      reference: 'none',
      reason: 'x',
    });
    expect([status, body['code']]).toEqual([404, 'CREDIT_NOT_FOUND']);
  });
});

describe('a debit', () => {
  it('takes at most the balance, and says how much is left', async () => {
    const { id, apiKey } = await platform.account('10.00');
    const debit = { usd: '4.00', reference: 'd1', reason: 'A chargeback' };
    expect((await post(`/accounts/${id}/debits`, debit)).body).toMatchObject({
      kind: 'debit',
      amount: '4.00',
    });
    const refused = await post(`/accounts/${id}/debits`, { ...debit, usd: '7.00', reference: 'd2' });
    expect([refused.status, refused.body['code']]).toEqual([409, 'DEBIT_TOO_LARGE']);
    expect(JSON.stringify(refused.body)).toContain('6.00 USD left');
    expect((await post(`/accounts/${id}/debits`, { ...debit, usd: '6.00', reference: 'd2' })).status).toBe(
      201,
    );
    expect((await platform.chat(apiKey, HELLO)).status).toBe(402);
    const other = await post(`/accounts/${id}/debits`, { ...debit, usd: '1.00' });
    expect([other.status, other.body['code']]).toEqual([409, 'REFERENCE_REUSED']);
  });

  it.each([
    { usd: '1.00', reference: 'r' },
    { usd: '0', reference: 'r', reason: 'x' },
    { usd: '1', reason: 'x' },
  ])('rejects %j', async (body) => {
    const { id } = await platform.account('1.00');
    expect((await post(`/accounts/${id}/debits`, body)).status).toBe(400);
  });
});

describe('the transfers of an account', () => {
  it('are filtered by kind and time', async () => {
    const { id } = await platform.account('10.00');
    await post(`/accounts/${id}/debits`, { usd: '4.00', reference: 'd1', reason: 'x' });
    const list = async (query: string): Promise<unknown[]> => {
      const { status, body } = await platform.operator('GET', `/accounts/${id}/transfers?${query}`);
      expect(status).toBe(200);
      return (body['data'] as { kind: string }[]).map(({ kind }) => kind);
    };
    expect(await list('')).toEqual(['debit', 'credit']);
    expect(await list('kind=credit')).toEqual(['credit']);
    expect(await list('from=2020-01-01T00:00:00Z')).toEqual(['debit', 'credit']);
    expect(await list('until=2020-01-01T00:00:00Z')).toEqual([]);
    for (const query of ['kind=gift', 'from=yesterday'])
      expect((await platform.operator('GET', `/accounts/${id}/transfers?${query}`)).status).toBe(400);
  });
});

describe('the operator sees what accounts have and spend', () => {
  it('in the list of accounts', async () => {
    const name = `balances ${Math.random()}`;
    await platform.account('3.50', { name });
    const { body } = await platform.operator('GET', `/accounts?search=${encodeURIComponent(name)}`);
    expect(body['data']).toEqual([
      expect.objectContaining({ name, balances: { usd: '3.50', diem: '0.00' } }),
    ]);
  });

  it('in the list of top spenders', async () => {
    const { id, apiKey } = await platform.account('10.00', { name: 'Spender' });
    await (await platform.chat(apiKey, HELLO)).text();
    const today = new Date().toISOString().slice(0, 10);
    const { status, body } = await platform.operator(
      'GET',
      `/spenders?from=${today}&until=${today}&limit=1000`,
    );
    expect(status).toBe(200);
    const [spender] = (body['data'] as { accountId: string }[]).filter(({ accountId }) => accountId === id);
    const { usd } = await platform.balances(id);
    expect(spender).toMatchObject({ name: 'Spender', refunded: { usd: '0.00', diem: '0.00' } });
    const charged = (spender as unknown as { charged: { usd: string } }).charged.usd;
    expect((Number(charged) + Number(usd)).toFixed(9)).toBe('10.000000000');
  });
});
