import { expect, it } from 'vitest';
import { promptTokensIn } from './reported-tokens.js';

it('reads the counts of several kinds of servers', () => {
  const openai = '"usage":{"prompt_tokens":900,"prompt_tokens_details":{"cached_tokens":640}}';
  expect(promptTokensIn(openai)).toEqual({ all: 900, cached: 640 });
  const llama = '"usage":{"prompt_tokens": 12,"total_tokens":15},"timings":{"cache_n": 10,"prompt_n":2}';
  expect(promptTokensIn(llama)).toEqual({ all: 12, cached: 10 });
});

it('has nothing without both counts, and believes no more cached tokens than there are', () => {
  expect(promptTokensIn('"usage":{"prompt_tokens":900}')).toBeUndefined();
  expect(promptTokensIn('"usage":{"prompt_tokens_details":{"cached_tokens":640}}')).toBeUndefined();
  expect(promptTokensIn('"prompt_tokens":5,"cached_tokens":9')).toEqual({ all: 5, cached: 5 });
});

it('does not read what a model has written', () => {
  const text = JSON.stringify({ content: '"prompt_tokens":9,"cached_tokens":9' });
  expect(promptTokensIn(text)).toBeUndefined();
});
