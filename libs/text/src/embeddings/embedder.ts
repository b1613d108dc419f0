import { Injectable } from '@nestjs/common';
import { type ChargeLine, NO_USAGE, chargeLine } from '@svc/contracts/messages';
import { type EmbeddingTexts, Embeddings } from '@svc/contracts/inference';
import { RootLogger } from '@svc/runtime';
import { inference, traced } from '@svc/telemetry';
import { type Performed } from '@svc/paid/paid';
import { LeastTokens } from '../tokens/least-tokens.js';
import { trustedPrompt } from '../tokens/trusted-prompt.js';
import type { EmbeddingPlan } from './embedding-plan.js';

export interface Embedded {
  /** In the format of `EmbeddingVectors`. */
  readonly vectors: readonly string[];
  readonly promptTokens: number;
}

/** Gets the vectors of a plan's texts and counts their tokens. */
@Injectable()
export class Embedder {
  constructor(
    private readonly embeddings: Embeddings,
    private readonly logger: RootLogger,
  ) {}

  /** Refuses the same as the router. */
  async embed(
    plan: EmbeddingPlan,
    { requestId, accountId }: { requestId: string; accountId: string },
    signal: AbortSignal,
  ): Promise<Performed<Embedded>> {
    const { texts, dimensions, others } = plan;
    const { model } = plan.sale;
    const wanted: EmbeddingTexts = {
      inputs: [...texts],
      dimensions,
      isCustom: dimensions !== model.embeddingDimensions,
      others,
    };
    const call = { requestId, accountId, model: model.id, texts: wanted };
    const { result, backend, retries } = await traced('infer', () => this.embeddings.vectors(call, signal));
    const { vectors, promptTokens: reported = 0 } = result;
    const promptTokens = this.promptTokens(plan, reported, { requestId, backend });
    return {
      result: { vectors, promptTokens },
      backend,
      retries,
      lines: [lineOf(plan, promptTokens)],
      usage: { ...NO_USAGE, promptTokens },
    };
  }

  /** The backend's count if plausible, otherwise an estimate or the lower bound. */
  private promptTokens(
    { texts, sale, tokens, tokensAtMost }: EmbeddingPlan,
    reported: number,
    { requestId, backend }: { requestId: string; backend: string },
  ): number {
    const bounds = { tokens, tokensAtMost, tokensAtLeast: () => leastTokens(texts) };
    const { tokens: trusted = Math.max(tokens, 1), doubt } = trustedPrompt(reported, bounds);
    if (doubt !== undefined) {
      inference.doubted.add(1, sale.name, backend, doubt);
      this.logger.log.warn(
        { requestId, backend, doubted: [doubt], reported },
        'implausible token counts of a backend were replaced',
      );
    }
    return Math.min(trusted, tokensAtMost);
  }
}

/** The charge line for this number of tokens. */
export function lineOf({ sale: { model } }: EmbeddingPlan, tokens: number): ChargeLine {
  const sku = `${model.id}-embedding-input-mtoken`;
  return chargeLine({ sku, unit: 'token', priceNanoPerMillion: model.inputNano }, tokens);
}

function leastTokens(texts: readonly string[]): number {
  const least = new LeastTokens();
  for (const text of texts) least.add(text);
  return least.tokens;
}
