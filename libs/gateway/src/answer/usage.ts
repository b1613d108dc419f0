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

/** What is known of an answer that has ended, and of what it answers. */
export interface Ended {
  /** What its backend says. */
  readonly reported: Usage | undefined;
  /** Whether all that the backend generated was delivered. If not, its count is not what the client got. */
  readonly isWhole: boolean;
  readonly meter: Meter;
  /** Characters that its backend sent. */
  readonly received: number;
  readonly prompt: {
    /** Estimated. */
    readonly tokens: number;
    /** The most that a count of it is believed. */
    readonly tokensAtMost: number;
    readonly count: () => Promise<number>;
  };
  readonly outputTokensAtMost: number;
  /** Where money ended the answer, what there was money for: an estimate says no more. */
  readonly paidTokensAtMost: number;
  /** Whether the model may think without showing it, so that its output has tokens of which nothing is received. */
  readonly mayThink: boolean;
}

/** What an answer used, and which counts of its backend were not believed. */
export interface Used {
  readonly usage: Usage;
  readonly doubted: readonly ('prompt' | 'output')[];
}

/**
 * What an answer used: the backend's counts where it gave them and they can be true, or else what is counted or
 * estimated here. A token has at least a byte, and there are never more than were asked for.
 */
export async function usageOf(ended: Ended): Promise<Used> {
  const { reported = NOTHING, isWhole, meter, prompt, outputTokensAtMost, paidTokensAtMost } = ended;
  const isPromptDoubted = reported.promptTokens > prompt.tokensAtMost;
  const isOutputDoubted = isWhole && !isCredible(reported, ended);
  // A backend that says zero is one that does not count: no prompt is empty, and an answer was seen.
  const countsPrompt = !isPromptDoubted && reported.promptTokens > 0;
  const countsOutput = isWhole && !isOutputDoubted && reported.completionTokens > 0;
  const completionTokens = countsOutput
    ? reported.completionTokens
    : Math.min(await meter.countDelivered(), outputTokensAtMost, paidTokensAtMost);
  return {
    usage: {
      promptTokens: countsPrompt ? reported.promptTokens : await prompt.count(),
      completionTokens,
      cachedTokens: isPromptDoubted ? 0 : reported.cachedTokens,
      cacheWriteTokens: isPromptDoubted ? 0 : reported.cacheWriteTokens,
      reasoningTokens: Math.min(reported.reasoningTokens, completionTokens),
    },
    doubted: [
      ...(isPromptDoubted ? ['prompt' as const] : []),
      ...(isOutputDoubted ? ['output' as const] : []),
    ],
  };
}

function isCredible(
  { completionTokens, reasoningTokens }: Usage,
  { received, outputTokensAtMost, mayThink }: Ended,
): boolean {
  const hidden = mayThink ? Math.min(reasoningTokens, completionTokens) : 0;
  return completionTokens <= outputTokensAtMost && completionTokens - hidden <= received;
}

/** What a backend says that says nothing. */
const NOTHING: Usage = {
  promptTokens: 0,
  completionTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};

/** The same without any count, for where counting fails. */
export function estimatedUsage({ meter, prompt, outputTokensAtMost }: Ended): Usage {
  const completionTokens = Math.min(meter.deliveredTokens, outputTokensAtMost);
  return { ...NOTHING, promptTokens: prompt.tokens, completionTokens };
}
