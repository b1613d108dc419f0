import { Injectable } from '@nestjs/common';
import {
  type Admission as LimitAdmission,
  type AdmitRequest,
  type Caller,
  Ledger,
  Limiter,
  Problem,
} from '@svc/contracts';
import type { AnswerHeaders } from './answer-headers.js';
import type { ChatPlan } from './chat-plan.js';
import { GatewaySettings } from './gateway.config.js';
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
    private readonly limiter: Limiter,
    private readonly ledger: Ledger,
    private readonly settings: GatewaySettings,
  ) {}

  /** Refuses: RATE_LIMIT_EXCEEDED, INSUFFICIENT_BALANCE. A refusal of one gives back what the other took. */
  async enter({ requestId, caller, plan, headers }: Entrant): Promise<Ticket> {
    const heldTokens = this.heldFromTheStart(plan);
    const request: AdmitRequest = {
      requestId,
      accountId: caller.accountId,
      model: plan.model.id,
      limits: plan.limits,
      tokens: plan.promptTokens + heldTokens,
    };
    const amountNano = costAtMostNano(plan.model, plan.promptTokens, heldTokens);
    // A stream begins with what the account has, if that pays for a token of each choice.
    const leastTokens = plan.stream ? Math.min(plan.choices, heldTokens) : heldTokens;
    const atLeastNano = costAtMostNano(plan.model, plan.promptTokens, leastTokens);
    const { accountId, keyId } = caller;
    const [limits, hold] = await Promise.allSettled([
      this.limiter.admit(request),
      this.ledger.hold({ requestId, accountId, keyId, amountNano, atLeastNano }),
    ]);
    if (limits.status === 'fulfilled') headers.limits(limits.value);
    if (hold.status === 'fulfilled') headers.balances(hold.value.before);
    if (limits.status === 'fulfilled' && limits.value.admitted && hold.status === 'fulfilled') {
      const neighbours = { limiter: this.limiter, ledger: this.ledger };
      return new Ticket(
        neighbours,
        { request, limits: limits.value, plan, heldTokens, leastTokens },
        hold.value,
      );
    }
    if (hold.status === 'fulfilled') await this.ledger.release(hold.value);
    if (limits.status === 'rejected') throw limits.reason;
    if (!limits.value.admitted) throw rateLimited(limits.value);
    await this.limiter.release(request, limits.value);
    throw hold.status === 'rejected' ? hold.reason : new Problem('UNKNOWN_ERROR');
  }

  /** A stream can hold more as it goes; an answer that comes whole must be covered before. */
  private heldFromTheStart(plan: ChatPlan): number {
    const tranche = this.settings.config.GATEWAY_TRANCHE_TOKENS * plan.choices;
    return plan.stream ? Math.min(plan.outputTokensAtMost, tranche) : plan.outputTokensAtMost;
  }
}

function rateLimited(limits: LimitAdmission): Problem {
  return new Problem('RATE_LIMIT_EXCEEDED', {
    retryAfterSeconds: Math.max(1, Math.ceil((limits.resetAtMs - Date.now()) / 1_000)),
  });
}
