import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Cost, chunksOf, eventually } from '../response-bodies.js';
import { Platform } from '../platform.js';

const NOBODY = '11111111-1111-4111-8111-111111111111';
const ASK = { model: 'test-model', messages: [{ role: 'user', content: 'Hello' }] };

let database: TestDatabase;
let platform: Platform;

beforeAll(async () => {
  database = await startTestDatabase();
  platform = await Platform.start({ env: { DATABASE_URL: database.url } });
});

afterAll(async () => {
  await platform.stop();
  await database.stop();
});

const today = (): string => new Date().toISOString().slice(0, 10);

const stake = (id: string, tokens?: unknown): ReturnType<Platform['operator']> =>
  tokens === undefined
    ? platform.operator('GET', `/accounts/${id}/stake`)
    : platform.operator('PUT', `/accounts/${id}/stake`, { tokens });

async function transfers(id: string): Promise<{ kind: string; currency: string; amount: string }[]> {
  const { body } = await platform.operator('GET', `/accounts/${id}/transfers`);
  return (body['data'] as { kind: string; currency: string; amount: string }[]).toReversed();
}

async function expectBooksRight(): Promise<void> {
  const { body } = await platform.audit();
  expect(body).toMatchObject({ ok: true, mismatches: [], imbalanceUsd: '0.00', imbalanceDiem: '0.00' });
}

describe('200', () => {
  it('credits the DIEM at once, and returns the stake and the start of the next epoch', async () => {
    const { id } = await platform.account('1.00');
    expect((await stake(id)).body).toMatchObject({ accountId: id, tokens: '0.00', grantedOn: null });
    const set = await stake(id, '2.5');
    expect(set.status).toBe(200);
    const [year = 0, month = 0, day = 0] = today().split('-').map(Number);
    expect(set.body).toEqual({
      accountId: id,
      tokens: '2.50',
      diemEpochAllocation: '2.50',
      grantedOn: today(),
      nextEpochBegins: new Date(Date.UTC(year, month - 1, day + 1)).toISOString(),
    });
    expect((await stake(id)).body).toEqual(set.body);
    expect(await platform.balances(id)).toEqual({ usd: '1.00', diem: '2.50' });
    expect(await transfers(id)).toMatchObject([
      { kind: 'credit' },
      { kind: 'grant', currency: 'DIEM', amount: '2.50', debitAccount: 'staking', reference: today() },
    ]);
    await expectBooksRight();
  });

  it('spends DIEM first and then USD, at the posted cost', async () => {
    const { id, apiKey } = await platform.account('1.00');
    // Enough for a part of the cost of a request.
    await stake(id, '0.000001');
    const first = await platform.chat(apiKey, ASK);
    expect(first.headers.get('x-svc-balance-diem')).toBe('0.000001');
    expect(first.headers.get('x-svc-balance-usd')).toBe('1.00');
    const { cost } = (await first.json()) as { cost: Cost };
    expect(cost.diem).toBe(0.000001);
    expect(cost.usd).toBeGreaterThan(0);
    const posted = (await transfers(id)).filter(({ kind }) => kind === 'charge');
    expect(posted.map(({ currency, amount }) => [currency, Number(amount)])).toEqual([
      ['DIEM', cost.diem],
      ['USD', cost.usd],
    ]);
    const second = await platform.chat(apiKey, { ...ASK, stream: true });
    expect(second.headers.get('x-svc-balance-diem')).toBe('0.00');
    const { chunks } = await chunksOf(second);
    expect(chunks.at(-1)?.cost).toMatchObject({ diem: 0 });
    await expectBooksRight();
  });

  it('serves a request of an account that has only DIEM', async () => {
    const { id, apiKey } = await platform.account('0');
    expect((await platform.chat(apiKey, ASK)).status).toBe(402);
    await stake(id, 1);
    const answer = await platform.chat(apiKey, ASK);
    expect(answer.status).toBe(200);
    const { cost } = (await answer.json()) as { cost: Cost };
    expect(cost).toMatchObject({ usd: 0 });
    expect(Number((await platform.balances(id)).diem)).toBeCloseTo(1 - cost.diem, 9);
  });

  it('applies a second stake of the day from the next day, and accepts numbers and strings', async () => {
    const { id } = await platform.account('0');
    await Promise.all([stake(id, '3'), stake(id, '3'), stake(id, '3')]);
    const changed = await stake(id, 0.000000001);
    expect(changed.body).toMatchObject({ tokens: '0.000000001', grantedOn: today() });
    expect(await platform.balances(id)).toMatchObject({ diem: '3.00' });
    expect((await stake(id, 0)).body).toMatchObject({ tokens: '0.00' });
    expect((await transfers(id)).map(({ kind }) => kind)).toEqual(['grant']);
    await expectBooksRight();
  });

  it('resets the DIEM for a day that began while the process was down, soon after its start', async () => {
    const { id } = await platform.account('0');
    await platform.service.stop();
    const client = new Client({ connectionString: database.url });
    await client.connect();
    await client.query(
      `INSERT INTO ledger.stakes (account_id, tokens_nano, granted_on) VALUES ($1, 4000000000, '2026-01-01')`,
      [id],
    );
    await client.end();
    await platform.restart();
    await eventually('the day is set', async () => (await stake(id)).body['grantedOn'] === today());
    expect(await platform.balances(id)).toMatchObject({ diem: '4.00' });
    await expectBooksRight();
  });
});

describe('400', () => {
  it.each([
    [{}],
    [{ tokens: null }],
    [{ tokens: true }],
    [{ tokens: -1 }],
    [{ tokens: '-0.5' }],
    [{ tokens: '' }],
    [{ tokens: '1e3' }],
    [{ tokens: '1,5' }],
    [{ tokens: '0.0000000001' }],
    [{ tokens: 0.1 + 0.2 }],
    [{ tokens: 1e-10 }],
    [{ tokens: 1e21 }],
    [{ tokens: '1000000000.000000001' }],
    [{ tokens: ['1'] }],
  ])('rejects %j with the name of the field', async (body) => {
    const answer = await platform.operator('PUT', `/accounts/${NOBODY}/stake`, body);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ code: 'INVALID_REQUEST', error: { param: 'tokens' } });
  });

  it('refuses unknown fields and invalid ids', async () => {
    const body = { tokens: 1, diem: 1 };
    expect((await platform.operator('PUT', `/accounts/${NOBODY}/stake`, body)).status).toBe(400);
    expect((await stake('x', 1)).body).toMatchObject({ code: 'INVALID_REQUEST', error: { param: 'id' } });
  });
});

describe('401', () => {
  it('rejects everyone but the operator', async () => {
    const response = await fetch(`${platform.operatorUrl}/accounts/${NOBODY}/stake`);
    expect(response.status).toBe(401);
  });
});

describe('404', () => {
  it.each([undefined, 1])('rejects an unknown account (%j)', async (tokens) => {
    const { status, body } = await stake(NOBODY, tokens);
    expect([status, body['code']]).toEqual([404, 'ACCOUNT_NOT_FOUND']);
  });
});
