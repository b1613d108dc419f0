import type { Usage } from '@svc/contracts/messages';
import { type Fields, type ReportedUsage, isFields } from '@svc/contracts/inference';

/** Counts that servers report under different names. */
type Detail = 'cachedTokens' | 'cacheWriteTokens' | 'reasoningTokens';

/**
 * Where servers report the details of their usage, in a response or the last event of a stream. A server may
 * use the names of several. The first count above zero applies.
 */
const NAMES: Readonly<Record<string, Readonly<Partial<Record<Detail, string>>>>> = {
  openai: {
    cachedTokens: 'usage.prompt_tokens_details.cached_tokens',
    reasoningTokens: 'usage.completion_tokens_details.reasoning_tokens',
  },
  vllm: { cacheWriteTokens: 'usage.prompt_tokens_details.created_cache_tokens' },
  sglang: { reasoningTokens: 'usage.reasoning_tokens' },
  llamaCpp: { cachedTokens: 'timings.cache_n' },
  deepseek: { cachedTokens: 'usage.prompt_cache_hit_tokens' },
  moonshot: { cachedTokens: 'usage.cached_tokens' },
  dashscope: { cacheWriteTokens: 'usage.prompt_tokens_details.cache_creation_input_tokens' },
  litellm: { cacheWriteTokens: 'usage.prompt_tokens_details.cache_creation_tokens' },
  openrouter: { cacheWriteTokens: 'usage.prompt_tokens_details.cache_write_tokens' },
  anthropic: {
    cachedTokens: 'usage.cache_read_input_tokens',
    cacheWriteTokens: 'usage.cache_creation_input_tokens',
  },
};

const placesOf = (detail: Detail): readonly (readonly string[])[] =>
  Object.values(NAMES).flatMap(({ [detail]: place }) => (place === undefined ? [] : [place.split('.')]));

const PLACES = {
  cachedTokens: placesOf('cachedTokens'),
  cacheWriteTokens: placesOf('cacheWriteTokens'),
  reasoningTokens: placesOf('reasoningTokens'),
};

/** The `usage` in a backend's response or event; undefined if it has no valid one. */
export function readUsage(body: Fields): ReportedUsage | undefined {
  const { usage } = body;
  if (!isFields(usage) || !('prompt_tokens' in usage)) return undefined;
  const read = {
    promptTokens: count(usage['prompt_tokens']),
    completionTokens: count(usage['completion_tokens']),
    cachedTokens: detailOf(body, 'cachedTokens'),
    cacheWriteTokens: detailOf(body, 'cacheWriteTokens'),
    reasoningTokens: detailOf(body, 'reasoningTokens'),
  };
  return withinTotals(read, count(usage['total_tokens']));
}

/**
 * The same usage with reasoning counted within the output, and cached tokens within the prompt, as they are
 * priced. Most servers count so already. If one does not, its total exceeds the sum of prompt and output by
 * the tokens that are in neither. What nothing else explains of a total is not believed.
 */
function withinTotals(usage: Usage, total: number): ReportedUsage {
  const { promptTokens, completionTokens, reasoningTokens: reasoning } = usage;
  const cached = usage.cachedTokens + usage.cacheWriteTokens;
  const apart = total - promptTokens - completionTokens;
  if (apart <= 0) return usage;
  if (apart === cached && apart !== reasoning) return { ...usage, promptTokens: promptTokens + cached };
  const isBoth = apart === reasoning + cached;
  const isConfirmed = isBoth || apart === reasoning;
  // More reasoning than output can only be beside it.
  const added = isConfirmed || reasoning > completionTokens ? Math.min(reasoning, apart) : 0;
  return {
    ...usage,
    promptTokens: promptTokens + (isBoth ? cached : 0),
    completionTokens: completionTokens + added,
    ...(isConfirmed && added > 0 && { confirmedReasoning: added }),
  };
}

function detailOf(body: Fields, detail: Detail): number {
  for (const place of PLACES[detail]) {
    const value = count(valueAt(body, place));
    if (value > 0) return value;
  }
  return 0;
}

/** A count that a backend reported, if it is a positive integer; otherwise 0. */
export const count = (value: unknown): number =>
  Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : 0;

function valueAt(fields: Fields, place: readonly string[]): unknown {
  let value: unknown = fields;
  for (const name of place) value = isFields(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return value;
}
