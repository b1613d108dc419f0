import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Simulator, startSimulator } from '@svc/simulator';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorOf, eventually } from '../response-bodies.js';
import { untilOneWindow, withinOneMinute } from '../minutes.js';
import { Platform } from '../platform.js';

const hello = (model: string, more: object = {}) => ({
  model,
  messages: [{ role: 'user', content: 'hi' }],
  ...more,
});

let platform: Platform;
/** A model server with two slots for each router. */
let narrow: Simulator;

beforeAll(async () => {
  narrow = await startSimulator({ port: 0 });
  platform = await Platform.start({
    models: [
      { id: 'small', tier: 'S' },
      { id: 'shared', globalLimits: { requestsPerMinute: 2 } },
      { id: 'gone', backends: [{ url: 'http://127.0.0.1:9/v1', model: 'x' }] },
      { id: 'wide', backends: [{ url: `${narrow.url}/v1`, model: 'wide', maxInFlight: 32 }] },
      { id: 'narrow', backends: [{ url: `${narrow.url}/v1`, model: 'test-model', maxInFlight: 2 }] },
      {
        id: 'vectors',
        name: 'vectors',
        type: 'embedding',
        tier: 'XS',
        embeddingDimensions: 8,
        pricing: { input: 1 },
      },
    ],
  });
});

afterAll(async () => {
  await platform.stop();
  await narrow.close();
});

const get = (apiKey: string, path: string): Promise<Response> =>
  fetch(`${platform.apiUrl}${path}`, { headers: { authorization: `Bearer ${apiKey}` } });

interface Limited {
  readonly apiKey: string;
  readonly id: string;
  readonly keyId: string;
}

async function keyWith(limits: object, account: object = {}): Promise<Limited> {
  const { body } = await platform.operator('POST', '/accounts', { name: 'limited', ...account });
  const id = String(body['id']);
  await platform.operator('POST', `/accounts/${id}/credits`, { usd: '10.00', reference: 'start' });
  const key = await platform.operator('POST', `/accounts/${id}/api_keys`, {
    apiKeyType: 'INFERENCE',
    description: '',
    ...limits,
  });
  return { apiKey: String(key.body['apiKey']), id, keyId: String(key.body['id']) };
}

/** Runs two busy processes until the returned function is called, or for 60 s. */
function keepProcessorsBusy(): () => void {
  const program = 'const endMs = Date.now() + 60_000; while (Date.now() < endMs);';
  const burners = [1, 2].map(() => spawn(process.execPath, ['-e', program], { stdio: 'ignore' }));
  return () => {
    for (const burner of burners) burner.kill('SIGKILL');
  };
}

describe('a model whose backends are full', () => {
  it('serves every request of an account with few requests, while another one sends as many as it can', async () => {
    const [flood, other] = await Promise.all([keyWith({}), keyWith({})]);
    const request = {
      ...hello('narrow'),
      messages: [{ role: 'user', content: '[[sim tokens=10 itl-ms=20]]' }],
    };
    const over = new AbortController();
    const loops = Array.from({ length: 40 }, async () => {
      while (!over.signal.aborted) {
        const response = await platform.chat(flood.apiKey, request);
        await response.text();
        await sleep(200);
      }
    });
    const statuses: number[] = [];
    for (let time = 0; time < 12; time += 1) {
      const response = await platform.chat(other.apiKey, request);
      await response.text();
      statuses.push(response.status);
    }
    over.abort();
    await Promise.all(loops);
    expect(statuses).toEqual(Array(12).fill(200));
  });

  it('serves every request of an account without running calls, while four others hold all the slow streams that they get', async () => {
    const hogs = await Promise.all(Array.from({ length: 4 }, () => keyWith({})));
    const other = await keyWith({});
    const slow = { messages: [{ role: 'user', content: '[[sim tokens=1000 itl-ms=500]]' }], stream: true };
    const over = new AbortController();
    const streams = hogs.flatMap(({ apiKey }) =>
      Array.from({ length: 8 }, () =>
        platform.chat(apiKey, { ...hello('wide'), ...slow }, { signal: over.signal }).catch(() => undefined),
      ),
    );
    await eventually('most slots are taken', () => narrow.stats().inFlight >= 28);
    const statuses: number[] = [];
    for (let time = 0; time < 8; time += 1) {
      const response = await platform.chat(other.apiKey, hello('wide'));
      await response.text();
      statuses.push(response.status);
    }
    over.abort();
    await Promise.all(streams);
    expect(statuses).toEqual(Array(8).fill(200));
  });
});

describe('GET /api_keys/rate_limits', () => {
  it('returns the limits and balances of the key', async () => {
    const { apiKey, id } = await keyWith({}, { paid: true });
    await platform.operator('PUT', `/accounts/${id}/limits`, {
      models: [{ model: 'small', requestsPerMinute: 7 }],
    });
    const response = await get(apiKey, '/api_keys/rate_limits');
    expect(response.status).toBe(200);
    expect(response.headers.get('x-svc-balance-usd')).toBe('10.00');
    const { data } = (await response.json()) as { data: Record<string, unknown> };
    expect(data).toMatchObject({
      accessPermitted: true,
      apiTier: { id: 'paid', isCharged: true },
      balances: { USD: 10, DIEM: 0 },
      keyExpiration: null,
    });
    expect(data['nextEpochBegins']).toMatch(/T00:00:00\.000Z$/);
    expect(data['rateLimits']).toContainEqual({
      apiModelId: 'small',
      rateLimits: [
        { amount: 7, type: 'RPM' },
        { amount: 10_000, type: 'TPM' },
      ],
    });
  });

  it("returns the key's own limits if they are lower, and its balances within its spending limits", async () => {
    const { apiKey } = await keyWith({ requestsPerMinute: 5, consumptionLimit: { usd: 2.5 } });
    const { data } = (await (await get(apiKey, '/api_keys/rate_limits')).json()) as {
      data: { balances: object; rateLimits: { apiModelId: string; rateLimits: object[] }[] };
    };
    expect(data.balances).toEqual({ USD: 2.5, DIEM: 0 });
    expect(data.rateLimits.find(({ apiModelId }) => apiModelId === 'test-model')?.rateLimits[0]).toEqual({
      amount: 5,
      type: 'RPM',
    });
  });

  it('returns the limits of an embedding model, which has no token limit unless the operator sets one', async () => {
    const limitsOf = async (apiKey: string): Promise<object[] | undefined> => {
      const response = await get(apiKey, '/api_keys/rate_limits');
      const { data } = (await response.json()) as {
        data: { rateLimits: { apiModelId: string; rateLimits: object[] }[] };
      };
      return data.rateLimits.find(({ apiModelId }) => apiModelId === 'vectors')?.rateLimits;
    };
    const { apiKey, id } = await keyWith({});
    expect(await limitsOf(apiKey)).toEqual([]);
    const models = [{ model: 'vectors', requestsPerMinute: 7, tokensPerMinute: 900 }];
    await platform.operator('PUT', `/accounts/${id}/limits`, { models });
    await eventually('the limits apply', async () => ((await limitsOf(apiKey)) ?? []).length > 0);
    expect(await limitsOf(apiKey)).toEqual([
      { amount: 7, type: 'RPM' },
      { amount: 900, type: 'TPM' },
    ]);
    const own = await keyWith({ requestsPerMinute: 5 });
    expect(await limitsOf(own.apiKey)).toEqual([{ amount: 5, type: 'RPM' }]);
  });

  it('requires a key', async () => {
    expect((await fetch(`${platform.apiUrl}/api_keys/rate_limits`)).status).toBe(401);
    expect((await fetch(`${platform.apiUrl}/api_keys/rate_limit_logs`)).status).toBe(401);
  });
});

describe('a limit', () => {
  it('of a key refuses further requests, is reported in every header, and is logged, newest first', async () => {
    await withinOneMinute();
    const { apiKey, keyId } = await keyWith({ requestsPerMinute: 3 });
    const responses = await Promise.all(
      Array.from({ length: 8 }, () => platform.chat(apiKey, hello('test-model'))),
    );
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(3);
    const refused = responses.find(({ status }) => status === 429);
    expect(Object.fromEntries(refused?.headers ?? [])).toMatchObject({
      'x-ratelimit-type': 'api_key',
      'x-ratelimit-limit-requests': '3',
      'x-ratelimit-remaining-requests': '0',
      'x-svc-balance-diem': '0.00',
    });
    const reset = Number(refused?.headers.get('x-ratelimit-reset-requests'));
    expect(reset % 60).toBe(0);
    expect(reset * 1_000).toBeGreaterThan(Date.now() - 60_000);
    const seconds = Number(refused?.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(0);
    expect((await errorOf(refused as Response)).error.message).toBe(
      `Rate limit exceeded: 3 requests per minute for this API key, for test-model. Try again in ${seconds} s.`,
    );
    for (const path of ['/api_keys/rate_limit_logs', '/api_keys/rate_limits/log']) {
      const logged = async (): Promise<{ timestamp: string }[]> =>
        ((await (await get(apiKey, path)).json()) as { data: { timestamp: string }[] }).data;
      // Each limiter writes it on its own, after the responses.
      await expect.poll(logged).toHaveLength(5);
      const log = { data: await logged() };
      expect(log.data[0]).toMatchObject({
        apiKeyId: keyId,
        modelId: 'test-model',
        rateLimitTier: 'free',
        rateLimitType: 'RPM',
      });
      const times = log.data.map(({ timestamp }) => timestamp);
      expect(times).toEqual(times.toSorted().toReversed());
    }
  });

  it('of 50 a minute admits exactly 50 of 300 concurrent requests over all gateways, on busy processors', async () => {
    const idle = keepProcessorsBusy();
    try {
      const responses = await untilOneWindow(async () => {
        await withinOneMinute();
        const { apiKey } = await keyWith({ requestsPerMinute: 50 });
        const { gatewayUrls } = platform;
        return Promise.all(
          Array.from({ length: 300 }, (_each, at) =>
            platform.chat(apiKey, hello('test-model'), {
              to: gatewayUrls[at % gatewayUrls.length] as string,
            }),
          ),
        );
      });
      const count = (wanted: number): number => responses.filter(({ status }) => status === wanted).length;
      expect([count(200), count(429)]).toEqual([50, 250]);
    } finally {
      idle();
    }
  });

  it('of the whole service applies across accounts', async () => {
    await withinOneMinute();
    const keys = await Promise.all([1, 2, 3, 4].map(() => keyWith({})));
    const responses = await Promise.all(keys.map(({ apiKey }) => platform.chat(apiKey, hello('shared'))));
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(2);
    const refused = responses.find(({ status }) => status === 429);
    expect(refused?.headers.get('x-ratelimit-type')).toBe('global');
    expect((await errorOf(refused as Response)).error.message).toMatch(
      /^Rate limit exceeded: 2 requests per minute .+, for shared\. Try again in \d+ s\.$/,
    );
  });

  it('of an account can be set by the operator and takes effect without a restart', async () => {
    await withinOneMinute();
    const { apiKey, id } = await keyWith({});
    expect((await platform.chat(apiKey, hello('test-model'))).status).toBe(200);
    const set = await platform.operator('PUT', `/accounts/${id}/limits`, {
      models: [{ model: '*', requestsPerMinute: 1 }],
    });
    expect(set.status).toBe(200);
    await eventually(
      'the limit applies',
      async () => (await platform.chat(apiKey, hello('test-model'))).status === 429,
    );
    expect((await platform.operator('GET', `/accounts/${id}/limits`)).body).toEqual(set.body);
  });

  it('of concurrent requests is released when they end, however they end', async () => {
    const { apiKey, id } = await keyWith({});
    await platform.operator('PUT', `/accounts/${id}/limits`, { concurrentRequests: 2 });
    const slow = { ...hello('test-model', { stream: true }) };
    slow.messages = [{ role: 'user', content: '[[sim tokens=4000 itl-ms=20]]' }];
    const gone = new AbortController();
    const first = await platform.chat(apiKey, slow, { signal: gone.signal });
    const second = await platform.chat(apiKey, slow, { signal: gone.signal });
    expect([first.status, second.status]).toEqual([200, 200]);
    const third = await platform.chat(apiKey, hello('test-model'));
    expect(third.status).toBe(429);
    expect(Number(third.headers.get('retry-after'))).toBeGreaterThan(0);
    gone.abort();
    await eventually(
      'the requests are released',
      async () => (await platform.chat(apiKey, hello('test-model'))).status === 200,
    );
  });

  it('of concurrent requests is 64 for an account without its own limit', async () => {
    const { apiKey, id } = await keyWith({});
    const slow = hello('test-model', { stream: true });
    slow.messages = [{ role: 'user', content: '[[sim tokens=4000 itl-ms=1000]]' }];
    const gone = new AbortController();
    const send = (): Promise<Response> => platform.chat(apiKey, slow, { signal: gone.signal });
    const responses = await Promise.all(Array.from({ length: 70 }, send));
    const counts = Object.groupBy(responses, ({ status }) => status);
    expect([counts[200]?.length, counts[429]?.length]).toEqual([64, 6]);
    const refused = responses.find(({ status }) => status === 429);
    expect((await errorOf(refused as Response)).error.message).toBe('Too many concurrent requests');
    const ends = { count: 0 };
    const noteEnd = (): void => {
      ends.count += 1;
    };
    const admitted = responses.filter(({ status }) => status === 200);
    for (const response of admitted) response.text().then(noteEnd, noteEnd);
    await platform.operator('PUT', `/accounts/${id}/limits`, { concurrentRequests: 65 });
    await eventually('the higher limit applies', async () => (await send()).status === 200);
    const { status } = await send();
    expect({ status, ended: ends.count }).toEqual({ status: 429, ended: 0 });
    gone.abort();
  });

  it('of requests does not count requests that this service could not serve', async () => {
    await withinOneMinute();
    const { apiKey } = await keyWith({ requestsPerMinute: 2 });
    for (const stream of [true, false, true, false]) {
      const response = await platform.chat(apiKey, hello('gone', { stream }));
      expect(response.status).toBe(503);
      expect(response.headers.get('x-ratelimit-remaining-requests')).toBe('2');
      expect(response.headers.get('x-ratelimit-remaining-tokens')).toBe(
        response.headers.get('x-ratelimit-limit-tokens'),
      );
    }
  });

  it('that a request can never satisfy is reported at once', async () => {
    const { apiKey } = await keyWith({ tokensPerMinute: 100 });
    const response = await platform.chat(apiKey, hello('test-model', { max_tokens: 4_000 }));
    expect(response.status).toBe(400);
    const { error, code } = await errorOf(response);
    expect(code).toBe('TOO_MANY_TOKENS_PER_MINUTE');
    // Clients shorten a conversation that is too long for the model, but this one is not.
    expect(error.code).toBe(code);
    expect(error.message).toContain('100 tokens per minute');
  });

  it('of tokens counts the used tokens, also of streams, once the responses have ended', async () => {
    await withinOneMinute();
    const { apiKey } = await keyWith({ tokensPerMinute: 2_000 });
    const ask = async (stream: boolean): Promise<number> => {
      const response = await platform.chat(apiKey, {
        ...hello('test-model', { stream, max_tokens: 500 }),
        messages: [{ role: 'user', content: '[[sim tokens=5]]' }],
      });
      await response.text();
      return response.status;
    };
    for (let count = 0; count < 20; count += 1) expect(await ask(count % 2 === 0)).toBe(200);
  });
});
