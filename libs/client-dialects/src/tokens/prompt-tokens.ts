import assert from 'node:assert/strict';
import { Injectable } from '@nestjs/common';
import { Catalog } from '@svc/catalog';
import { COUNTING_KINDS } from '@svc/contracts/catalog';
import { Chat, type ChatCall } from '@svc/contracts/inference';
import type { TokenCount } from '@svc/api/messages';
import { type HttpPair, PaidOperations } from '@svc/paid/paid';
import {
  type ChatPlan,
  chatBody,
  chatCall,
  planChat,
  Preparation,
  type TranslatedRequest,
  atOrigin,
} from '@svc/text/request';

/** How long a provider may take to count. */
const COUNTING_MS = 5_000;

/** Counts the tokens of prompts without a completion. */
@Injectable()
export class PromptTokens {
  constructor(
    private readonly catalog: Catalog,
    private readonly paid: PaidOperations,
    private readonly preparation: Preparation,
    private readonly chat: Chat,
  ) {}

  /**
   * The tokens of a prompt as the model's provider counts them, or else those that the hold for a request
   * begins with. Costs nothing, and counts as a request of the model. Refuses as a completion that is
   * prepared.
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
        perform: async ({ accountId }, signal) => {
          const { tokens: estimate } = await this.preparation.prepare(plan, undefined, signal);
          const origin = { requestId: pair.request.id, accountId };
          const tokens = await this.counted(plan, { ...origin, estimate }, signal);
          return { result: { input_tokens: tokens }, backend: '', lines: [] };
        },
      },
      pair,
    );
    return result;
  }

  /** The provider's count, or the estimate if it has none in time. */
  private async counted(
    plan: ChatPlan,
    { estimate, ...origin }: Pick<ChatCall, 'requestId' | 'accountId'> & { readonly estimate: number },
    signal: AbortSignal,
  ): Promise<number> {
    const { encryption, model } = plan;
    if (encryption || !model.backends.some(({ kind }) => COUNTING_KINDS.has(kind))) return estimate;
    const within = AbortSignal.any([signal, AbortSignal.timeout(COUNTING_MS)]);
    const body = await chatBody(plan, { stream: false, promptTokens: estimate });
    try {
      const { result } = await this.chat.count(chatCall(plan, origin, body), within);
      return result.tokens;
    } catch {
      // The router has logged why.
      signal.throwIfAborted();
      return estimate;
    }
  }
}
