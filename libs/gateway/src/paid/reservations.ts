import { Injectable } from '@nestjs/common';
import {
  type Caller,
  type Hold,
  type HoldRequest,
  Ledger,
  Limiter,
  Problem,
  WALLET_FLOOR_NANO,
  totalNano,
} from '@svc/contracts';
import { RootLogger } from '@svc/runtime';
import { traced } from '@svc/telemetry';
import { BackgroundWork } from '../http/background-work.js';
import { type HeaderValues, balanceHeaders, limitHeaders, walletHeaders } from '../http/header-values.js';
import type { ChatPlan } from '../request/chat-plan.js';
import { GatewaySettings } from '../gateway.config.js';
import { LimitGate } from '../limits/limit-gate.js';
import { costAtMostNano } from './price.js';
import { Reservation, promptTokensOf } from './reservation.js';

interface Asking {
  readonly requestId: string;
  readonly caller: Caller;
  /** Receives the headers about limits and balances, even on a refusal. */
  readonly headers: HeaderValues;
}

/** Admits requests: checks limits and holds money concurrently. */
@Injectable()
export class Reservations {
  constructor(
    private readonly limits: LimitGate,
    private readonly limiter: Limiter,
    private readonly ledger: Ledger,
    private readonly background: BackgroundWork,
    private readonly settings: GatewaySettings,
    private readonly logger: RootLogger,
  ) {}

  /**
   * Refuses: TOO_MANY_TOKENS_PER_MINUTE, RATE_LIMIT_EXCEEDED, INSUFFICIENT_BALANCE, the codes of a key's
   * limit. If either the limits or the ledger refuse, what the other has reserved is released.
   */
  async make({ requestId, caller, headers }: Asking, plan: ChatPlan): Promise<Reservation> {
    const { limits: gate, limiter, ledger, background } = this;
    const { log } = this.logger;
    const trancheTokens = this.settings.config.GATEWAY_TRANCHE_TOKENS * plan.choices;
    const request = gate.request(
      { requestId, caller, plan },
      promptTokensOf(plan) + expectedTokens(plan, trancheTokens),
    );
    const firstTokens = Math.min(plan.outputTokensAtMost, trancheTokens, FIRST_TOKENS * plan.choices);
    // A response may begin if the balance pays for one token of each choice.
    const sizes = { firstTokens, leastTokens: Math.min(plan.choices, firstTokens), trancheTokens };
    const [limits, hold] = await Promise.allSettled([
      traced('admit', () => limiter.admit(request)),
      traced('hold', () => ledger.hold(holdRequest({ requestId, caller }, plan, sizes))),
    ]);
    if (limits.status === 'fulfilled') Object.assign(headers, limitHeaders(limits.value));
    if (hold.status === 'fulfilled') Object.assign(headers, balanceHeaders(hold.value.before));
    if (limits.status === 'fulfilled' && limits.value.admitted && hold.status === 'fulfilled') {
      const neighbours = { limiter, ledger, background, log };
      const reservation = new Reservation(
        neighbours,
        { request, limits: limits.value, plan, ...sizes },
        hold.value,
      );
      if (isBelowFloor(caller, hold.value)) {
        await reservation.release();
        throw new Problem('INSUFFICIENT_BALANCE');
      }
      Object.assign(headers, walletHeaders(caller, reservation.left()));
      return reservation;
    }
    if (hold.status === 'fulfilled') await this.givenBack(requestId, ledger.release(hold.value));
    if (limits.status === 'rejected') throw limits.reason;
    if (!limits.value.admitted) throw gate.refusal({ requestId, caller, model: plan.model.id }, limits.value);
    await this.givenBack(requestId, limiter.release(request, limits.value));
    throw hold.status === 'rejected' ? hold.reason : new Problem('UNKNOWN_ERROR');
  }

  /** What cannot be released expires. The client still gets the original refusal. */
  private async givenBack(requestId: string, giving: Promise<void>): Promise<void> {
    await giving.catch((error: unknown) => {
      this.logger.log.error(
        { err: error, requestId },
        'the hold or limit share of a rejected request could not be released and will expire',
      );
    });
  }
}

/** Wallets need a minimum balance to be admitted. */
export const isBelowFloor = ({ wallet }: Caller, { before }: Hold): boolean =>
  wallet !== undefined && totalNano(before) < WALLET_FLOOR_NANO;

/** Output tokens per choice to hold for at first. Low, since the hold reports how much money is available. */
const FIRST_TOKENS = 64;

/**
 * A response that is not streamed is held for as a whole if the ledger finds that small compared to the
 * balance.
 */
function holdRequest(
  { requestId, caller }: Omit<Asking, 'headers'>,
  plan: ChatPlan,
  { firstTokens, leastTokens }: { firstTokens: number; leastTokens: number },
): HoldRequest {
  const { accountId, keyId, keyLimit } = caller;
  const costNano = (outputTokens: number): bigint =>
    costAtMostNano(plan.model, promptTokensOf(plan), outputTokens) + (plan.web?.priceAtMostNano ?? 0n);
  return {
    requestId,
    accountId,
    keyId,
    amountNano: costNano(firstTokens),
    atLeastNano: costNano(leastTokens),
    ...(!plan.stream && { preferredNano: costNano(plan.outputTokensAtMost) }),
    ...(keyLimit && { keyLimit }),
  };
}

/** Output tokens to count against the limits until the actual number is known. */
function expectedTokens({ stream, outputTokensAtMost }: ChatPlan, trancheTokens: number): number {
  return stream ? Math.min(outputTokensAtMost, trancheTokens) : outputTokensAtMost;
}
