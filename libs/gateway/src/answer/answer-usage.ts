import type { Usage } from '@svc/contracts';
import type { AnswerContext } from './answer.js';
import type { Meter } from '../tokens/meter.js';

/** What is known of an answer that has ended. */
export interface Ended {
  /** What its backend says. */
  readonly reported: Usage | undefined;
  /** Whether all that the backend generated was delivered. If not, its count is not what the client got. */
  readonly isWhole: boolean;
  readonly meter: Meter;
}

/** What an answer used: the backend's counts where it gave them, or else what is counted or estimated here. */
export async function usageOf(
  { reported, isWhole, meter }: Ended,
  { countPrompt }: Pick<AnswerContext, 'countPrompt'>,
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
