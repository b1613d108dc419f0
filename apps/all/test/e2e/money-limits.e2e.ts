import { isNightly } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Cost, chunksOf, errorOf } from '../response-bodies.js';
import { Platform } from '../platform.js';
import { isClustered } from '../target.js';

/** Clients of one account; CI may have a slow machine for two clusters and their clients. */
const MOST_ON_CLUSTER = isNightly ? 1_000 : 300;
const REQUESTS = isClustered() ? MOST_ON_CLUSTER : 500;
const TOKENS = 2_000;

/**
 * Errors of services and of a simulator that share an overloaded machine with its clients; they are not
 * charged. A stream may have begun before, to keep its connection alive.
 */
const KEPT_WAITING = isClustered()
  ? ['503 UNAVAILABLE', '408 REQUEST_INCOMPLETE', '503 MODEL_OFFLINE', '200 MODEL_OFFLINE']
  : [];

/** 2,000 tokens at 20 USD per million are 0.04 USD, so an account with 1 USD can pay 25 completions. */
const DEAR = { id: 'dear', pricing: { input: 1, output: 20 }, maxCompletionTokens: TOKENS };

/** The client's view of a request. */
interface Seen {
  readonly id: string;
  readonly status: number;
  readonly code?: string;
  readonly finishReason?: string | null;
  readonly completionTokens?: number;
  readonly costNano: number;
}

let platform: Platform;

beforeAll(async () => {
  // All refusals are for one key, and money is their only allowed reason.
  const env = { GATEWAY_ACCOUNT_CONCURRENCY: '0' };
  platform = await Platform.start({ models: [DEAR], env });
});

afterAll(() => platform.stop());

const nano = (usd: number | string): number => Math.round(Number(usd) * 1e9);

async function ask(apiKey: string, stream: boolean, to: string): Promise<Seen> {
  const messages = [{ role: 'user', content: `go [[sim tokens=${TOKENS} itl-ms=2]]` }];
  const response = await platform.chat(apiKey, { model: 'dear', messages, stream }, { to });
  const { status } = response;
  const id = response.headers.get('x-request-id') ?? '';
  if (status !== 200) return { id, status, code: (await errorOf(response)).code, costNano: 0 };
  if (!stream) {
    const { choices, usage, cost } = (await response.json()) as {
      choices: { finish_reason: string }[];
      usage: { completion_tokens: number };
      cost: Cost;
    };
    const [finishReason, completionTokens] = [choices[0]?.finish_reason, usage.completion_tokens];
    return { id, status, ...(finishReason && { finishReason }), completionTokens, costNano: nano(cost.usd) };
  }
  const { chunks, done } = await chunksOf(response);
  const last = chunks.at(-1);
  if (last?.error) return { id, status, code: last.error.code, costNano: 0 };
  const finishReason = chunks.flatMap(({ choices }) => choices).find((choice) => choice.finish_reason);
  expect(done).toBe(true);
  return {
    id,
    status,
    finishReason: finishReason?.finish_reason ?? null,
    completionTokens: last?.usage?.completion_tokens ?? -1,
    costNano: nano(last?.cost?.usd ?? Number.NaN),
  };
}

/** The charges in the ledger, by request. */
async function chargesNano(id: string): Promise<Map<string, number>> {
  const { body } = await platform.operator('GET', `/accounts/${id}/transfers?limit=1000`);
  const transfers = body['data'] as { kind: string; amount: string; reference: string }[];
  const charges = transfers.filter(({ kind }) => kind === 'charge');
  return new Map(charges.map(({ reference, amount }) => [reference, nano(amount)]));
}

/** How a completion ended; if by itself, with its number of tokens. */
function ending({ status, code, finishReason, completionTokens }: Seen): string {
  if (status !== 200 || code !== undefined) return `${status} ${String(code)}`;
  return finishReason === 'stop' ? `200 stop ${String(completionTokens)}` : `200 ${String(finishReason)}`;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

describe.each([
  ['streams', true],
  ['completions that are not streamed', false],
])('an account with 1.00 USD and far more concurrent %s than it can pay for', (_, stream) => {
  it('is charged all it has and no more, as reported to its clients', { timeout: 240_000 }, async () => {
    const { id, apiKey } = await platform.account('1.00');
    const { gatewayUrls } = platform;
    const gateways = Array.from({ length: REQUESTS }, (_each, at) => gatewayUrls[at % gatewayUrls.length]);
    const seen = await Promise.all(gateways.map((to = platform.apiUrl) => ask(apiKey, stream, to)));

    const endings = new Set(seen.map(ending));
    for (const other of ['402 INSUFFICIENT_BALANCE', '200 length', ...KEPT_WAITING]) endings.delete(other);
    expect([...endings].filter((other) => other !== `200 stop ${TOKENS}`)).toEqual([]);
    // The rest ended by themselves, of which there can be 25.
    const whole = seen.filter(({ finishReason }) => finishReason === 'stop').length;
    expect(whole).toBeLessThanOrEqual(25);

    const charges = await chargesNano(id);
    const costs = seen.filter(({ costNano }) => costNano > 0).map((one) => [one.id, one.costNano] as const);
    expect(new Map(costs)).toEqual(charges);
    const chargedNano = sum([...charges.values()]);
    expect(chargedNano).toBeLessThanOrEqual(nano(1));
    expect(chargedNano).toBeGreaterThanOrEqual(nano(0.99));

    const { usd } = await platform.balances(id);
    expect(nano(usd)).toBe(nano(1) - chargedNano);
    expect((await platform.audit()).body).toMatchObject({ ok: true });
    // No hold is left: all money that was not charged can be spent.
    const next = await platform.chat(apiKey, { model: 'dear', messages: [{ role: 'user', content: 'hi' }] });
    expect(next.headers.get('x-svc-balance-usd')).toBe(usd);
  });
});
