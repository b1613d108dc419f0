import {
  type Admission,
  type AdmitRequest,
  type Balances,
  type Charge,
  type ChargeLine,
  type Hold,
  type Ledger,
  type Limiter,
  Problem,
  type ProblemCode,
  type Usage,
  totalNano,
} from '@svc/contracts';
import type { Logger } from '@svc/runtime';
import { traced } from '@svc/telemetry';
import type { BackgroundWork } from '../http/background-work.js';
import type { ChatPlan } from '../request/chat-plan.js';
import type { Purchase } from '../web/web-research.js';
import {
  costAtMostNano,
  payFrom,
  priceUsages,
  purchaseLine,
  sumNano,
  tokensWithin,
  totalUsage,
} from './price.js';

interface Neighbours {
  readonly limiter: Limiter;
  readonly ledger: Ledger;
  readonly background: BackgroundWork;
  readonly log: Logger;
}

interface Admitted {
  readonly request: AdmitRequest;
  readonly limits: Admission;
  readonly plan: ChatPlan;
  /** Output tokens for which money is asked at first, and those without which the request can't begin. */
  readonly firstTokens: number;
  readonly leastTokens: number;
  /** The most output tokens that are held ahead. */
  readonly trancheTokens: number;
}

/** What an answer took. */
interface Used {
  readonly backend: string;
  readonly usage: Usage;
  /** What another answer took that this one follows. */
  readonly earlier?: Usage | undefined;
  readonly durationMs: number;
}

const NOTHING: Balances = { usdNano: 0n, diemNano: 0n };

/**
 * A request holds ahead at most this part of what its account could spend. What a request holds and then does not use
 * is out of reach for the others meanwhile: with many at once, large tranches would turn some away while there is money.
 */
const AHEAD_SHARE = 1_000n;

/** Fewer output tokens than this, for each choice, are not worth asking for. */
const SMALLEST_TRANCHE_TOKENS = 16;

/** What a request that was let in has of limits and money, until it is settled or released. */
export class Reservation {
  private open = true;
  /** Of the prompt as it goes to a backend. */
  private promptTokens: number;
  /** What a backend is asked now, and what was asked before it costs. */
  private plan: ChatPlan;
  private earlierNano = 0n;
  private lastRefusal: Problem | undefined;
  /** What is held for what is bought beside the answer, and what of it was bought. */
  private extrasNano: bigint;
  private bought: readonly ChargeLine[] = [];

  constructor(
    private readonly neighbours: Neighbours,
    private readonly admitted: Admitted,
    private hold: Hold,
  ) {
    this.plan = admitted.plan;
    this.promptTokens = promptTokensOf(this.plan);
    this.extrasNano = this.plan.web?.priceAtMostNano ?? 0n;
  }

  /** Output tokens that the hold pays for beyond the prompt. */
  get coveredTokens(): number {
    const heldNano = totalNano(this.hold.amount) - this.extrasNano - this.earlierNano;
    return tokensWithin(this.plan.model, this.promptTokens, heldNano);
  }

  /** Whether the answer is paid for however long it becomes. */
  get coversWholeAnswer(): boolean {
    return this.coveredTokens >= this.plan.outputTokensAtMost;
  }

  /** Output tokens to hold ahead: fewer, the less the account could spend when the request began. */
  get trancheTokens(): number {
    const { promptTokens, plan } = this;
    const { trancheTokens } = this.admitted;
    const { model } = plan;
    const share = totalNano(this.hold.before) / AHEAD_SHARE;
    const tokens = tokensWithin(model, promptTokens, costAtMostNano(model, promptTokens, 0) + share);
    return Math.min(trancheTokens, Math.max(tokens, SMALLEST_TRANCHE_TOKENS * plan.choices));
  }

  /** What the account could spend when the request began, less what it holds, or less a cost where that is known. */
  left(cost: Balances = this.hold.amount): Balances {
    const { usdNano, diemNano } = this.hold.before;
    return { usdNano: usdNano - cost.usdNano, diemNano: diemNano - cost.diemNano };
  }

  /** Why money was not to be had when it was last asked for. */
  get refusal(): Problem | undefined {
    return this.lastRefusal;
  }

  /** Takes what was bought out of what was held for it. What is left of that is for the answer. */
  buy(purchases: readonly Purchase[]): void {
    this.bought = purchases.map(purchaseLine);
    this.extrasNano = sumNano(this.bought);
  }

  /**
   * Takes the prompt as it goes to a backend. Holds money where it turned out larger, as one does when files have become text,
   * and for as much output as before or what can be had of it. Refuses: INSUFFICIENT_BALANCE and the codes of a key's limit.
   */
  async coverPrompt(promptTokens: number): Promise<void> {
    const { leastTokens } = this.admitted;
    const isLarger = promptTokens > this.promptTokens;
    const wasWhole = this.coversWholeAnswer;
    this.promptTokens = promptTokens;
    if (!isLarger && this.coveredTokens >= leastTokens) return;
    await this.coverBeginning(wasWhole);
    if (this.coveredTokens < leastTokens) throw this.refusal ?? new Problem('INSUFFICIENT_BALANCE');
  }

  /**
   * Goes on to ask a backend anew, after an answer that took so much. Whether money is held for the beginning of the next one
   * and for the most that is bought for it; what can't be had is missing from then on.
   */
  async askAgain(plan: ChatPlan, earlier: Usage): Promise<boolean> {
    const wasWhole = this.coversWholeAnswer;
    this.plan = plan;
    this.earlierNano = sumNano(priceUsages(plan.model, [earlier]));
    this.promptTokens = promptTokensOf(plan);
    this.extrasNano = plan.web?.priceAtMostNano ?? 0n;
    await this.coverBeginning(wasWhole);
    return this.coveredTokens >= this.admitted.leastTokens;
  }

  /** Holds money for so many output tokens, or for as many as the account can pay, where that is `atLeast`. */
  async cover(outputTokens: number, atLeast: number): Promise<void> {
    if (outputTokens <= this.coveredTokens) return;
    await this.holdFor({ amountNano: this.costNano(outputTokens), atLeastNano: this.costNano(atLeast) });
  }

  /**
   * Charges what was used and says what the account pays. Once resolved, the charge is durable. What the hold has not
   * and can't have is written off: it was delivered. An answer without output is not charged, nor is what was bought for it.
   */
  async settle({ backend, usage: last, earlier, durationMs }: Used): Promise<Balances> {
    const { request, plan } = this.admitted;
    const usages = earlier ? [earlier, last] : [last];
    const usage = totalUsage(usages);
    const answerLines = priceUsages(plan.model, usages);
    if (answerLines.length === 0) {
      await this.release();
      return NOTHING;
    }
    const lines = [...answerLines, ...(last.completionTokens > 0 ? this.bought : [])];
    const total = sumNano(lines);
    if (total > totalNano(this.hold.amount)) await this.growTo(total);
    const { cost, writeOffNano } = payFrom(this.hold.amount, total);
    const charge: Charge = {
      requestId: request.requestId,
      accountId: request.accountId,
      keyId: this.hold.keyId,
      model: plan.model.id,
      backend,
      at: new Date().toISOString(),
      usage,
      lines,
      cost,
      writeOffNano,
      durationMs: Math.round(durationMs),
    };
    this.open = false;
    try {
      await traced('settle', () => this.neighbours.ledger.settle(this.hold, charge));
    } catch (error) {
      this.neighbours.log.error(
        { err: error, requestId: request.requestId },
        'an answer could not be charged',
      );
      throw error;
    }
    await this.correctLimits(usage.promptTokens + usage.completionTokens);
    return cost;
  }

  /** Gives everything back but the request: nothing was delivered. Does nothing once settled. */
  async release(): Promise<void> {
    if (!this.open) return;
    await this.releaseHold();
    await this.correctLimits(0);
  }

  /**
   * Gives everything back, the request included: it was this service that could not serve it. Resolves once the limits
   * have it back, with what they are then; with nothing once settled.
   */
  async cancel(): Promise<Admission | undefined> {
    if (!this.open) return undefined;
    const { request, limits } = this.admitted;
    await Promise.all([
      this.releaseHold(),
      traced('cancel limits', () => this.neighbours.limiter.release(request, limits)),
    ]);
    return {
      ...limits,
      requests: { ...limits.requests, remaining: limits.requests.remaining + 1 },
      tokens: { ...limits.tokens, remaining: limits.tokens.remaining + request.tokens },
    };
  }

  /** A failure is logged: the hold lapses. */
  private async releaseHold(): Promise<void> {
    this.open = false;
    try {
      await traced('release hold', () => this.neighbours.ledger.release(this.hold));
    } catch (error) {
      const { requestId } = this.hold;
      this.neighbours.log.error({ err: error, requestId }, 'a hold could not be given back and will lapse');
    }
  }

  /** What the prompt, what is bought and so many output tokens cost at the most. */
  private costNano(outputTokens: number): bigint {
    const { plan, promptTokens, extrasNano, earlierNano } = this;
    return costAtMostNano(plan.model, promptTokens, outputTokens) + extrasNano + earlierNano;
  }

  /** Holds money for the beginning of an answer, or for all of it. */
  private coverBeginning(isWhole: boolean): Promise<void> {
    const { firstTokens, leastTokens } = this.admitted;
    const amountNano = this.costNano(isWhole ? this.plan.outputTokensAtMost : firstTokens);
    return this.holdFor({ amountNano, atLeastNano: this.costNano(leastTokens) });
  }

  /** Goes on behind the answer, which needs no more of the limits. */
  private correctLimits(tokens: number): Promise<void> {
    const { request, limits } = this.admitted;
    const { limiter, background } = this.neighbours;
    return background.run(
      'correcting limits',
      request.requestId,
      traced('correct limits', () => limiter.settle(request, limits, tokens)),
    );
  }

  /** Grows the hold to a charge as far as it can be had: whatever keeps it from growing, there is a charge to make. */
  private async growTo(amountNano: bigint): Promise<void> {
    try {
      await this.holdFor({ amountNano, atLeastNano: 0n });
    } catch (error) {
      const { requestId } = this.hold;
      this.neighbours.log.error({ err: error, requestId }, 'a hold could not grow to its charge');
    }
  }

  /** Grows the hold to an amount, or as far as the account can. */
  private async holdFor(wanted: { amountNano: bigint; atLeastNano: bigint }): Promise<void> {
    const held = totalNano(this.hold.amount);
    const moreNano = wanted.amountNano - held;
    if (moreNano <= 0n) return;
    const atLeastNano = wanted.atLeastNano > held ? wanted.atLeastNano - held : 0n;
    try {
      this.hold = await traced('extend hold', () =>
        this.neighbours.ledger.extend(this.hold, { moreNano, atLeastNano }),
      );
    } catch (error) {
      if (!isShortOfMoney(error)) throw error;
      this.lastRefusal = error;
    }
  }
}

/** A prompt with the most that is found for it, estimated. */
export function promptTokensOf({ promptTokens, web }: ChatPlan): number {
  return promptTokens + (web?.tokensAtMost ?? 0);
}

/** What there is too little money by: the account's, or what its key may spend. */
const MONEY_CODES: ReadonlySet<ProblemCode> = new Set<ProblemCode>([
  'INSUFFICIENT_BALANCE',
  'API_KEY_USD_SPEND_LIMIT_EXCEEDED',
  'API_KEY_DIEM_SPEND_LIMIT_EXCEEDED',
]);

/** Whether a request failed with a 503: it was not its caller's fault, nor did it get anything. */
export function isUnserved(error: unknown): boolean {
  return error instanceof Problem && error.status === 503;
}

/** Whether a refusal is for want of money. */
export function isShortOfMoney(error: unknown): error is Problem {
  return error instanceof Problem && MONEY_CODES.has(error.code);
}
