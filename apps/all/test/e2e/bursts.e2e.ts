import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorOf } from '../response-bodies.js';
import { Platform } from '../platform.js';

const BURST = 300;

/** Costs and holds 0.001 USD a request. */
const UNIT = { id: 'unit', pricing: { input: 0, output: 1_000 }, maxCompletionTokens: 1 };
const UNIT_USD = 0.001;

let platform: Platform;

beforeAll(async () => {
  platform = await Platform.start({ models: [UNIT] });
});

afterAll(() => platform.stop());

interface Spender {
  readonly accountId: string;
  readonly apiKey: string;
}

/** An account with money for a number of requests. */
async function accountFor(requests: number): Promise<string> {
  const { body } = await platform.operator('POST', '/accounts', { name: 'bursting' });
  const accountId = String(body['id']);
  await platform.operator('POST', `/accounts/${accountId}/credits`, {
    usd: (requests * UNIT_USD).toFixed(3),
    reference: 'start',
  });
  return accountId;
}

async function keyOf(accountId: string, limits: object): Promise<Spender> {
  const { body } = await platform.operator('POST', `/accounts/${accountId}/api_keys`, {
    apiKeyType: 'INFERENCE',
    description: '',
    ...limits,
  });
  return { accountId, apiKey: String(body['apiKey']) };
}

/** Sends as many requests at once through all gateways, and counts their outcomes. */
async function burst(apiKey: string, requests = BURST): Promise<Record<string, number>> {
  // All in one window of the limits.
  const leftMs = 60_000 - (Date.now() % 60_000);
  if (leftMs < 20_000) await new Promise((resolve) => setTimeout(resolve, leftMs + 50));
  const { gatewayUrls } = platform;
  const messages = [{ role: 'user', content: 'go [[sim tokens=1 ttft-ms=200]]' }];
  const outcomes = await Promise.all(
    Array.from({ length: requests }, async (_, index) => {
      const to = gatewayUrls[index % gatewayUrls.length] ?? platform.apiUrl;
      const response = await platform.chat(apiKey, { model: 'unit', messages }, { to });
      if (response.status === 200) return response.text().then(() => 'begun');
      return `${response.status} ${(await errorOf(response)).code}`;
    }),
  );
  const counts: Record<string, number> = {};
  for (const outcome of outcomes) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}

async function leftOf(accountId: string): Promise<number> {
  return Math.round(Number((await platform.balances(accountId)).usd) / UNIT_USD);
}

const SHORT = '402 INSUFFICIENT_BALANCE';
const LIMITED = '429 RATE_LIMIT_EXCEEDED';
const SPENT = '402 API_KEY_USD_SPEND_LIMIT_EXCEEDED';

describe('a burst of 300 requests', { timeout: 120_000 }, () => {
  it.each([
    { money: 3, limit: 50 },
    { money: 45, limit: 60 },
  ])('spends all the money, and is refused for nothing else: %j', async ({ money, limit }) => {
    const { accountId, apiKey } = await keyOf(await accountFor(money), { requestsPerMinute: limit });
    expect(await burst(apiKey)).toEqual({ begun: money, [SHORT]: BURST - money });
    expect(await leftOf(accountId)).toBe(0);
  });

  it.each([
    { money: 50, limit: 3 },
    { money: 60, limit: 45 },
  ])('uses all of the limit, and is refused for nothing else: %j', async ({ money, limit }) => {
    const { accountId, apiKey } = await keyOf(await accountFor(money), { requestsPerMinute: limit });
    expect(await burst(apiKey)).toEqual({ begun: limit, [LIMITED]: BURST - limit });
    expect(await leftOf(accountId)).toBe(money - limit);
  });

  it('uses all of both if both are scarce', async () => {
    const { accountId, apiKey } = await keyOf(await accountFor(40), { requestsPerMinute: 40 });
    expect(await burst(apiKey)).toMatchObject({ begun: 40 });
    expect(await leftOf(accountId)).toBe(0);
  });

  it('spends all that a key may spend, and is refused for nothing else', async () => {
    const limits = { requestsPerMinute: 60, consumptionLimit: { usd: 20 * UNIT_USD } };
    const { accountId, apiKey } = await keyOf(await accountFor(100), limits);
    expect(await burst(apiKey)).toEqual({ begun: 20, [SPENT]: BURST - 20 });
    expect(await leftOf(accountId)).toBe(80);
  });

  it('takes no money from another key of the account', async () => {
    const account = await accountFor(30);
    const [limited, other] = [
      await keyOf(account, { requestsPerMinute: 2 }),
      await keyOf(account, { requestsPerMinute: 100 }),
    ];
    const [mine, others] = await Promise.all([
      burst(limited.apiKey, BURST / 2),
      burst(other.apiKey, BURST / 2),
    ]);
    expect((mine['begun'] ?? 0) + (others['begun'] ?? 0)).toBe(30);
    expect(mine['begun'] ?? 0).toBeLessThanOrEqual(2);
    expect(others).not.toHaveProperty([LIMITED]);
    expect(await leftOf(account)).toBe(0);
  });
});
