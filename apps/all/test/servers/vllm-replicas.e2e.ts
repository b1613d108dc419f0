import { parseUsd } from '@svc/contracts/money';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OPERATOR_TOKEN, Platform, type TestAccount } from '../platform.js';
import { REQUEST_MS, START_MS, TinyServers, openServers } from './tiny-servers.js';

const MODEL = 'two-replicas';
const CONTEXT_TOKENS = 2_048;
const TURNS = 5;
const CONVERSATIONS = 8;
/** In nano-dollars for each token. */
const PRICES = { fresh: 1_000n, cached: 100n, output: 2_000n };

const python = await openServers();

/** Prompt tokens that were looked for in a cache of prefixes, and those that were found there. */
interface CacheCounts {
  readonly all: number;
  readonly cached: number;
}

/** What the clients saw of some turns. */
interface Seen extends CacheCounts {
  readonly output: number;
  /** The backends of each conversation's turns, in order. */
  readonly places: readonly (readonly (string | null)[])[];
}

interface Completion {
  readonly choices: readonly { readonly message: { readonly content: string } }[];
  readonly usage: {
    readonly prompt_tokens: number;
    readonly completion_tokens: number;
    readonly prompt_tokens_details?: { readonly cached_tokens?: number } | null;
  };
}

/** The sum of the samples of a metric whose labels match. */
function sampled(text: string, name: string, labels = ''): number {
  const lines = text.matchAll(new RegExp(`^${name}(\\{.*\\})? (\\S+)`, 'gm'));
  let sum = 0;
  for (const [, of = '', value] of lines) if (of.includes(labels)) sum += Number(value);
  return sum;
}

describe.skipIf(!python)('two replicas of vLLM with caches of prefixes', { timeout: REQUEST_MS }, () => {
  let servers: TinyServers;
  let urls: readonly string[] = [];
  let platform: Platform;
  let account: TestAccount;

  beforeAll(async () => {
    servers = await TinyServers.begin(python);
    const start = (): Promise<string> =>
      servers.serve(
        'vllm',
        ['serve', servers.chat, '--served-model-name', 'chat'],
        `--enforce-eager --max-model-len ${CONTEXT_TOKENS} --dtype bfloat16 --max-num-seqs 4 --enable-prefix-caching --enable-prompt-tokens-details`,
      );
    urls = [await start(), await start()];
    const backends = urls.map((url, at) => ({
      url,
      model: 'chat',
      name: `replica-${at}`,
      loadPath: '/metrics',
    }));
    const pricing = { input: 1, cacheInput: 0.1, output: 2 };
    const limits = { contextTokens: CONTEXT_TOKENS, maxCompletionTokens: CONTEXT_TOKENS };
    platform = await Platform.start({ models: [{ id: MODEL, pricing, ...limits, backends }] });
    account = await platform.account('10.00');
  }, 3 * START_MS);

  afterAll(async () => {
    await platform?.stop();
    await servers?.stop();
  });

  /** What the servers have counted since they began. */
  async function countedByServers(): Promise<CacheCounts> {
    const sum = { all: 0, cached: 0 };
    for (const url of urls) {
      const text = await (await fetch(new URL('/metrics', url))).text();
      sum.all += sampled(text, 'vllm:prefix_cache_queries_total');
      sum.cached += sampled(text, 'vllm:prefix_cache_hits_total');
    }
    return sum;
  }

  /** What the router has counted for the model, and its choices of a replica without any of the prompt. */
  async function countedByRouter(): Promise<CacheCounts & { readonly unknown: number }> {
    const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` };
    const text = await (await fetch(new URL('/metrics', platform.operatorUrl), { headers })).text();
    const tokens = text
      .split('\n')
      .filter((line) => line.includes(`gen_ai_request_model="${MODEL}"`))
      .join('\n');
    const name = 'svc_router_prompt_tokens_total';
    const choices = 'svc_router_choices_total';
    return {
      all: sampled(tokens, name),
      cached: sampled(tokens, name, 'svc_router_cache="cached"'),
      unknown: sampled(tokens, choices) - sampled(tokens, choices, 'svc_router_reason="prefix"'),
    };
  }

  const spentNano = async (): Promise<bigint> =>
    10_000_000_000n - (parseUsd((await platform.balances(account.id)).usd) ?? 0n);

  /** Turns of a conversation that begins as no other one does. */
  async function converse(name: string): Promise<Seen> {
    const messages: object[] = [
      { role: 'system', content: `${name} answers questions about a document. `.repeat(16).slice(0, 900) },
    ];
    const places: (string | null)[] = [];
    const sum = { all: 0, cached: 0, output: 0 };
    for (let turn = 1; turn <= TURNS; turn += 1) {
      messages.push({ role: 'user', content: `Question ${turn} of ${name}?` });
      const response = await platform.chat(account.apiKey, {
        model: MODEL,
        messages,
        max_tokens: 8,
        temperature: 0,
        seed: 1,
      });
      expect(response.status).toBe(200);
      places.push(response.headers.get('x-svc-model-router'));
      const { choices, usage } = (await response.json()) as Completion;
      sum.all += usage.prompt_tokens;
      sum.cached += usage.prompt_tokens_details?.cached_tokens ?? 0;
      sum.output += usage.completion_tokens;
      messages.push({ role: 'assistant', content: choices[0]?.message.content });
    }
    return { ...sum, places: [places] };
  }

  const together = (all: readonly Seen[]): Seen => ({
    all: all.reduce((sum, one) => sum + one.all, 0),
    cached: all.reduce((sum, one) => sum + one.cached, 0),
    output: all.reduce((sum, one) => sum + one.output, 0),
    places: all.flatMap(({ places }) => places),
  });

  /** The same counts by the servers, the router, the responses and the charges. */
  async function compared(work: () => Promise<Seen>): Promise<{ seen: Seen; unknown: number }> {
    const before = [await countedByServers(), await countedByRouter()] as const;
    const spent = await spentNano();
    const seen = await work();
    const { all, cached, output } = seen;
    await expect
      .poll(async () => (await spentNano()) - spent)
      .toBe(
        BigInt(all - cached) * PRICES.fresh + BigInt(cached) * PRICES.cached + BigInt(output) * PRICES.output,
      );
    const [theirs, ours] = [await countedByServers(), await countedByRouter()];
    const since = (now: CacheCounts, then: CacheCounts): CacheCounts => ({
      all: now.all - then.all,
      cached: now.cached - then.cached,
    });
    expect(since(theirs, before[0])).toEqual({ all, cached });
    expect(since(ours, before[1])).toEqual({ all, cached });
    process.stdout.write(`${cached} of ${all} prompt tokens were cached, by all counts\n`);
    return { seen, unknown: ours.unknown - before[1].unknown };
  }

  it('one after the other, conversations stay where they began, and all counts of cached tokens agree', async () => {
    const { seen, unknown } = await compared(async () => {
      const all: Seen[] = [];
      for (let at = 0; at < CONVERSATIONS; at += 1) all.push(await converse(`Reader ${at}`));
      return together(all);
    });
    const places = seen.places.map((turns) => new Set(turns));
    expect(places.filter(({ size }) => size > 1)).toEqual([]);
    expect(unknown).toBe(CONVERSATIONS);
    expect(new Set(seen.places.flat())).toEqual(new Set(['replica-0', 'replica-1']));
    // Most of each prompt but the first was in the cache.
    expect(seen.cached).toBeGreaterThan(seen.all * 0.5);
  });

  it('at the same time, each is called for its prefix unless it was moved, and all counts agree', async () => {
    const { seen, unknown } = await compared(async () =>
      together(await Promise.all(Array.from({ length: CONVERSATIONS }, (_, at) => converse(`Writer ${at}`)))),
    );
    // Each conversation has been chosen for its prefix, except where it began and where it was moved.
    const firsts = seen.places.reduce((sum, turns) => sum + new Set(turns).size, 0);
    expect(unknown).toBe(firsts);
    const moved = firsts - CONVERSATIONS;
    process.stdout.write(`${moved} of ${CONVERSATIONS} conversations were moved\n`);
    expect(seen.cached).toBeGreaterThan(seen.all * 0.5);
  });

  it('leaves correct books', async () => {
    expect((await platform.audit()).body).toMatchObject({ ok: true });
  });
});
