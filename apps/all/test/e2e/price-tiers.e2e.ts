import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FallbackBackend } from '../fallback-backend.js';
import { Platform } from '../platform.js';
import { errorOf, eventually } from '../response-bodies.js';

let platform: Platform;
let backend: FallbackBackend;

beforeAll(async () => {
  backend = await FallbackBackend.start();
  const backends = [{ url: backend.url, model: 'm' }];
  const pricing = { input: 0.15, output: 0.6, cacheInput: 0.075 };
  const serviceTiers = { flex: { priceFactor: 0.333 }, priority: { priceFactor: 2.5 } };
  platform = await Platform.start({
    models: [
      { id: 'tiered', pricing, backends, serviceTiers },
      { id: 'plain', pricing, backends },
    ],
  });
});
afterAll(async () => {
  await platform.stop();
  await backend.close();
});

/** 10 tokens of input and 4 of output, each line rounded up to a nano-dollar. */
const costOf = (factor: number): number =>
  (Math.ceil(10 * 150 * factor - 1e-9) + Math.ceil(4 * 600 * factor - 1e-9)) / 1e9;

const PATHS = {
  '/chat/completions': { messages: [{ role: 'user', content: 'hi' }] },
  '/completions': { prompt: 'hi' },
  '/responses': { input: 'hi' },
} as const;

interface Tiered {
  readonly service_tier?: string;
  readonly cost?: { readonly usd: number };
  readonly response?: Tiered;
}

/** The documents of a response: its events, or the only one. */
async function documentsOf(path: keyof typeof PATHS, body: object, apiKey: string): Promise<Tiered[]> {
  const response = await fetch(platform.apiUrl + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...PATHS[path], ...body }),
  });
  const text = await response.text();
  const events = [...text.matchAll(/^data: (\{.*\})$/gm)].map(([, event]) => String(event));
  return (events.length > 0 ? events : [text]).map((each) => JSON.parse(each) as Tiered);
}

const tierIn = ({ response, service_tier: tier }: Tiered): string | undefined =>
  response ? response.service_tier : tier;

const CASES = (
  [
    ['tiered', 'flex', 'flex', 0.333],
    ['tiered', 'priority', 'priority', 2.5],
    ['tiered', 'auto', 'default', 1],
    ['tiered', 'default', 'default', 1],
    ['plain', 'flex', 'default', 1],
    ['plain', 'priority', 'default', 1],
  ] as const
).flatMap(([model, wanted, tier, factor]) =>
  (Object.keys(PATHS) as (keyof typeof PATHS)[]).flatMap((path) =>
    [false, true].map((stream) => ({ path, stream, model, wanted, tier, factor })),
  ),
);

describe('a request for a tier of service', () => {
  it.each(CASES)(
    'is served and charged in $tier: $path, stream $stream, $model, $wanted',
    async ({ path, stream, model, wanted, tier, factor }) => {
      const { id, apiKey } = await platform.account('1.00');
      const documents = await documentsOf(path, { model, stream, service_tier: wanted }, apiKey);
      const named = new Set(documents.map(tierIn).filter((each) => each !== undefined));
      expect(named).toEqual(new Set([tier]));
      const last = documents.at(-1);
      expect((last?.response ?? last)?.cost).toEqual({ usd: costOf(factor), diem: 0 });
      expect(Number((await platform.balances(id)).usd)).toBe(Number((1 - costOf(factor)).toFixed(9)));
      expect(backend.received.at(-1)).not.toHaveProperty('service_tier');
    },
  );

  it('is refused if there is no such tier, naming the field', async () => {
    const { apiKey } = await platform.account('1.00');
    for (const [path, body] of Object.entries(PATHS)) {
      const response = await fetch(platform.apiUrl + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ ...body, model: 'tiered', service_tier: 'gold' }),
      });
      expect([response.status, (await errorOf(response)).error.param]).toEqual([400, 'service_tier']);
    }
  });

  it('has a response that names no tier if the request names none', async () => {
    const { apiKey } = await platform.account('1.00');
    const [only] = await documentsOf('/chat/completions', { model: 'tiered' }, apiKey);
    expect(only).not.toHaveProperty('service_tier');
  });
});

describe('the tiers of a model', () => {
  it('are listed with their prices', async () => {
    const { data } = (await (await fetch(`${platform.apiUrl}/models`)).json()) as {
      data: { id: string; model_spec: { pricing: object } }[];
    };
    const price = (usd: number) => ({ usd, diem: usd });
    expect(data.find(({ id }) => id === 'tiered')?.model_spec.pricing).toMatchObject({
      input: price(0.15),
      service_tiers: {
        flex: { input: price(0.04995), output: price(0.1998), cache_input: price(0.024975) },
        priority: { input: price(0.375), output: price(1.5), cache_input: price(0.1875) },
      },
    });
    expect(data.find(({ id }) => id === 'plain')?.model_spec.pricing).not.toHaveProperty('service_tiers');
  });

  it('are shown in the entries of usage, and are one model in its sums', async () => {
    const { apiKey } = await platform.account('1.00');
    for (const tier of ['flex', 'priority', 'default'])
      await documentsOf('/chat/completions', { model: 'tiered', service_tier: tier }, apiKey);
    const read = async (path: string): Promise<unknown> => {
      const response = await fetch(platform.apiUrl + path, {
        headers: { authorization: `Bearer ${apiKey}` },
      });
      return ((await response.json()) as { data: unknown }).data;
    };
    const output = 'tiered-llm-output-mtoken';
    await eventually('all is posted', async () => ((await read('/billing/usage')) as unknown[]).length === 6);
    const entries = (await read('/billing/usage')) as {
      sku: string;
      pricePerUnitUsd: number;
      inferenceDetails: { serviceTier?: string };
    }[];
    const shown = entries
      .filter(({ sku }) => sku.includes('output'))
      .map(({ sku, pricePerUnitUsd, inferenceDetails }) => [
        sku,
        pricePerUnitUsd,
        inferenceDetails.serviceTier,
      ]);
    expect(shown.toSorted(([a], [b]) => String(a).localeCompare(String(b)))).toEqual([
      ['tiered-llm-flex-output-mtoken', 0.1998, 'flex'],
      [output, 0.6, undefined],
      ['tiered-llm-priority-output-mtoken', 1.5, 'priority'],
    ]);
    const [day] = (await read('/billing/usage-analytics/daily')) as {
      inputTokens: number;
      outputTokens: number;
    }[];
    expect(day).toMatchObject({ modelName: 'tiered', inputTokens: 30, outputTokens: 12 });
  });
});

describe('a message', () => {
  it.each(['auto', 'standard_only'])('is served in the standard tier: %s', async (tier) => {
    const { apiKey } = await platform.account('1.00');
    const response = await fetch(`${platform.apiUrl}/messages`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        ...PATHS['/chat/completions'],
        model: 'tiered',
        max_tokens: 8,
        service_tier: tier,
      }),
    });
    const { usage } = (await response.json()) as { usage: object };
    expect(usage).toMatchObject({ service_tier: 'standard' });
  });
});
