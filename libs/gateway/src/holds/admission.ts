import { Injectable } from '@nestjs/common';
import { type Caller, type HoldRequest, Ledger, Problem } from '@svc/contracts';
import type { AnswerHeaders } from '../http/answer-headers.js';
import type { ChatPlan } from '../request/chat-plan.js';
import { GatewaySettings } from '../gateway.config.js';
import { LimitGate } from '../limits/limit-gate.js';
import { costAtMostNano } from './price.js';
import { Ticket } from './ticket.js';

export interface Entrant {
  readonly requestId: string;
  readonly caller: Caller;
  readonly plan: ChatPlan;
  readonly headers: AnswerHeaders;
}

/** Lets a request in: limits and money, at once. */
@Injectable()
export class Admission {
  constructor(
    private readonly limits: LimitGate,
    private readonly ledger: Ledger,
    private readonly settings: GatewaySettings,
  ) {}

  /**
   * Refuses: TOO_MANY_TOKENS, RATE_LIMIT_EXCEEDED, INSUFFICIENT_BALANCE, the codes of a key's limit. A refusal of one gives back what
   * the other took.
   */
  async enter({ requestId, caller, plan, headers }: Entrant): Promise<Ticket> {
    const trancheTokens = this.settings.config.GATEWAY_TRANCHE_TOKENS * plan.choices;
    const { limiter } = this.limits;
    const entrant = { requestId, caller, plan };
    const request = this.limits.request(entrant, plan.promptTokens + expectedTokens(plan, trancheTokens));
    const firstTokens = Math.min(plan.outputTokensAtMost, trancheTokens, FIRST_TOKENS * plan.choices);
    // An answer begins with what the account has, if that pays for a token of each choice.
    const leastTokens = Math.min(plan.choices, firstTokens);
    const [limits, hold] = await Promise.allSettled([
      limiter.admit(request),
      this.ledger.hold(holdRequest(entrant, firstTokens, leastTokens)),
    ]);
    if (limits.status === 'fulfilled') headers.limits(limits.value);
    if (hold.status === 'fulfilled') headers.balances(hold.value.before);
    if (limits.status === 'fulfilled' && limits.value.admitted && hold.status === 'fulfilled') {
      const neighbours = { limiter, ledger: this.ledger };
      return new Ticket(
        neighbours,
        { request, limits: limits.value, plan, firstTokens, leastTokens, trancheTokens },
        hold.value,
      );
    }
    if (hold.status === 'fulfilled') await this.ledger.release(hold.value);
    if (limits.status === 'rejected') throw limits.reason;
    if (!limits.value.admitted)
      throw this.limits.refusal({ requestId, caller, model: plan.model.id }, limits.value);
    await limiter.release(request, limits.value);
    throw hold.status === 'rejected' ? hold.reason : new Problem('UNKNOWN_ERROR');
  }
}

/** What is held for output at first, for each choice: little, since the hold tells how much there is to be had. */
const FIRST_TOKENS = 64;

/** An answer that is not streamed is held whole where the ledger finds that it is a small part of what there is. */
function holdRequest(
  { requestId, caller, plan }: Omit<Entrant, 'headers'>,
  firstTokens: number,
  leastTokens: number,
): HoldRequest {
  const { model, promptTokens, outputTokensAtMost, stream } = plan;
  const { accountId, keyId, keyLimit } = caller;
  return {
    requestId,
    accountId,
    keyId,
    amountNano: costAtMostNano(model, promptTokens, firstTokens),
    atLeastNano: costAtMostNano(model, promptTokens, leastTokens),
    ...(!stream && { preferredNano: costAtMostNano(model, promptTokens, outputTokensAtMost) }),
    ...(keyLimit && { keyLimit }),
  };
}

/** Output tokens that are taken from the limits until it is known how many there were. */
function expectedTokens({ stream, outputTokensAtMost }: ChatPlan, trancheTokens: number): number {
  return stream ? Math.min(outputTokensAtMost, trancheTokens) : outputTokensAtMost;
}
