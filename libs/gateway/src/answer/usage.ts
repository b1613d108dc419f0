import type { Usage, UsageView } from '@svc/contracts';
import { isFields } from '../json/backend-json.js';
import type { Meter } from '../tokens/meter.js';

/** The first of some counts that a backend reported; anything but a whole number above 0 counts as nothing. */
const count = (...values: readonly unknown[]): number =>
  Number(values.find((value) => Number.isSafeInteger(value) && Number(value) > 0) ?? 0);

/** A backend's `usage`; `undefined` where it is none. Details also stand beside the totals, under several names. */
export function readUsage(value: unknown): Usage | undefined {
  if (!isFields(value) || !('prompt_tokens' in value)) return undefined;
  const prompt = isFields(value['prompt_tokens_details']) ? value['prompt_tokens_details'] : {};
  const completion = isFields(value['completion_tokens_details']) ? value['completion_tokens_details'] : {};
  return {
    promptTokens: count(value['prompt_tokens']),
    completionTokens: count(value['completion_tokens']),
    cachedTokens: count(
      prompt['cached_tokens'],
      value['cache_read_input_tokens'],
      value['prompt_cache_hit_tokens'],
      value['cached_tokens'],
    ),
    cacheWriteTokens: count(
      prompt['cache_creation_input_tokens'],
      prompt['cache_write_tokens'],
      value['cache_creation_input_tokens'],
    ),
    reasoningTokens: count(completion['reasoning_tokens'], value['reasoning_tokens']),
  };
}

/** A usage as clients see it. */
export function usageView(usage: Usage): UsageView {
  return {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.promptTokens + usage.completionTokens,
    prompt_tokens_details: {
      cached_tokens: usage.cachedTokens,
      cache_creation_input_tokens: usage.cacheWriteTokens,
    },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  };
}

/** What is known of an answer that has ended. */
interface Ended {
  /** What its backend says. */
  readonly reported: Usage | undefined;
  /** Whether all that the backend generated was delivered. If not, its count is not what the client got. */
  readonly isWhole: boolean;
  readonly meter: Meter;
}

/** What an answer used: the backend's counts where it gave them, or else what is counted or estimated here. */
export async function usageOf(
  { reported, isWhole, meter }: Ended,
  countPrompt: () => Promise<number>,
): Promise<Usage> {
  // A backend that says zero is one that does not count: no prompt is empty, and an answer was seen.
  const promptTokens = reported?.promptTokens ?? 0;
  const completionTokens = (isWhole && reported?.completionTokens) || (await meter.countDelivered());
  return {
    promptTokens: promptTokens > 0 ? promptTokens : await countPrompt(),
    completionTokens,
    cachedTokens: reported?.cachedTokens ?? 0,
    cacheWriteTokens: reported?.cacheWriteTokens ?? 0,
    reasoningTokens: Math.min(reported?.reasoningTokens ?? 0, completionTokens),
  };
}
