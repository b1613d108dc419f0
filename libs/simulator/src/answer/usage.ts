import { countReasoning } from './answer.js';
import type { SimulatedAnswer } from './answer.js';
import type { Prompt } from '../request/prompt.js';

/** The effect of the prefix cache on one request, in tokens. */
export interface CacheUse {
  readonly cachedTokens: number;
  readonly writtenTokens: number;
}

/** The `usage` object: `completion_tokens` is the sum of all choices and includes reasoning. */
export function usageOf(prompt: Prompt, answers: readonly SimulatedAnswer[], cache: CacheUse): object {
  const completion = answers.reduce((sum, answer) => sum + answer.steps.length, 0);
  const reasoning = answers.reduce((sum, answer) => sum + countReasoning(answer), 0);
  return {
    prompt_tokens: prompt.tokens,
    completion_tokens: completion,
    total_tokens: prompt.tokens + completion,
    prompt_tokens_details: {
      cached_tokens: cache.cachedTokens,
      ...(prompt.hasCacheControl && { cache_creation_input_tokens: cache.writtenTokens }),
    },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}
