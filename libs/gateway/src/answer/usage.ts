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
    /** The least that a count of it is believed. */
    readonly tokensAtLeast: () => number;
    readonly count: () => Promise<number>;
  };
  readonly outputTokensAtMost: number;
  /** Where money ended the answer, what there was money for: an estimate says no more. */
  readonly paidTokensAtMost: number;
  /** Whether the model may think without showing it, so that its output has tokens of which nothing is received. */
  readonly mayThink: boolean;
  /** Whether texts may be encrypted for the backend, so that they say nothing of the least that it can have counted. */
  readonly mayBeEncrypted: boolean;
}

/** A count of a backend that can't be true. */
type Doubt = 'prompt too high' | 'prompt too low' | 'output too high' | 'output too low';

/** What an answer used, and which counts of its backend were not believed. */
export interface Used {
  readonly usage: Usage;
  readonly doubted: readonly Doubt[];
}

/**
 * What an answer used: the backend's counts where it gave them and they can be true, or else what is counted or
 * estimated here. A token has at least a byte, and there are never more than were asked for. A count that is too low
 * becomes the least that can be true.
 */
export async function usageOf(ended: Ended): Promise<Used> {
  const { reported = NOTHING, isWhole, meter, prompt, outputTokensAtMost, paidTokensAtMost } = ended;
  const isPromptHigh = reported.promptTokens > prompt.tokensAtMost;
  const isOutputHigh = isWhole && !isCredible(reported, ended);
  // A backend that says zero is one that does not count: no prompt is empty, and an answer was seen.
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

/** A count that is too low by no more tokens than this is believed. */
const SLACK_TOKENS = 64;

/** The least that a backend can have counted. The prompt is read where its count is not half of the estimate. */
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
