/** How many tokens of a prompt a server has counted, and had in its cache. */
export interface CountedPrompt {
  readonly all: number;
  readonly cached: number;
}

const ALL = /"(?:prompt_tokens|input_tokens)"\s*:\s*(\d{1,9})/;

/** The names that servers have for it, of which one may have several. */
const CACHED = /"(?:cached_tokens|prompt_cache_hit_tokens|cache_read_input_tokens|cache_n)"\s*:\s*(\d{1,9})/g;

/**
 * The counts at the end of a response, if it has both. Text of the model is within strings there, whose
 * quotation marks are escaped.
 */
export function promptTokensIn(end: string): CountedPrompt | undefined {
  const all = Number(ALL.exec(end)?.[1] ?? 0);
  let cached: number | undefined;
  for (const [, digits] of end.matchAll(CACHED)) cached = Math.max(cached ?? 0, Number(digits));
  return all > 0 && cached !== undefined ? { all, cached: Math.min(all, cached) } : undefined;
}
