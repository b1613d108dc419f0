import { Injectable } from '@nestjs/common';
import { Problem } from '@svc/contracts/problems';
import { type Ending, isAbort } from '../output/output-relay.js';
import { isShortOfMoney } from '@svc/paid/paid';
import { tokensBeforeResults } from '../request/called-prompt.js';
import { planAfterCall } from '../request/chat-plan.js';
import type { InternalToolCall } from '../output/internal-tool.js';
import { queryIn } from '../web/search-tool.js';
import type { OfferPlan } from '../web/web-plan.js';
import type { ChatExchange } from './exchange.js';
import { type FinishedCall, Inference } from './inference.js';
import { PromptMaking } from './prompt-making.js';

/** No search is made if fewer output tokens are left. */
const LEAST_OUTPUT_TOKENS = 16;

/** The call after a response in which the model called the search tool. */
@Injectable()
export class FollowUpCall {
  constructor(
    private readonly prompts: PromptMaking,
    private readonly inference: Inference,
  ) {}

  /**
   * Makes the search, and calls the model again with the findings. What was delivered is returned if the rest
   * fails. Undefined for a response without a call.
   */
  after(exchange: ChatExchange, first: FinishedCall): Promise<FinishedCall> | undefined {
    const { web } = first.prepared.plan;
    const call = web?.kind === 'offer' ? first.relay.calledBefore(first.ending) : undefined;
    return call && web?.kind === 'offer' ? this.answer(exchange, first, { call, offer: web }) : undefined;
  }

  private async answer(
    exchange: ChatExchange,
    first: FinishedCall,
    { call, offer }: { readonly call: InternalToolCall; readonly offer: OfferPlan },
  ): Promise<FinishedCall> {
    const { plan, hold, prompt } = first.prepared;
    const usage = await this.inference.usage(exchange, first);
    if (plan.outputTokensAtMost - usage.completionTokens < LEAST_OUTPUT_TOKENS)
      return { ...first, ending: { kind: 'out_of_tokens' } };
    const query = queryIn(call.arguments) ?? offer.search.query ?? '';
    const turn = { message: call.messageWith(JSON.stringify({ query })), id: call.id };
    const promptTokens = tokensBeforeResults(prompt, turn);
    const search = { offer, query, promptTokens, usedTokens: usage.completionTokens };
    const again = planAfterCall(plan, search);
    try {
      const isPaid = await hold.askAgain(again, usage); //                      UNAVAILABLE
      const found = await this.prompts.lookUp(again, { prompt, turn, isPaid }, exchange);
      hold.buy(found.findings.purchases);
      await hold.coverPrompt(found.prompt.tokens); //                         INSUFFICIENT_BALANCE
      const last = await this.inference.complete(exchange, { plan: again, hold, ...found }, first.relay);
      return { ...last, earlier: { usage, isShown: first.relay.normaliser.tool?.isShown === true } };
    } catch (error) {
      if (!first.relay.isBegun) throw error;
      // The client gets no response based on it, so it is not charged.
      hold.buy([]);
      return { ...first, ending: endingBy(error, exchange) };
    }
  }
}

/** How a response ends that has begun and cannot continue. */
function endingBy(error: unknown, { client }: ChatExchange): Ending {
  if (client.isGone) return { kind: 'client_gone', ...(!isAbort(error) && { problem: Problem.from(error) }) };
  return isShortOfMoney(error) ? { kind: 'out_of_money' } : { kind: 'cut', problem: Problem.from(error) };
}
