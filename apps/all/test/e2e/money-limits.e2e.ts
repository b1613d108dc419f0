import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Cost, chunksOf, errorOf } from '../answers.js';
import { Platform } from '../platform.js';

const REQUESTS = 500;
const TOKENS = 2_000;

/** 2,000 tokens at 20 USD per million are 0.04 USD, so 500 answers are 20 USD. */
const DEAR = { id: 'dear', pricing: { input: 1, output: 20 }, maxCompletionTokens: TOKENS };

/** What a client saw of a request. */
interface Seen {
  readonly status: number;
  readonly code?: string;
  readonly finishReason?: string | null;
  readonly completionTokens?: number;
  readonly costNano: number;
}

let platform: Platform;

beforeAll(async () => {
  // All refusals are for one key, and what is shown here is money.
  platform = await Platform.start({ models: [DEAR], env: { GATEWAY_FAILURE_BLOCK: 'off' } });
});

afterAll(() => platform.stop());

const nano = (usd: number | string): number => Math.round(Number(usd) * 1e9);

async function ask(apiKey: string, stream: boolean): Promise<Seen> {
  const messages = [{ role: 'user', content: `go [[sim tokens=${TOKENS} itl-ms=2]]` }];
  const response = await platform.chat(apiKey, { model: 'dear', messages, stream });
  const { status } = response;
  if (status !== 200) return { status, code: (await errorOf(response)).code, costNano: 0 };
  if (!stream) {
    const { choices, usage, cost } = (await response.json()) as {
      choices: { finish_reason: string }[];
      usage: { completion_tokens: number };
      cost: Cost;
    };
    const [finishReason, completionTokens] = [choices[0]?.finish_reason, usage.completion_tokens];
    return { status, ...(finishReason && { finishReason }), completionTokens, costNano: nano(cost.usd) };
  }
  const { chunks, done } = await chunksOf(response);
  const last = chunks.at(-1);
  const finishReason = chunks.flatMap(({ choices }) => choices).find((choice) => choice.finish_reason);
  expect(done).toBe(true);
  return {
    status,
    finishReason: finishReason?.finish_reason ?? null,
    completionTokens: last?.usage?.completion_tokens ?? -1,
    costNano: nano(last?.cost?.usd ?? Number.NaN),
  };
}

/** What the ledger charged, request by request. */
async function chargesNano(id: string): Promise<number[]> {
  const { body } = await platform.operator('GET', `/accounts/${id}/transfers?limit=1000`);
  const transfers = body['data'] as { kind: string; amount: string }[];
  return transfers.filter(({ kind }) => kind === 'charge').map(({ amount }) => nano(amount));
}

/** How an answer ended; one that ended by itself, with how many tokens. */
function ending({ status, code, finishReason, completionTokens }: Seen): string {
  if (status !== 200) return `${status} ${String(code)}`;
  return finishReason === 'stop' ? `200 stop ${String(completionTokens)}` : `200 ${String(finishReason)}`;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
const sorted = (numbers: readonly number[]): number[] => numbers.toSorted((a, b) => a - b);

describe.each([
  ['streams', true],
  ['answers that are not streamed', false],
])('an account with 1.00 USD and 500 concurrent %s that would cost 20 USD', (_, stream) => {
  it('is charged all it has and no more, as told to its clients', { timeout: 120_000 }, async () => {
    const { id, apiKey } = await platform.account('1.00');
    const seen = await Promise.all(Array.from({ length: REQUESTS }, () => ask(apiKey, stream)));

    const endings = new Set(seen.map(ending));
    for (const shortened of ['402 INSUFFICIENT_BALANCE', '200 length']) endings.delete(shortened);
    expect([...endings].filter((other) => other !== `200 stop ${TOKENS}`)).toEqual([]);
    // The rest were answered in full, of which there can be 25.
    const whole = seen.filter(({ finishReason }) => finishReason === 'stop').length;
    expect(whole).toBeLessThanOrEqual(25);

    const charges = await chargesNano(id);
    const costs = seen.map(({ costNano }) => costNano).filter((cost) => cost > 0);
    expect(sorted(costs)).toEqual(sorted(charges));
    expect(sum(charges)).toBeLessThanOrEqual(nano(1));
    expect(sum(charges)).toBeGreaterThanOrEqual(nano(0.99));

    const { usd } = await platform.balances(id);
    expect(nano(usd)).toBe(nano(1) - sum(charges));
    expect((await platform.audit()).body).toMatchObject({ ok: true });
    // No hold is left: all that was not charged can be spent.
    const next = await platform.chat(apiKey, { model: 'dear', messages: [{ role: 'user', content: 'hi' }] });
    expect(next.headers.get('x-svc-balance-usd')).toBe(usd);
  });
});
