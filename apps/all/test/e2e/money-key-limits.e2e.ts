import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Cost, chunksOf, errorOf } from '../response-bodies.js';
import { AccountKeys } from '../account-keys.js';
import { withinOneHour } from '../minutes.js';
import { Platform } from '../platform.js';

const OUTPUT_NANO = 20_000;
const DEAR = { id: 'dear', pricing: { input: 1, output: OUTPUT_NANO / 1_000 } };

let platform: Platform;

beforeAll(async () => {
  platform = await Platform.start({ models: [DEAR] });
});

afterAll(() => platform.stop());

const nano = (usd: number): number => Math.round(usd * 1e9);

/** An account with 100 USD, and a key with this spending limit. */
const limitedKey = (usd: number) => keyWith({ consumptionLimit: { usd }, limitPeriod: 'LIFETIME' });

/** An account with 100 USD, and a key with these terms. */
async function keyWith(terms: object): Promise<{ id: string; apiKey: string; freeKey: string }> {
  const { id, apiKey: freeKey } = await platform.account('100.00');
  const { body } = await platform.operator('POST', `/accounts/${id}/api_keys`, {
    apiKeyType: 'INFERENCE',
    description: '',
    ...terms,
  });
  return { id, apiKey: String(body['apiKey']), freeKey };
}

interface Seen {
  readonly status: number;
  readonly finishReason: string | undefined;
  readonly code: string | undefined;
  readonly costNano: number;
}

/** 6,000 tokens cost 0.12 USD, more than the limit of any of these keys. */
async function ask(apiKey: string, stream: boolean, tokens = 6_000): Promise<Seen> {
  const messages = [{ role: 'user', content: `go [[sim tokens=${tokens} itl-ms=1]]` }];
  const response = await platform.chat(apiKey, { model: 'dear', messages, stream });
  const { status } = response;
  if (status !== 200) {
    return { status, finishReason: undefined, code: (await errorOf(response)).code, costNano: 0 };
  }
  if (!stream) {
    const { choices, cost } = (await response.json()) as { choices: { finish_reason: string }[]; cost: Cost };
    return { status, finishReason: choices[0]?.finish_reason, code: undefined, costNano: nano(cost.usd) };
  }
  const { chunks, done } = await chunksOf(response);
  expect(done).toBe(true);
  const reasons = chunks.flatMap(({ choices }) => choices).flatMap((choice) => choice.finish_reason ?? []);
  expect(reasons).toHaveLength(1);
  return {
    status,
    finishReason: reasons[0],
    code: undefined,
    costNano: nano(chunks.at(-1)?.cost?.usd ?? Number.NaN),
  };
}

describe.each([
  ['a stream', true],
  ['an answer that is not streamed', false],
])('%s that reaches the spending limit of its key', (_, stream) => {
  it('ends with length, having spent all of it, and the next is refused', async () => {
    const { id, apiKey, freeKey } = await limitedKey(0.01);
    const { finishReason, costNano } = await ask(apiKey, stream);
    expect(finishReason).toBe('length');
    expect(costNano).toBeLessThanOrEqual(nano(0.01));
    expect(costNano).toBeGreaterThan(nano(0.01) - OUTPUT_NANO);
    expect(await ask(apiKey, stream)).toMatchObject({
      status: 402,
      code: 'API_KEY_USD_SPEND_LIMIT_EXCEEDED',
    });
    // The account has more money, which its other key may spend.
    const free = await ask(freeKey, stream, 100);
    expect(free.finishReason).toBe('stop');
    const { usd } = await platform.balances(id);
    expect(nano(Number(usd))).toBe(nano(100) - costNano - free.costNano);
  });

  it('shares it with the other requests of its key to the last token', async () => {
    const { id, apiKey } = await limitedKey(0.1);
    const seen = await Promise.all(Array.from({ length: 40 }, () => ask(apiKey, stream)));
    const endings = new Set(
      seen.map(({ status, finishReason, code }) => `${status} ${code ?? finishReason ?? ''}`),
    );
    endings.delete('402 API_KEY_USD_SPEND_LIMIT_EXCEEDED');
    expect([...endings]).toEqual(['200 length']);
    const spent = seen.reduce((sum, { costNano }) => sum + costNano, 0);
    expect(spent).toBeLessThanOrEqual(nano(0.1));
    expect(spent).toBeGreaterThanOrEqual(nano(0.099));
    expect(nano(Number((await platform.balances(id)).usd))).toBe(nano(100) - spent);
    expect((await platform.audit()).body).toMatchObject({ ok: true });
  });
});

it('a key with a limit for an hour spends it, and shows what it has spent', async () => {
  await withinOneHour();
  const keys = await AccountKeys.of(platform);
  const { id, apiKey } = await keys.create({ consumptionLimit: { usd: 0.01 }, limitPeriod: 'HOUR' });
  const { finishReason, costNano } = await ask(apiKey, true);
  expect(finishReason).toBe('length');
  expect(costNano).toBeGreaterThan(nano(0.01) - OUTPUT_NANO);
  expect(await ask(apiKey, true)).toMatchObject({ status: 402, code: 'API_KEY_USD_SPEND_LIMIT_EXCEEDED' });
  expect((await keys.ask('GET', { path: `/${id}` })).body.data).toMatchObject({
    limitPeriod: 'HOUR',
    currentPeriodUsage: { usd: (costNano / 1e9).toFixed(4), diem: '0.0000' },
  });
});

describe.each([
  ['a stream', true],
  ['an answer that is not streamed', false],
])('%s of a key with a most for one request', (_, stream) => {
  it('ends with length at that cost, and the next one may cost as much', async () => {
    const { id, apiKey } = await keyWith({ maxCostPerRequest: 0.01 });
    const seen = [await ask(apiKey, stream), await ask(apiKey, stream), await ask(apiKey, stream, 100)];
    expect(seen.map(({ finishReason }) => finishReason)).toEqual(['length', 'length', 'stop']);
    const [first, second, third] = seen.map(({ costNano }) => costNano) as [number, number, number];
    expect([first, second].every((cost) => cost <= nano(0.01) && cost > nano(0.01) - OUTPUT_NANO)).toBe(true);
    expect(nano(Number((await platform.balances(id)).usd))).toBe(nano(100) - first - second - third);
  });

  it('is refused before any of it is made if it costs more in any case', async () => {
    const { id, apiKey } = await keyWith({ maxCostPerRequest: 0.000001 });
    expect(await ask(apiKey, stream)).toMatchObject({
      status: 402,
      code: 'API_KEY_USD_SPEND_LIMIT_EXCEEDED',
    });
    expect(nano(Number((await platform.balances(id)).usd))).toBe(nano(100));
  });
});

it('an ADMIN key with a most for one request gives no key more, and raises not its own', async () => {
  const { apiKey } = await keyWith({ apiKeyType: 'ADMIN', maxCostPerRequest: 0.01 });
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const send = async (method: string, body: object): Promise<[number, unknown]> => {
    const url = `${platform.apiUrl}/api_keys`;
    const response = await fetch(url, { method, headers, body: JSON.stringify(body) });
    const { data, error } = (await response.json()) as Record<string, Record<string, unknown> | undefined>;
    return [response.status, data?.['maxCostPerRequest'] ?? error?.['param']];
  };
  const child = { apiKeyType: 'INFERENCE', description: '' };
  expect(await send('POST', child)).toEqual([400, 'maxCostPerRequest']);
  expect(await send('POST', { ...child, maxCostPerRequest: 0.02 })).toEqual([400, 'maxCostPerRequest']);
  expect(await send('POST', { ...child, maxCostPerRequest: 0.01 })).toEqual([200, 0.01]);
  const list = await fetch(`${platform.apiUrl}/api_keys`, { headers });
  const { data } = (await list.json()) as { data: { id: string; apiKeyType: string }[] };
  const id = data.find(({ apiKeyType }) => apiKeyType === 'ADMIN')?.id;
  expect(await send('PATCH', { id, maxCostPerRequest: 0.02 })).toEqual([400, 'maxCostPerRequest']);
  expect(await send('PATCH', { id, maxCostPerRequest: null })).toEqual([400, 'maxCostPerRequest']);
});
