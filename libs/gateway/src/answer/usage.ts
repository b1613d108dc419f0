import type { Usage, UsageView } from '@svc/contracts';
import { isFields } from '../json/backend-json.js';
import type { Meter } from '../tokens/meter.js';

/** The first positive integer among the counts that a backend reported, or 0. */
const count = (...values: readonly unknown[]): number =>
  Number(values.find((value) => Number.isSafeInteger(value) && Number(value) > 0) ?? 0);

/** A backend's `usage`; undefined if invalid. Details may also be next to the totals, under several names. */
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

/** Usage as clients see it. */
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

/** A response that has ended, and its prompt. */
export interface Ended {
  /** The backend's counts. */
  readonly reported: Usage | undefined;
  /** Whether everything the backend generated was delivered. If not, its output count does not apply. */
  readonly isWhole: boolean;
  readonly meter: Meter;
  /** Characters received from the backend. */
  readonly received: number;
  readonly prompt: {
    /** Estimated. */
    readonly tokens: number;
    /** Upper bound for a plausible count. */
    readonly tokensAtMost: number;
    /** Lower bound for a plausible count. */
    readonly tokensAtLeast: () => number;
    readonly count: () => Promise<number>;
  };
  readonly outputTokensAtMost: number;
  /**
   * Upper bound for an estimate: the tokens that the money paid for, if a lack of money ended the response.
   */
  readonly paidTokensAtMost: number;
  /** Whether the model may hide its reasoning. Its output then has tokens for which nothing is received. */
  readonly mayThink: boolean;
  /** Whether texts may be encrypted for the backend, so that they imply no lower bound for its counts. */
  readonly mayBeEncrypted: boolean;
}

/** An implausible count of a backend. */
type Doubt = 'prompt too high' | 'prompt too low' | 'output too high' | 'output too low';

/** The usage of a response, and which of the backend's counts were rejected. */
export interface Used {
  readonly usage: Usage;
  readonly doubted: readonly Doubt[];
}

/**
 * The usage of a response: the backend's counts if plausible, otherwise our own count or estimate. A token
 * has at least one byte, and there are never more tokens than requested. A count that is too low is raised to
 * the lower bound.
 */
export async function usageOf(ended: Ended): Promise<Used> {
  const { reported = NOTHING, isWhole, meter, prompt, outputTokensAtMost, paidTokensAtMost } = ended;
  const isPromptHigh = reported.promptTokens > prompt.tokensAtMost;
  const isOutputHigh = isWhole && !isCredible(reported, ended);
  // Zero means that the backend does not count, since no prompt is empty and there was a response.
  const countsPrompt = !isPromptHigh && reported.promptTokens > 0;
  const countsOutput = isWhole && !isOutputHigh && reported.completionTokens > 0;
  const least = countsPrompt || countsOutput ? leastOf(reported, ended) : NOTHING;
  const promptTokens = countsPrompt
    ? Math.max(reported.promptTokens, least.promptTokens)
    : await prompt.count();
  const completionTokens = countsOutput
    ? Math.max(reported.completionTokens, least.completionTokens)
    : Math.min(await meter.countDelivered(), outputTokensAtMost, paidTokensAtMost);
  const cachedTokens = isPromptHigh ? 0 : Math.min(reported.cachedTokens, promptTokens);
  return {
    usage: {
      promptTokens,
      completionTokens,
      cachedTokens,
      cacheWriteTokens: isPromptHigh ? 0 : Math.min(reported.cacheWriteTokens, promptTokens - cachedTokens),
      reasoningTokens: Math.min(reported.reasoningTokens, completionTokens),
    },
    doubted: [
      ...(isPromptHigh ? ['prompt too high' as const] : []),
      ...(countsPrompt && promptTokens > reported.promptTokens ? ['prompt too low' as const] : []),
      ...(isOutputHigh ? ['output too high' as const] : []),
      ...(countsOutput && completionTokens > reported.completionTokens ? ['output too low' as const] : []),
    ],
  };
}

/** A count may be this many tokens below the lower bound. */
const SLACK_TOKENS = 64;

/**
 * Lower bounds for a backend's counts. The prompt is read only if its count is below half of the estimate.
 */
function leastOf(
  { promptTokens, completionTokens }: Usage,
  { mayBeEncrypted, prompt, meter, outputTokensAtMost }: Ended,
): Pick<Usage, 'promptTokens' | 'completionTokens'> {
  if (mayBeEncrypted) return NOTHING;
  const leastPrompt = promptTokens * 2 < prompt.tokens ? prompt.tokensAtLeast() : 0;
  const leastOutput = Math.min(meter.tokensAtLeast, outputTokensAtMost);
  return {
    promptTokens: leastPrompt > promptTokens + SLACK_TOKENS ? leastPrompt : 0,
    completionTokens: leastOutput > completionTokens + SLACK_TOKENS ? leastOutput : 0,
  };
}

function isCredible(
  { completionTokens, reasoningTokens }: Usage,
  { received, outputTokensAtMost, mayThink }: Ended,
): boolean {
  const hidden = mayThink ? Math.min(reasoningTokens, completionTokens) : 0;
  return completionTokens <= outputTokensAtMost && completionTokens - hidden <= received;
}

/** Usage of a backend that reports nothing. */
const NOTHING: Usage = {
  promptTokens: 0,
  completionTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};

/** The usage by estimates alone, for when counting fails. */
export function estimatedUsage({ meter, prompt, outputTokensAtMost }: Ended): Usage {
  const completionTokens = Math.min(meter.deliveredTokens, outputTokensAtMost);
  return { ...NOTHING, promptTokens: prompt.tokens, completionTokens };
}
