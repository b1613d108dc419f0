import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readUsage } from './usage-reading.js';

const TOTALS = { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 };
const NO_DETAILS = { cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
const inPrompt = (details: object) => ({ usage: { prompt_tokens_details: details } });

/** What kinds of servers report, apart from the totals, and what it means. */
const REPORTS: readonly (readonly [string, { usage?: object; timings?: object }, object])[] = [
  [
    'OpenAI, SGLang, xAI',
    {
      usage: {
        prompt_tokens_details: { cached_tokens: 5 },
        completion_tokens_details: { reasoning_tokens: 3 },
      },
    },
    { cachedTokens: 5, reasoningTokens: 3 },
  ],
  [
    'vLLM',
    inPrompt({ cached_tokens: 5, created_cache_tokens: 2, multimodal_tokens: null }),
    { cachedTokens: 5, cacheWriteTokens: 2 },
  ],
  [
    'vLLM with nothing cached yet',
    inPrompt({ cached_tokens: 0, created_cache_tokens: 8 }),
    { cacheWriteTokens: 8 },
  ],
  ['llama.cpp', { timings: { cache_n: 5, prompt_n: 4 } }, { cachedTokens: 5 }],
  ['DeepSeek', { usage: { prompt_cache_hit_tokens: 5, prompt_cache_miss_tokens: 4 } }, { cachedTokens: 5 }],
  ['Moonshot', { usage: { cached_tokens: 5 } }, { cachedTokens: 5 }],
  [
    'DashScope',
    inPrompt({ cached_tokens: 5, cache_creation_input_tokens: 2 }),
    { cachedTokens: 5, cacheWriteTokens: 2 },
  ],
  [
    'OpenRouter',
    inPrompt({ cached_tokens: 5, cache_write_tokens: 2 }),
    { cachedTokens: 5, cacheWriteTokens: 2 },
  ],
  [
    'LiteLLM',
    inPrompt({ cached_tokens: 5, cache_creation_tokens: 2 }),
    { cachedTokens: 5, cacheWriteTokens: 2 },
  ],
  [
    "proxies with Anthropic's names",
    { usage: { cache_read_input_tokens: 5, cache_creation_input_tokens: 2, reasoning_tokens: 3 } },
    { cachedTokens: 5, cacheWriteTokens: 2, reasoningTokens: 3 },
  ],
  [
    'a server with two names, one of them zero',
    { usage: { prompt_tokens_details: { cached_tokens: 0 }, cached_tokens: 5 } },
    { cachedTokens: 5 },
  ],
  [
    'a server without details',
    { usage: { prompt_tokens_details: null, completion_tokens_details: null } },
    {},
  ],
  [
    'a server with invalid counts',
    { usage: { prompt_tokens_details: { cached_tokens: -1 }, reasoning_tokens: '3' } },
    {},
  ],
];

describe('readUsage', () => {
  it.each(REPORTS)('reads the details of %s', (_, { usage, ...rest }, expected) => {
    expect(readUsage({ ...rest, usage: { ...TOTALS, ...usage } })).toEqual({
      promptTokens: 9,
      completionTokens: 4,
      ...NO_DETAILS,
      ...expected,
    });
  });

  it.each([undefined, null, 'x', [], {}])('returns undefined for %j', (usage) => {
    expect(readUsage({ usage })).toBeUndefined();
  });
});

describe('a total', () => {
  const read = (
    totals: readonly [prompt: number, completion: number, total: unknown],
    details: object = {},
  ) =>
    readUsage({
      usage: { prompt_tokens: totals[0], completion_tokens: totals[1], total_tokens: totals[2], ...details },
    });
  const reasoning = (reasoning_tokens: number) => ({ completion_tokens_details: { reasoning_tokens } });

  it('above the sum shows that reasoning is not within the output, which it is priced as', () => {
    expect(read([40, 5, 345], reasoning(300))).toMatchObject({
      promptTokens: 40,
      completionTokens: 305,
      reasoningTokens: 300,
    });
    expect(read([40, 400, 740], reasoning(300))).toMatchObject({ completionTokens: 700 });
    // Another count is also missing from the sum, such as that of the prompt of a tool.
    expect(read([40, 5, 360], reasoning(300))).toMatchObject({ completionTokens: 305 });
    expect(read([40, 5, 300], reasoning(300))).toMatchObject({ completionTokens: 260 });
  });

  it('above the sum shows that cached tokens are not within the prompt', () => {
    const cached = { cache_read_input_tokens: 1_000, cache_creation_input_tokens: 50 };
    expect(read([40, 5, 1_095], cached)).toMatchObject({
      promptTokens: 1_090,
      completionTokens: 5,
      cachedTokens: 1_000,
    });
    expect(read([40, 5, 1_395], { ...cached, ...reasoning(300) })).toMatchObject({
      promptTokens: 1_090,
      completionTokens: 305,
    });
    expect(read([40, 305, 1_395], { ...cached, ...reasoning(300) })).toMatchObject({
      promptTokens: 1_090,
      completionTokens: 305,
    });
  });

  it.each<[string, Parameters<typeof read>]>([
    ['equal to the sum', [[40, 305, 345], reasoning(300)]],
    ['below the sum', [[40, 305, 300], reasoning(300)]],
    ['that is missing', [[40, 305, undefined], reasoning(300)]],
    ['that is no count', [[40, 305, '9999'], reasoning(300)]],
    ['above the sum by tokens that nothing explains', [[40, 305, 999_999], {}]],
    ['above the sum by other tokens than the reasoning', [[40, 305, 999_999], reasoning(300)]],
  ])('%s changes nothing', (_, given) => {
    expect(read(...given)).toMatchObject({ promptTokens: 40, completionTokens: 305 });
  });

  it('never adds more than was reported beside it, nor more than itself', () => {
    const tokens = fc.oneof(fc.nat({ max: 20 }), fc.nat());
    const counts = fc.record({
      prompt: tokens,
      completion: tokens,
      total: tokens,
      thought: tokens,
      cached: tokens,
    });
    fc.assert(
      fc.property(counts, ({ prompt, completion, total, thought, cached }) => {
        const details = { ...reasoning(thought), prompt_tokens_details: { cached_tokens: cached } };
        const { promptTokens = 0, completionTokens = 0 } = read([prompt, completion, total], details) ?? {};
        expect(promptTokens - prompt).toBeOneOf([0, cached]);
        expect(completionTokens - completion).toBeGreaterThanOrEqual(0);
        expect(completionTokens - completion).toBeLessThanOrEqual(thought);
        expect(promptTokens + completionTokens).toBeLessThanOrEqual(Math.max(total, prompt + completion));
      }),
    );
  });
});
