import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../response-bodies.js';
import { Platform } from '../platform.js';

let platform: Platform;

beforeAll(async () => {
  platform = await Platform.start({ models: [{ id: 'small', tier: 'S' }] });
});

afterAll(() => platform.stop());

const get = (apiKey: string): Promise<Response> =>
  fetch(`${platform.apiUrl}/api_keys/rate_limits/usage`, { headers: { authorization: `Bearer ${apiKey}` } });

describe('GET /api_keys/rate_limits/usage', () => {
  interface Use {
    readonly type: string;
    readonly amount: number;
    readonly used: number;
    readonly resetsAt: string;
  }
  const usesOf = async (apiKey: string, model: string): Promise<Use[] | undefined> => {
    const { data } = (await (await get(apiKey)).json()) as {
      data: { counted: boolean; models: { apiModelId: string; rateLimits: Use[] }[] };
    };
    expect(data.counted).toBe(true);
    return data.models.find(({ apiModelId }) => apiModelId === model)?.rateLimits;
  };

  it('counts what a key has used, shows the tightest limit, and takes nothing', async () => {
    const leftMs = 60_000 - (Date.now() % 60_000);
    if (leftMs < 15_000) await sleep(leftMs + 50);
    const { id, apiKey: second } = await platform.account('10.00');
    const limited = { apiKeyType: 'INFERENCE', description: '', requestsPerMinute: 5 };
    const { body } = await platform.operator('POST', `/accounts/${id}/api_keys`, limited);
    const apiKey = String(body['apiKey']);
    const models = [{ model: 'small', requestsPerMinute: 7, tokensPerMinute: 9_000 }];
    await platform.operator('PUT', `/accounts/${id}/limits`, { models });
    await eventually('the limits apply', async () =>
      ((await usesOf(apiKey, 'small')) ?? []).some(({ amount }) => amount === 9_000),
    );
    const send = async (key: string): Promise<number> => {
      const response = await platform.chat(key, {
        model: 'small',
        messages: [{ role: 'user', content: 'hi' }],
      });
      await response.text();
      return response.status;
    };
    expect([await send(apiKey), await send(apiKey)]).toEqual([200, 200]);
    await usesOf(apiKey, 'small');
    expect((await usesOf(apiKey, 'small'))?.[0]).toMatchObject({ type: 'RPM', amount: 5, used: 2 });
    for (let time = 0; time < 3; time += 1) expect(await send(second)).toBe(200);
    const [requests, tokens] = (await usesOf(apiKey, 'small')) ?? [];
    // The account has 2 left, the key 3.
    expect(requests).toMatchObject({ type: 'RPM', amount: 7, used: 5 });
    expect(tokens).toMatchObject({ type: 'TPM', amount: 9_000 });
    expect(tokens?.used).toBeGreaterThan(0);
    expect(Date.parse(requests?.resetsAt ?? '') % 60_000).toBe(0);
    expect(await usesOf(apiKey, 'test-model')).toContainEqual(
      expect.objectContaining({ amount: 5, used: 0 }),
    );
  });

  it('requires a key', async () => {
    expect((await fetch(`${platform.apiUrl}/api_keys/rate_limits/usage`)).status).toBe(401);
  });
});
