import type { ReportedUsage } from '@svc/contracts/inference';
import { NO_USAGE, type Usage } from '@svc/contracts/messages';
import type { UsageView } from '@svc/api/chat';
import type { Meter } from '../tokens/meter.js';
import { SLACK_TOKENS, type TrustedPrompt, trustedPrompt } from '../tokens/trusted-prompt.js';

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
export interface EndedCompletion {
  /** The backend's counts. */
  readonly reported: ReportedUsage | undefined;
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
  /** Whether texts are encrypted, so that they imply no lower bound for its counts. */
  readonly isEncrypted: boolean;
}

/** An implausible count of a backend. */
type Doubt = NonNullable<TrustedPrompt['doubt']> | 'output too high' | 'output too low';

/** The usage of a response, and which of the backend's counts were rejected. */
export interface TrustedUsage {
  readonly usage: Usage;
  readonly doubted: readonly Doubt[];
}

/**
 * The usage of a response: the backend's counts if plausible, otherwise our own count or estimate. A token
 * has at least one byte, and there are never more tokens than requested. A count that is too low is raised to
 * the lower bound.
 */
export function usageOf(ended: EndedCompletion): TrustedUsage | Promise<TrustedUsage> {
  const { reported = NO_USAGE, isWhole, meter, prompt, outputTokensAtMost, paidTokensAtMost } = ended;
  const trusted = trustedPrompt(reported.promptTokens, {
    tokens: prompt.tokens,
    tokensAtMost: prompt.tokensAtMost,
    tokensAtLeast: () => (ended.isEncrypted ? 0 : prompt.tokensAtLeast()),
  });
  const isOutputHigh = isWhole && !isCredible(reported, ended);
  // Zero means that the backend does not count, since there was a response.
  const countsOutput = isWhole && !isOutputHigh && reported.completionTokens > 0;
  const output = countsOutput ? raisedOutput(reported.completionTokens, ended) : undefined;
  const judged = { trusted, isOutputHigh, isOutputRaised: (output ?? 0) > reported.completionTokens };
  if (trusted.tokens !== undefined && output !== undefined)
    return usageWith(reported, { prompt: trusted.tokens, output }, judged);
  return (async () => {
    const counted = {
      prompt: trusted.tokens ?? (await prompt.count()),
      output: output ?? Math.min(await meter.countDelivered(), outputTokensAtMost, paidTokensAtMost),
    };
    return usageWith(reported, counted, judged);
  })();
}

/** Which of a backend's counts are not plausible. */
interface JudgedCounts {
  readonly trusted: TrustedPrompt;
  readonly isOutputHigh: boolean;
  readonly isOutputRaised: boolean;
}

function usageWith(
  reported: ReportedUsage,
  { prompt: promptTokens, output: completionTokens }: { readonly prompt: number; readonly output: number },
  { trusted, isOutputHigh, isOutputRaised }: JudgedCounts,
): TrustedUsage {
  const isPromptHigh = trusted.doubt === 'prompt too high';
  const cachedTokens = isPromptHigh ? 0 : Math.min(reported.cachedTokens, promptTokens);
  const cacheWriteTokens = isPromptHigh
    ? 0
    : Math.min(reported.cacheWriteTokens, promptTokens - cachedTokens);
  const forHour = Math.min(reported.hourCacheWriteTokens ?? 0, cacheWriteTokens);
  return {
    usage: {
      promptTokens,
      completionTokens,
      cachedTokens,
      cacheWriteTokens,
      ...(forHour > 0 && { hourCacheWriteTokens: forHour }),
      reasoningTokens: Math.min(reported.reasoningTokens, completionTokens),
    },
    doubted:
      trusted.doubt === undefined && !isOutputHigh && !isOutputRaised
        ? NO_DOUBTS
        : [
            ...(trusted.doubt === undefined ? [] : [trusted.doubt]),
            ...(isOutputHigh ? ['output too high' as const] : []),
            ...(isOutputRaised ? ['output too low' as const] : []),
          ],
  };
}

const NO_DOUBTS: readonly Doubt[] = [];

/** A backend's count of its output, raised to the lower bound if it is too low. */
function raisedOutput(reported: number, { isEncrypted, meter, outputTokensAtMost }: EndedCompletion): number {
  const least = isEncrypted ? 0 : Math.min(meter.tokensAtLeast, outputTokensAtMost);
  return least > reported + SLACK_TOKENS ? least : reported;
}

function isCredible(
  { completionTokens, reasoningTokens, confirmedReasoning = 0 }: ReportedUsage,
  { received, outputTokensAtMost, mayThink }: EndedCompletion,
): boolean {
  const hidden = mayThink ? Math.min(reasoningTokens, completionTokens) : confirmedReasoning;
  return completionTokens <= outputTokensAtMost && completionTokens - hidden <= received;
}

/** The usage by estimates alone, for when counting fails. */
export function estimatedUsage({ meter, prompt, outputTokensAtMost }: EndedCompletion): Usage {
  const completionTokens = Math.min(meter.deliveredTokens, outputTokensAtMost);
  return { ...NO_USAGE, promptTokens: prompt.tokens, completionTokens };
}
