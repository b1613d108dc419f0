import type { BillingAnalytics, BillingDays, BillingRequests, BillingUsageHistory } from '@svc/api/billing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AccountKeys, type Key } from '../account-keys.js';
import { ConsoleBrowser } from '../console-browser.js';
import { Platform } from '../platform.js';

const OTHER_MODEL = { id: 'other-model' };

let platform: Platform;
let keys: AccountKeys;
let first: Key;
let second: Key;
let browser: ConsoleBrowser;
/** The ids of requests, by who made them. */
const made = { first: [] as string[], second: [] as string[], web: [] as string[] };

beforeAll(async () => {
  platform = await Platform.start({ models: [OTHER_MODEL] });
  keys = await AccountKeys.of(platform);
  first = await keys.create({ description: 'first' });
  second = await keys.create({ description: 'second' });
  browser = await ConsoleBrowser.signedIn(platform, keys.adminKey);
  const body = (count: number) => ({
    model: count % 2 === 0 ? 'test-model' : 'other-model',
    messages: [{ role: 'user', content: 'word '.repeat(count) }],
    max_tokens: count,
  });
  for (let count = 1; count <= 4; count += 1) {
    for (const [name, key] of [
      ['first', first],
      ['second', second],
    ] as const) {
      const response = await platform.chat(key.apiKey, body(count));
      made[name].push(((await response.json()) as { id: string }).id);
    }
    const { body: shown } = await browser.ask<{ id: string }>('POST', '/v1/chat/completions', {
      body: body(count),
    });
    made.web.push(shown.id);
  }
});

afterAll(() => platform.stop());

async function get<Body>(path: string, apiKey = keys.adminKey): Promise<Body> {
  const response = await fetch(`${platform.apiUrl}/billing/${path}`, {
    headers: { authorization: `Bearer ${apiKey}` },
  });
  expect(response.status).toBe(200);
  return (await response.json()) as Body;
}

const nano = (usd: number): number => Math.round(usd * 1e9);
const totalOf = (rows: readonly { readonly usd: number }[]): number =>
  rows.reduce((sum, { usd }) => sum + nano(usd), 0);

describe('the list of requests', () => {
  it('has one row for each charged request, newest first, with the positions that add up to its cost', async () => {
    const { data, nextCursor } = await get<BillingRequests>('requests');
    expect(nextCursor).toBeNull();
    const ids = data.map(({ requestId }) => requestId);
    expect(ids.toSorted()).toEqual(Object.values(made).flat().toSorted());
    const times = data.map(({ timestamp }) => timestamp);
    expect(times).toEqual(times.toSorted().toReversed());
    for (const { lines, usd, requestId } of data) {
      expect(lines.reduce((sum, { amount }) => sum - nano(amount), 0)).toBe(nano(usd));
      expect(lines.map(({ inferenceDetails }) => inferenceDetails?.requestId)).toEqual(
        lines.map(() => requestId),
      );
    }
  });

  it('is the same in pages of any size', async () => {
    const { data: all } = await get<BillingRequests>('requests');
    for (const limit of [1, 5]) {
      const found: unknown[] = [];
      let cursor: string | null = null;
      do {
        const more: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
        const page: BillingRequests = await get(`requests?limit=${limit}${more}`);
        found.push(...page.data);
        cursor = page.nextCursor;
      } while (cursor !== null);
      expect(found).toEqual(all);
    }
  });

  it('can be limited to a key, to the console, to a model, and to one request', async () => {
    const idsOf = async (query: string): Promise<string[]> =>
      (await get<BillingRequests>(`requests?${query}`)).data.map(({ requestId }) => requestId).toReversed();
    expect(await idsOf(`apiKeyId=${first.id}`)).toEqual(made.first);
    expect(await idsOf('apiKeyId=web')).toEqual(made.web);
    expect(await idsOf(`apiKeyId=${second.id}&model=other-model`)).toEqual([made.second[0], made.second[2]]);
    expect(await idsOf(`requestId=${made.first[1]}`)).toEqual([made.first[1]]);
    expect(await idsOf('requestId=unknown')).toEqual([]);
  });
});

describe('what the console spends', () => {
  it('is shown without a key, as Web App', async () => {
    const { data } = await get<BillingRequests>('requests?apiKeyId=web');
    for (const row of data) expect(row).toMatchObject({ apiKeyId: null, description: 'Web App' });
    const { byKey } = await get<BillingAnalytics>('usage-analytics');
    expect(byKey.find(({ apiKeyId }) => apiKeyId === null)).toMatchObject({ description: 'Web App' });
    expect(data.flatMap(({ lines }) => lines.map(({ notes }) => notes))).toEqual(
      data.flatMap(({ lines }) => lines.map(() => 'Web App')),
    );
  });
});

describe('the sums of usage', () => {
  it('agree to the nano-dollar, whichever way they are read', async () => {
    for (const query of ['', `apiKeyId=${first.id}`, 'apiKeyId=web', 'model=other-model']) {
      const { data: requests } = await get<BillingRequests>(`requests?${query}`);
      const { data: days } = await get<BillingDays>(`usage-analytics/daily?${query}`);
      const { data: entries } = await get<BillingUsageHistory>(`usage-history?${query}`);
      const { byDate, byModel, byKey } = await get<BillingAnalytics>(`usage-analytics?${query}`);
      const total = totalOf(requests);
      expect(total).toBeGreaterThan(0);
      expect(totalOf(days)).toBe(total);
      expect(totalOf(byDate.map(({ USD }) => ({ usd: USD })))).toBe(total);
      expect(totalOf(byModel.map(({ totalUsd }) => ({ usd: totalUsd })))).toBe(total);
      expect(totalOf(byKey.map(({ totalUsd }) => ({ usd: totalUsd })))).toBe(total);
      expect(totalOf(entries.map(({ amount }) => ({ usd: -amount })))).toBe(total);
    }
  });

  it('have a row for each day, key and model, with the tokens of each kind', async () => {
    const { data } = await get<BillingDays>('usage-analytics/daily');
    const { data: requests } = await get<BillingRequests>('requests');
    expect(new Set(data.map(({ apiKeyId, modelName }) => `${apiKeyId} ${modelName}`)).size).toBe(6);
    const sum = (numbers: readonly (number | null)[]): number =>
      numbers.reduce<number>((total, each) => total + (each ?? 0), 0);
    expect(sum(data.map(({ outputTokens }) => outputTokens))).toBe(
      sum(requests.map(({ completionTokens }) => completionTokens)),
    );
    expect(sum(data.flatMap((row) => [row.inputTokens, row.cacheReadTokens, row.cacheWriteTokens]))).toBe(
      sum(requests.map(({ promptTokens }) => promptTokens)),
    );
  });

  it('have as many series as the request asks for', async () => {
    const { topKeyNames, topModels } = await get<BillingAnalytics>('usage-analytics?top=1');
    expect([topKeyNames.length, topModels.length]).toEqual([1, 1]);
    expect((await get<BillingAnalytics>('usage-analytics?top=100')).topKeyNames).toHaveLength(3);
  });
});

describe('the usage of a tag', () => {
  it('is that of the keys that have the tag now, in the report, by day, and of no key of another account', async () => {
    const tag = (id: string, tags: string[]) => keys.ask('PATCH', { body: { id, tags } });
    const stranger = await AccountKeys.of(platform);
    const strange = await stranger.create({ tags: ['a team'] });
    await platform.chat(strange.apiKey, { messages: [{ role: 'user', content: 'Hello' }] });
    await tag(first.id, ['a team', 'production']);
    await tag(second.id, ['production']);
    const keysOf = async (query: string): Promise<string[]> => {
      const { byKey } = await get<BillingAnalytics>(`usage-analytics?${query}`);
      const { data } = await get<BillingDays>(`usage-analytics/daily?${query}`);
      expect(new Set(data.map(({ apiKeyId }) => apiKeyId))).toEqual(
        new Set(byKey.map(({ apiKeyId }) => apiKeyId)),
      );
      return byKey.map(({ apiKeyId }) => String(apiKeyId)).toSorted();
    };
    expect(await keysOf('tag=a%20team')).toEqual([first.id]);
    expect(await keysOf('tag=production')).toEqual([first.id, second.id].toSorted());
    expect(await keysOf(`tag=production&apiKeyId=${second.id}`)).toEqual([second.id]);
    expect(await keysOf('tag=other')).toEqual([]);
    await tag(first.id, []);
    expect(await keysOf('tag=a%20team')).toEqual([]);
  });
});

describe('an INFERENCE key', () => {
  it('sees its own usage and nothing else, by every route and in the console', async () => {
    const mine = await ConsoleBrowser.signedIn(platform, second.apiKey);
    const own = await get<BillingRequests>('requests', second.apiKey);
    expect(own.data.map(({ requestId }) => requestId).toReversed()).toEqual(made.second);
    expect((await mine.ask('GET', '/v1/billing/requests')).body).toEqual(own);
    const { byKey } = await get<BillingAnalytics>('usage-analytics', second.apiKey);
    expect(byKey.map(({ apiKeyId }) => apiKeyId)).toEqual([second.id]);
    const { data: days } = await get<BillingDays>('usage-analytics/daily', second.apiKey);
    expect(new Set(days.map(({ apiKeyId }) => apiKeyId))).toEqual(new Set([second.id]));
    for (const path of ['usage', 'usage-history']) {
      const { data } = await get<BillingUsageHistory>(path, second.apiKey);
      expect(new Set(data.map(({ inferenceDetails }) => inferenceDetails?.requestId))).toEqual(
        new Set(made.second),
      );
    }
  });

  it.each(['requests', 'usage', 'usage-history', 'usage-analytics', 'usage-analytics/daily'])(
    'cannot ask %s for the usage of another key',
    async (path) => {
      for (const id of [first.id, 'web']) {
        const response = await fetch(`${platform.apiUrl}/billing/${path}?apiKeyId=${id}`, {
          headers: { authorization: `Bearer ${second.apiKey}` },
        });
        expect(response.status).toBe(404);
      }
    },
  );

  it('gets its own rows with a cursor of the account as well', async () => {
    const { nextCursor } = await get<BillingUsageHistory>('usage-history?pageSize=10');
    expect(nextCursor).not.toBeNull();
    const { data } = await get<BillingUsageHistory>(`usage-history?cursor=${nextCursor}`, second.apiKey);
    const ids = new Set(data.map(({ inferenceDetails }) => inferenceDetails?.requestId));
    expect(made.second).toEqual(expect.arrayContaining([...ids]));
  });
});
