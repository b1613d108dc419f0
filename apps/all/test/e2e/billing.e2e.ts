import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Cost, errorOf } from '../response-bodies.js';
import { Platform, type TestAccount } from '../platform.js';

interface Entry {
  timestamp: string;
  sku: string;
  units: number;
  pricePerUnitUsd: number;
  amount: number;
  currency: 'USD' | 'DIEM';
  notes: string;
  inferenceDetails: { requestId: string; promptTokens: number; completionTokens: number };
}
interface UsagePage {
  data: Entry[];
  pagination: { limit: number; page: number; total: number; totalPages: number };
}
interface HistoryPage {
  data: Entry[];
  nextCursor: string | null;
}
interface ChargedCompletion {
  id: string;
  cost: Cost;
  usage: { prompt_tokens: number; completion_tokens: number };
}

const REQUESTS = 12;
const START_USD = 10;
const BILLING_ROUTES = ['balance', 'usage', 'usage-history', 'usage-analytics', 'requests'];

let platform: Platform;
let account: TestAccount;
let admin: string;
/** Id, cost and tokens of each completion. */
const completions: ChargedCompletion[] = [];

beforeAll(async () => {
  platform = await Platform.start();
  account = await platform.account(START_USD.toFixed(2));
  admin = await adminKey(account);
  for (let request = 1; request <= REQUESTS; request += 1) {
    const response = await platform.chat(account.apiKey, {
      model: 'test-model',
      messages: [{ role: 'user', content: 'word '.repeat(request) }],
      max_tokens: 3 * request,
    });
    completions.push((await response.json()) as ChargedCompletion);
  }
});

afterAll(() => platform.stop());

async function adminKey({ id }: TestAccount): Promise<string> {
  const { body } = await platform.operator('POST', `/accounts/${id}/api_keys`, {
    apiKeyType: 'ADMIN',
    description: 'billing',
  });
  return String(body['apiKey']);
}

function ask(path: string, { key = admin, accept = 'application/json' } = {}): Promise<Response> {
  const headers = { authorization: `Bearer ${key}`, accept };
  return fetch(`${platform.apiUrl}/billing/${path}`, { headers });
}

async function get<Body>(path: string, key = admin): Promise<Body> {
  const response = await ask(path, { key });
  expect(response.status).toBe(200);
  return (await response.json()) as Body;
}

/** A decimal as nano-dollars; a JSON number is rounded to the nearest nano-dollar. */
const nano = (amount: number | string): number => Math.round(Number(amount) * 1e9);
const sum = (amounts: readonly (number | string)[]): number =>
  amounts.reduce<number>((total, amount) => total + nano(amount), 0);
const spent = (): number => sum(completions.map(({ cost }) => cost.usd));

/** The rows of a CSV without quotes, by column name. */
function rowsOf(csv: string): Record<string, string>[] {
  const [header = '', ...rows] = csv.trimEnd().split('\n');
  const names = header.split(',');
  return rows.map((row) =>
    Object.fromEntries(row.split(',').map((value, index) => [names[index] ?? '', value])),
  );
}

async function walked(query: string): Promise<Entry[]> {
  const found: Entry[] = [];
  let page = await get<HistoryPage>(`usage-history?${query}`);
  for (;;) {
    found.push(...page.data);
    if (page.nextCursor === null) return found;
    page = await get<HistoryPage>(`usage-history?cursor=${page.nextCursor}`);
  }
}

describe('200', () => {
  it('balance is the credits minus the cost of every completion', async () => {
    await expect(get('balance')).resolves.toEqual({
      canConsume: true,
      consumptionCurrency: 'USD',
      balances: { diem: 0, usd: (nano(START_USD) - spent()) / 1e9 },
      diemEpochAllocation: 0,
    });
  });

  it('an empty account has no balance, and does not see usage of other accounts', async () => {
    const poor = await adminKey(await platform.account('0'));
    await expect(get('balance', poor)).resolves.toEqual({
      canConsume: false,
      consumptionCurrency: null,
      balances: { diem: 0, usd: 0 },
      diemEpochAllocation: 0,
    });
    await expect(get('usage', poor)).resolves.toMatchObject({ data: [] });
    await expect(get('usage-history', poor)).resolves.toEqual({ data: [], nextCursor: null });
    await expect(get('usage-analytics', poor)).resolves.toMatchObject({ byModel: [], byKey: [] });
  });

  it('an account with a stake has DIEM, spends it first, and sees it in every report', async () => {
    const staked = await platform.account('5.00');
    const key = await adminKey(staked);
    await platform.operator('PUT', `/accounts/${staked.id}/stake`, { tokens: '2.5' });
    await expect(get('balance', key)).resolves.toEqual({
      canConsume: true,
      consumptionCurrency: 'DIEM',
      balances: { diem: 2.5, usd: 5 },
      diemEpochAllocation: 2.5,
    });
    const response = await platform.chat(staked.apiKey, {
      model: 'test-model',
      messages: [{ role: 'user', content: 'Hello' }],
      max_tokens: 5,
    });
    const { cost } = (await response.json()) as ChargedCompletion;
    expect([cost.usd, cost.diem > 0]).toEqual([0, true]);
    const { balances } = await get<{ balances: { diem: number } }>('balance', key);
    expect(nano(balances.diem)).toBe(nano(2.5) - nano(cost.diem));
    const { data } = await get<UsagePage>('usage?currency=DIEM', key);
    expect(sum(data.map(({ amount }) => amount))).toBe(-nano(cost.diem));
    await expect(get('usage?currency=USD', key)).resolves.toMatchObject({ data: [] });
    const { byDate } = await get<{ byDate: { DIEM: number; USD: number }[] }>('usage-analytics', key);
    expect([sum(byDate.map(({ DIEM }) => DIEM)), sum(byDate.map(({ USD }) => USD))]).toEqual([
      nano(cost.diem),
      0,
    ]);
  });

  it('usage lists every completion with its exact cost and tokens, newest first', async () => {
    const { data, pagination } = await get<UsagePage>('usage');
    expect(pagination).toEqual({ limit: 200, page: 1, total: data.length, totalPages: 1 });
    expect(data.map(({ timestamp }) => timestamp)).toEqual(
      data
        .map(({ timestamp }) => timestamp)
        .toSorted()
        .toReversed(),
    );
    for (const { id, cost, usage } of completions) {
      const entries = data.filter(({ inferenceDetails }) => inferenceDetails.requestId === id);
      expect(sum(entries.map(({ amount }) => amount))).toBe(-nano(cost.usd));
      expect(entries.map(({ sku, units, pricePerUnitUsd }) => [sku, units, pricePerUnitUsd])).toEqual([
        ['test-model-llm-output-mtoken', usage.completion_tokens / 1e6, 0.6],
        ['test-model-llm-input-mtoken', usage.prompt_tokens / 1e6, 0.15],
      ]);
      for (const entry of entries)
        expect(entry).toMatchObject({
          currency: 'USD',
          notes: 'API Inference',
          inferenceDetails: {
            promptTokens: usage.prompt_tokens,
            completionTokens: usage.completion_tokens,
            inferenceExecutionTime: expect.any(Number),
          },
        });
    }
  });

  it('usage is paged, with the counts in headers', async () => {
    const { data: all } = await get<UsagePage>('usage?sortOrder=asc');
    const found: Entry[] = [];
    for (let page = 1; page <= 5; page += 1) {
      const response = await ask(`usage?sortOrder=asc&limit=5&page=${page}`);
      expect([...response.headers].filter(([name]) => name.startsWith('x-pagination-'))).toEqual([
        ['x-pagination-limit', '5'],
        ['x-pagination-page', String(page)],
        ['x-pagination-total', '24'],
        ['x-pagination-total-pages', '5'],
      ]);
      found.push(...((await response.json()) as UsagePage).data);
    }
    expect(found).toEqual(all);
    await expect(get('usage?limit=5&page=6')).resolves.toEqual({
      data: [],
      pagination: { limit: 5, page: 6, total: 24, totalPages: 5 },
    });
  });

  it('usage returns only entries within the requested period', async () => {
    const { data: all } = await get<UsagePage>('usage?sortOrder=asc');
    const from = all[6]?.timestamp ?? '';
    const { data: late } = await get<UsagePage>(`usage?sortOrder=asc&startDate=${from}`);
    expect(late).toEqual(all.filter(({ timestamp }) => timestamp >= from));
    const { data: early } = await get<UsagePage>(`usage?sortOrder=asc&endDate=${from}`);
    expect(early).toEqual(all.filter(({ timestamp }) => timestamp < from));
    const days = [all[0], all.at(-1)].map((entry) => entry?.timestamp.slice(0, 10));
    const { data: whole } = await get<UsagePage>(
      `usage?sortOrder=asc&startDate=${days[0]}&endDate=${days[1]}`,
    );
    expect(whole).toEqual(all);
    await expect(get('usage?endDate=2000-01-01')).resolves.toMatchObject({ data: [] });
  });

  it('usage is a CSV file if the client prefers it, with the same entries to the nano-dollar', async () => {
    const { data } = await get<UsagePage>('usage?limit=10&page=2');
    const response = await ask('usage?limit=10&page=2', { accept: 'text/csv' });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(response.headers.get('content-disposition')).toBe('attachment; filename=billing_usage.csv');
    expect(response.headers.get('x-pagination-total')).toBe('24');
    const rows = rowsOf(await response.text());
    expect(
      rows.map((row) => ({
        timestamp: row['timestamp'],
        sku: row['sku'],
        pricePerUnitUsd: Number(row['pricePerUnitUsd']),
        units: Number(row['units']),
        amount: Number(row['amount']),
        currency: row['currency'],
        notes: row['notes'],
        inferenceDetails: {
          requestId: row['inferenceDetails.requestId'],
          promptTokens: Number(row['inferenceDetails.promptTokens']),
          completionTokens: Number(row['inferenceDetails.completionTokens']),
          inferenceExecutionTime: Number(row['inferenceDetails.inferenceExecutionTime']),
        },
      })),
    ).toEqual(data);
    for (const { amount } of rows) expect(amount).toMatch(/^-\d+\.\d{2,9}$/);
  });

  it('usage-history is paged by cursor to its end, oldest first, keeping the initial filter', async () => {
    const { data: all } = await get<UsagePage>('usage?sortOrder=asc');
    await expect(get('usage-history')).resolves.toEqual({ data: all, nextCursor: null });
    await expect(walked('pageSize=10')).resolves.toEqual(all);
    const [from, until] = [all[2]?.timestamp ?? '', all.at(-1)?.timestamp ?? ''];
    await expect(
      walked(`pageSize=10&startTimestamp=${from}&endTimestamp=${until}&currency=USD`),
    ).resolves.toEqual(all.filter(({ timestamp }) => timestamp >= from && timestamp < until));
    expect([...(await walked('currency=DIEM')), ...(await walked('currency=BUNDLED_CREDITS'))]).toEqual([]);
  });

  it('usage-history is also available as CSV, with the cursor in a header, except on the last page', async () => {
    const found: Record<string, string>[] = [];
    let query = 'pageSize=10';
    for (let page = 0; page < 3; page += 1) {
      const response = await ask(`usage-history?${query}`, { accept: 'text/csv' });
      expect(response.headers.get('content-disposition')).toMatch(
        /^attachment; filename=billing-usage-history-\d{8}T\d{6}Z\.csv$/,
      );
      found.push(...rowsOf(await response.text()));
      const next = response.headers.get('x-next-cursor');
      expect(next !== null).toBe(page < 2);
      query = `cursor=${next}`;
    }
    const { data } = await get<HistoryPage>('usage-history');
    expect(
      found.map((row) => [row['inferenceDetails.requestId'], row['sku'], Number(row['amount'])]),
    ).toEqual(data.map(({ inferenceDetails, sku, amount }) => [inferenceDetails.requestId, sku, amount]));
  });

  it('usage-analytics sums up to the cost of the completions, by day, model and key', async () => {
    const report = await get<Record<string, Record<string, unknown>[]>>('usage-analytics');
    expect(Object.keys(report).toSorted()).toEqual(
      'byDate byKey byKeyDaily byModel byModelDaily lookback topKeyNames topModels'.split(' '),
    );
    const total = spent();
    expect(report['byDate']).toHaveLength(7);
    expect(sum(report['byDate']?.map(({ USD }) => Number(USD)) ?? [])).toBe(total);
    const tokensOf = (kind: 'prompt_tokens' | 'completion_tokens'): number =>
      completions.reduce((tokens, { usage }) => tokens + usage[kind], 0) / 1e6;
    const units = tokensOf('prompt_tokens') + tokensOf('completion_tokens');
    expect(report['byModel']).toEqual([
      {
        modelName: 'test-model',
        unitType: 'mtoken',
        modelType: 'text',
        totalUsd: total / 1e9,
        totalDiem: 0,
        totalUnits: expect.closeTo(units, 9),
        breakdown: [
          { type: 'Input', usd: expect.any(Number), diem: 0, units: tokensOf('prompt_tokens') },
          { type: 'Output', usd: expect.any(Number), diem: 0, units: tokensOf('completion_tokens') },
        ],
      },
    ]);
    const breakdown = report['byModel']?.[0]?.['breakdown'] as { usd: number }[];
    expect(sum(breakdown.map(({ usd }) => usd))).toBe(total);
    expect(report['topModels']).toEqual(['test-model']);
    expect(sum(report['byModelDaily']?.map((day) => Number(day['test-model'])) ?? [])).toBe(total);
    const [name = ''] = report['topKeyNames'] as unknown as string[];
    // The key of the test has no description, so its last characters identify it.
    expect(name).toBe(`…${account.apiKey.slice(-6)}`);
    expect(report['byKey']).toEqual([
      expect.objectContaining({ description: name, totalUsd: total / 1e9, totalDiem: 0 }),
    ]);
    expect(sum(report['byKeyDaily']?.map((day) => Number(day[name])) ?? [])).toBe(total);
  });

  it('usage-analytics covers the requested days, ninety at most', async () => {
    const daysOf = async (query: string): Promise<unknown> => {
      const { lookback, byDate } = await get<{ lookback: string; byDate: { date: string }[] }>(
        `usage-analytics?${query}`,
      );
      return [lookback, byDate.length, byDate[0]?.date];
    };
    expect(await daysOf('lookback=1000d')).toEqual(['90d', 90, expect.any(String)]);
    expect(await daysOf('startDate=2026-01-30&endDate=2026-02-02')).toEqual(['4d', 4, '2026-01-30']);
  });
});

describe('400', () => {
  it.each([
    ['currency', 'usage?currency=EUR'],
    ['startDate', 'usage?startDate=yesterday'],
    ['endDate', 'usage?endDate=2026-13-01'],
    ['endDate', 'usage?startDate=2026-11-02&endDate=2026-11-01'],
    ['limit', 'usage?limit=0'],
    ['limit', 'usage?limit=501'],
    ['page', 'usage?page=0'],
    ['sortOrder', 'usage?sortOrder=up'],
    ['startTimestamp', 'usage-history?startTimestamp=2026-11-01'],
    ['startTimestamp', 'usage-history?startTimestamp=2026-11-01T00:00:00%2B01:00'],
    ['endTimestamp', 'usage-history?startTimestamp=2026-11-01T00:00:00Z&endTimestamp=2026-11-01T00:00:00Z'],
    ['currency', 'usage-history?currency=usd'],
    ['pageSize', 'usage-history?pageSize=9'],
    ['pageSize', 'usage-history?pageSize=1001'],
    ['lookback', 'usage-analytics?lookback=0d'],
    ['lookback', 'usage-analytics?lookback=7'],
    ['endDate', 'usage-analytics?startDate=2026-11-01'],
    ['startDate', 'usage-analytics?startDate=2026-11-1&endDate=2026-11-02'],
    ['endDate', 'usage-analytics?startDate=2026-01-01&endDate=2026-06-01'],
  ])('names %s in %s', async (param, path) => {
    // A key with too many refusals is blocked.
    const response = await ask(path, { key: await adminKey(account) });
    expect(response.status).toBe(400);
    expect(await errorOf(response)).toMatchObject({ code: 'INVALID_REQUEST', error: { param } });
  });

  it('accepts a cursor only without other parameters', async () => {
    const { nextCursor } = await get<HistoryPage>('usage-history?pageSize=10');
    for (const more of ['pageSize=10', 'currency=USD', 'startTimestamp=2026-11-01T00:00:00Z']) {
      const response = await ask(`usage-history?cursor=${nextCursor}&${more}`);
      expect(response.status).toBe(400);
      expect((await errorOf(response)).error.param).toBe('cursor');
    }
  });

  it('rejects a cursor that is invented, modified, or of another account', async () => {
    const { nextCursor } = await get<HistoryPage>('usage-history?pageSize=10');
    const cursor = nextCursor ?? '';
    const tampered = `${cursor.slice(0, 40)}${cursor[40] === 'A' ? 'B' : 'A'}${cursor.slice(41)}`;
    const other = await adminKey(await platform.account('1.00'));
    for (const [key, text] of [
      [admin, 'nonsense'],
      [admin, ''],
      [admin, 'a%2Fb'],
      [admin, 'A'.repeat(600)],
      [admin, tampered],
      [other, cursor],
    ] as const) {
      const response = await ask(`usage-history?cursor=${text}`, { key });
      expect(response.status).toBe(400);
      expect(await errorOf(response)).toMatchObject({
        code: 'INVALID_REQUEST',
        error: { param: 'cursor', message: 'Invalid or expired cursor; restart from the first page' },
      });
    }
  });
});

describe('401', () => {
  it('balance requires an ADMIN key', async () => {
    const response = await ask('balance', { key: account.apiKey });
    expect(response.status).toBe(401);
    expect(await errorOf(response)).toMatchObject({
      code: 'AUTHENTICATION_FAILED',
      error: { message: 'Admin API key required' },
    });
  });

  it.each(BILLING_ROUTES)('%s rejects requests without a valid key', async (path) => {
    for (const headers of [{}, { authorization: 'Bearer SVC_ADMIN_KEY_wrong' }] as Record<string, string>[]) {
      const response = await fetch(`${platform.apiUrl}/billing/${path}`, { headers });
      expect(response.status).toBe(401);
      expect(await errorOf(response)).toMatchObject({ code: 'AUTHENTICATION_FAILED' });
    }
  });
});
