import { describe, expect, it } from 'vitest';
import { readUsage, usageView } from './usage.js';

const TOTALS = { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 };
const NO_DETAILS = { cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };

describe('readUsage', () => {
  it.each<[string, object, object]>([
    [
      'in the details objects',
      {
        prompt_tokens_details: { cached_tokens: 5, cache_creation_input_tokens: 2 },
        completion_tokens_details: { reasoning_tokens: 3 },
      },
      { cachedTokens: 5, cacheWriteTokens: 2, reasoningTokens: 3 },
    ],
    [
      'beside the totals',
      { cache_read_input_tokens: 5, cache_creation_input_tokens: 2, reasoning_tokens: 3 },
      { cachedTokens: 5, cacheWriteTokens: 2, reasoningTokens: 3 },
    ],
    ['as cache hits', { prompt_cache_hit_tokens: 5 }, { cachedTokens: 5 }],
    [
      'in both places, with zero in the details',
      { prompt_tokens_details: { cached_tokens: 0 }, cached_tokens: 5 },
      { cachedTokens: 5 },
    ],
    ['nowhere', { prompt_tokens_details: null, completion_tokens_details: null }, {}],
    ['as invalid counts', { prompt_tokens_details: { cached_tokens: -1 }, reasoning_tokens: '3' }, {}],
  ])('reads details that are %s', (_, given, expected) => {
    expect(readUsage({ ...TOTALS, ...given })).toEqual({
      promptTokens: 9,
      completionTokens: 4,
      ...NO_DETAILS,
      ...expected,
    });
  });

  it.each([undefined, null, 'x', [], {}])('returns undefined for %j', (value) => {
    expect(readUsage(value)).toBeUndefined();
  });
});

describe('usageView', () => {
  it('calculates the totals itself', () => {
    const usage = { promptTokens: 9, completionTokens: 4, ...NO_DETAILS, reasoningTokens: 1 };
    expect(usageView(usage)).toMatchObject({
      ...TOTALS,
      prompt_tokens_details: { cached_tokens: 0, cache_creation_input_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 1 },
    });
  });
});
