import { countReasoning } from './compose-completion.js';
import type { SimulatedCompletion } from './compose-completion.js';
import type { Prompt } from '../request/prompt.js';

/** The effect of the prefix cache on one request, in tokens. */
export interface CacheUse {
  readonly cachedTokens: number;
  readonly writtenTokens: number;
}

/** The `usage` object: `completion_tokens` is the sum of all choices and includes reasoning. */
export function usageOf(prompt: Prompt, responses: readonly SimulatedCompletion[], cache: CacheUse): object {
  const completion = responses.reduce((sum, response) => sum + response.steps.length, 0);
  const reasoning = responses.reduce((sum, response) => sum + countReasoning(response), 0);
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
