import assert from 'node:assert/strict';
import { Injectable } from '@nestjs/common';
import { Catalog } from '@svc/catalog';
import type { TokenCount } from '@svc/api/messages';
import { type HttpPair, PaidOperations } from '@svc/paid/paid';
import { type ChatPlan, planChat, Preparation, type TranslatedRequest, atOrigin } from '@svc/text/request';

/** Counts the tokens of prompts without a model. */
@Injectable()
export class PromptTokens {
  constructor(
    private readonly catalog: Catalog,
    private readonly paid: PaidOperations,
    private readonly preparation: Preparation,
  ) {}

  /**
   * The tokens that the hold for a request begins with. Costs nothing, and counts as a request of the model.
   * Refuses as a completion that is prepared.
   */
  async count({ chat, json, origin, search }: TranslatedRequest, pair: HttpPair): Promise<TokenCount> {
    const { caller } = pair.request;
    assert(caller, 'the route requires a key or a wallet');
    try {
      return await this.prepared(planChat(chat, { json, caller, search }, this.catalog), pair);
    } catch (error) {
      throw atOrigin(error, origin);
    }
  }

  private async prepared(plan: ChatPlan, pair: HttpPair): Promise<TokenCount> {
    const { result } = await this.paid.run(
      {
        sale: plan.sale,
        amounts: { tokens: 0 },
        hold: { amountNano: 0n },
        perform: async (_caller, signal) => {
          const { tokens } = await this.preparation.prepare(plan, undefined, signal);
          return { result: { input_tokens: tokens }, backend: '', lines: [] };
        },
      },
      pair,
    );
    return result;
  }
}
