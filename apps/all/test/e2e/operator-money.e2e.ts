import { ChatCompletion } from '@svc/api/chat';
import { formatUsd } from '@svc/contracts/money';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OPERATOR_TOKEN, Platform } from '../platform.js';
import { eventually } from '../response-bodies.js';

const HELLO = { model: 'test-model', messages: [{ role: 'user', content: 'hi' }] };

let platform: Platform;

beforeAll(async () => {
  platform = await Platform.start({
    models: [
      {
        id: 'marked-model',
        pricing: undefined,
        providerPricing: { input: 1.5, output: 2 },
        markup: 1.2,
      },
    ],
  });
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

describe('accounting', () => {
  const month = new Date().toISOString().slice(0, 7);
  const csvOf = async (path: string): Promise<string[]> => {
    const response = await fetch(`${platform.operatorUrl}${path}`, {
      headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, accept: 'text/csv' },
    });
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    return (await response.text()).trimEnd().split('\n');
  };

  it('exports a month as JSON and as CSV, with the revenue of each model', async () => {
    const { apiKey } = await platform.account('10.00');
    await (await platform.chat(apiKey, HELLO)).text();
    const { status, body } = await platform.operator('GET', `/ledger/months/${month}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ object: 'ledger_month', month, isComplete: false });
    const entries = body['entries'] as { entry: string; detail: string }[];
    expect(entries).toContainEqual(expect.objectContaining({ entry: 'charge', detail: 'test-model' }));
    const [header, ...rows] = await csvOf(`/ledger/months/${month}`);
    expect(header).toBe('month,entry,detail,currency,amount,balanceChange');
    expect(rows).toHaveLength(entries.length);
  });

  it('exports what the provider of a model takes, and the margin', async () => {
    const { apiKey } = await platform.account('10.00');
    const sums = new Map<string, number>();
    let requestId = '';
    for (let request = 0; request < 3; request += 1) {
      const response = await platform.chat(apiKey, { ...HELLO, model: 'marked-model' });
      const { id, usage, cost } = ChatCompletion.parse(await response.json());
      requestId = id;
      const provider = Math.ceil(usage.prompt_tokens * 1_500) + usage.completion_tokens * 2_000;
      const charged = Math.round((cost?.usd ?? 0) * 1e9);
      expect(charged).toBe(usage.prompt_tokens * 1_800 + usage.completion_tokens * 2_400);
      sums.set('provider_cost', (sums.get('provider_cost') ?? 0) + provider);
      sums.set('margin', (sums.get('margin') ?? 0) + charged - provider);
    }
    const { body: charge } = await platform.operator('GET', `/charges/${requestId}`);
    expect(charge['lines']).toContainEqual(expect.objectContaining({ providerCost: expect.any(String) }));
    const { body } = await platform.operator('GET', `/ledger/months/${month}`);
    const entries = body['entries'] as { entry: string; detail: string; amount: string }[];
    for (const [entry, nano] of sums)
      expect(entries).toContainEqual({
        entry,
        detail: 'marked-model',
        currency: 'USD',
        amount: formatUsd(BigInt(nano)),
        balanceChange: '0.00',
      });
    const listed = await (await fetch(`${platform.apiUrl}/models`)).text();
    expect(listed).toContain('marked-model');
    expect(listed).not.toMatch(/markup|providerPricing|provider_pricing/);
  });

  it('shows the statement of an account, between its balances', async () => {
    const { id, apiKey } = await platform.account('10.00');
    await (await platform.chat(apiKey, HELLO)).text();
    const path = `/accounts/${id}/statements/${month}`;
    const { body } = await platform.operator('GET', path);
    const entries = body['entries'] as { entry: string; currency: string; amount: string }[];
    const usd = entries.filter(({ currency }) => currency === 'USD');
    expect(usd.map(({ entry }) => entry).toSorted()).toEqual([
      'charge',
      'closing_balance',
      'credit',
      'opening_balance',
    ]);
    const closing = usd.find(({ entry }) => entry === 'closing_balance')?.amount;
    expect(closing).toBe((await platform.balances(id)).usd);
    const [header] = await csvOf(path);
    expect(header).toBe('at,entry,detail,reference,currency,amount,balanceChange');
  });

  it.each(['2026-13', '26-11', '2026-11-01'])('rejects the month %s', async (other) => {
    expect((await platform.operator('GET', `/ledger/months/${other}`)).status).toBe(400);
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

  it.each(['cost', 'tokens', 'requests', 'refusals'])(
    'in the list of the accounts with the most %s, with all four of each',
    async (by) => {
      const { id, apiKey } = await platform.account('10.00', { name: `Most ${by}` });
      await (await platform.chat(apiKey, HELLO)).text();
      expect((await platform.chat(apiKey, { ...HELLO, model: 'no-such-model' })).status).toBe(404);
      const today = new Date().toISOString().slice(0, 10);
      // Refusals are recorded every two seconds.
      await eventually('the account is listed', async () => {
        const { body } = await platform.operator(
          'GET',
          `/spenders?from=${today}&until=${today}&limit=1000&by=${by}`,
        );
        const found = (body['data'] as { accountId: string }[]).find(({ accountId }) => accountId === id);
        return JSON.stringify(found)?.includes('"requests":1,"refusals":1,') ?? false;
      });
    },
  );
});
