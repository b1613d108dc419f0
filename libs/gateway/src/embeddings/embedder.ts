import { Injectable } from '@nestjs/common';
import {
  type ChargeLine,
  type EmbeddingTexts,
  EmbeddingVectors,
  InferenceRouter,
  type Usage,
} from '@svc/contracts';
import { RootLogger } from '@svc/runtime';
import { inference, traced } from '@svc/telemetry';
import { line } from '../paid/price.js';
import type { Performed } from '../paid/paid-operations.js';
import { LeastTokens } from '../tokens/least-tokens.js';
import type { EmbeddingPlan } from './embedding-plan.js';

/** A count may be this many tokens below the lower bound. */
const SLACK_TOKENS = 64;

export interface Embedded {
  /** In the format of `EmbeddingVectors`. */
  readonly vectors: readonly string[];
  readonly promptTokens: number;
  readonly backend: string;
  /** Calls that failed before this response. */
  readonly retries: number;
}

/** Gets the vectors of a plan's texts and counts their tokens. */
@Injectable()
export class Embedder {
  constructor(
    private readonly router: InferenceRouter,
    private readonly logger: RootLogger,
  ) {}

  /** Refuses the same as the router. */
  async embed(
    plan: EmbeddingPlan,
    { requestId, accountId }: { requestId: string; accountId: string },
    signal: AbortSignal,
  ): Promise<Performed<Embedded>> {
    const { model, texts, dimensions } = plan;
    const asked: EmbeddingTexts = {
      inputs: [...texts],
      dimensions,
      isCustom: dimensions !== model.embeddingDimensions,
    };
    const body = [Buffer.from(JSON.stringify(asked))];
    const call = { kind: 'embeddings' as const, requestId, accountId, model: model.id, body };
    const response = await traced('infer', () => this.router.complete(call, signal));
    const { backend, retries } = response;
    const { vectors, promptTokens: reported } = EmbeddingVectors.parse(JSON.parse(response.body));
    const promptTokens = this.promptTokens(plan, reported, { requestId, backend });
    return {
      result: { vectors, promptTokens, backend, retries },
      backend,
      lines: [lineOf(plan, promptTokens)],
      usage: usageOf(promptTokens),
    };
  }

  /** The backend's count if plausible, otherwise an estimate or the lower bound. */
  private promptTokens(
    { texts, model, tokens, tokensAtMost }: EmbeddingPlan,
    reported: number | undefined,
    { requestId, backend }: { requestId: string; backend: string },
  ): number {
    const estimate = Math.min(Math.max(tokens, 1), tokensAtMost);
    // A backend that reports no tokens does not count them.
    if (reported === undefined || reported === 0) return estimate;
    // The texts are read only if the count is below half of the estimate.
    const least = reported * 2 < tokens ? leastTokens(texts) : 0;
    const isHigh = reported > tokensAtMost;
    if (!isHigh && least <= reported + SLACK_TOKENS) return reported;
    const doubt = isHigh ? 'prompt too high' : 'prompt too low';
    inference.doubted.add(1, model.id, backend, doubt);
    this.logger.log.warn({ requestId, backend, doubted: [doubt], reported }, 'counts were not believed');
    return isHigh ? estimate : Math.min(least, tokensAtMost);
  }
}

/** The charge line for this number of tokens. */
export function lineOf({ model }: EmbeddingPlan, tokens: number): ChargeLine {
  return line(`${model.id}-embedding-input-mtoken`, tokens, model.inputNano);
}

const usageOf = (promptTokens: number): Usage => ({
  promptTokens,
  completionTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
});

function leastTokens(texts: readonly string[]): number {
  const least = new LeastTokens();
  for (const text of texts) least.add(text);
  return least.tokens;
}
