import { Injectable } from '@nestjs/common';
import { type Caller, type HoldRequest, Ledger, Problem } from '@svc/contracts';
import { RootLogger } from '@svc/runtime';
import { BackgroundWork } from '../http/background-work.js';
import { type HeaderValues, balanceHeaders, limitHeaders } from '../http/header-values.js';
import type { ChatPlan } from '../request/chat-plan.js';
import { GatewaySettings } from '../gateway.config.js';
import { LimitGate } from '../limits/limit-gate.js';
import { costAtMostNano } from './price.js';
import { Reservation } from './reservation.js';

interface Asking {
  readonly requestId: string;
  readonly caller: Caller;
  /** Told what limits and balances are, also where they refuse. */
  readonly headers: HeaderValues;
}

/** Whom reservations are made with. */
@Injectable()
export class Lenders {
  constructor(
    readonly limits: LimitGate,
    readonly ledger: Ledger,
    readonly background: BackgroundWork,
  ) {}
}

/** Lets requests in: limits and money, at once. */
@Injectable()
export class Reservations {
  constructor(
    private readonly lenders: Lenders,
    private readonly settings: GatewaySettings,
    private readonly logger: RootLogger,
  ) {}

  /**
   * Refuses: TOO_MANY_TOKENS, RATE_LIMIT_EXCEEDED, INSUFFICIENT_BALANCE, the codes of a key's limit. A refusal of one
   * gives back what the other took.
   */
  async make({ requestId, caller, headers }: Asking, plan: ChatPlan): Promise<Reservation> {
    const { ledger, background, limits: gate } = this.lenders;
    const { limiter } = gate;
    const { log } = this.logger;
    const trancheTokens = this.settings.config.GATEWAY_TRANCHE_TOKENS * plan.choices;
    const request = gate.request(
      { requestId, caller, plan },
      plan.promptTokens + expectedTokens(plan, trancheTokens),
    );
    const firstTokens = Math.min(plan.outputTokensAtMost, trancheTokens, FIRST_TOKENS * plan.choices);
    // An answer begins with what the account has, if that pays for a token of each choice.
    const sizes = { firstTokens, leastTokens: Math.min(plan.choices, firstTokens), trancheTokens };
    const [limits, hold] = await Promise.allSettled([
      limiter.admit(request),
      ledger.hold(holdRequest({ requestId, caller }, plan, sizes)),
    ]);
    if (limits.status === 'fulfilled') Object.assign(headers, limitHeaders(limits.value));
    if (hold.status === 'fulfilled') Object.assign(headers, balanceHeaders(hold.value.before));
    if (limits.status === 'fulfilled' && limits.value.admitted && hold.status === 'fulfilled') {
      const neighbours = { limiter, ledger, background, log };
      return new Reservation(neighbours, { request, limits: limits.value, plan, ...sizes }, hold.value);
    }
    if (hold.status === 'fulfilled') await ledger.release(hold.value);
    if (limits.status === 'rejected') throw limits.reason;
    if (!limits.value.admitted) throw gate.refusal({ requestId, caller, model: plan.model.id }, limits.value);
    await limiter.release(request, limits.value);
    throw hold.status === 'rejected' ? hold.reason : new Problem('UNKNOWN_ERROR');
  }
}

/** What is held for output at first, for each choice: little, since the hold tells how much there is to be had. */
const FIRST_TOKENS = 64;

/** An answer that is not streamed is held whole where the ledger finds that it is a small part of what there is. */
function holdRequest(
  { requestId, caller }: Omit<Asking, 'headers'>,
  { model, promptTokens, outputTokensAtMost, stream }: ChatPlan,
  { firstTokens, leastTokens }: { firstTokens: number; leastTokens: number },
): HoldRequest {
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
