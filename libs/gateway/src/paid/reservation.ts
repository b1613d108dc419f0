import {
  type Admission,
  type AdmitRequest,
  type Balances,
  type ChargeLine,
  type Hold,
  type Ledger,
  type Limiter,
  NO_MONEY,
  Problem,
  type ProblemCode,
  type Usage,
  totalNano,
} from '@svc/contracts';
import type { Logger } from '@svc/runtime';
import { traced } from '@svc/telemetry';
import type { BackgroundWork } from '../http/background-work.js';
import type { ChatPlan } from '../request/chat-plan.js';
import { chargeOf, leftOf } from './charge.js';
import { costAtMostNano, priceUsages, sumNano, tokensWithin, totalUsage } from './price.js';

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
  /** Output tokens to hold for at first, and the minimum without which the request cannot begin. */
  readonly firstTokens: number;
  readonly leastTokens: number;
  /** The most output tokens to hold ahead. */
  readonly trancheTokens: number;
}

/** What to charge for a response. */
interface Used {
  readonly backend: string;
  readonly usage: Usage;
  /** The usage of an earlier backend call for the same response. */
  readonly earlier?: Usage | undefined;
  readonly durationMs: number;
}

/**
 * A request holds ahead at most this share of its account's balance. Money that a request holds but does not
 * use is unavailable to others: with many concurrent requests, large tranches would cause refusals despite a
 * sufficient balance.
 */
const AHEAD_SHARE = 1_000n;

/** The smallest tranche, in output tokens per choice. */
const SMALLEST_TRANCHE_TOKENS = 16;

/** The limits and money reserved for an admitted request, until it is settled or released. */
export class Reservation {
  private open = true;
  /** Tokens of the prompt that is sent to a backend. */
  private promptTokens: number;
  /** The plan of the current backend call, and the cost of the earlier one. */
  private plan: ChatPlan;
  private earlierNano = 0n;
  private lastRefusal: Problem | undefined;
  /** What is held for purchases, and the purchases made. */
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

  /** Whether the hold covers the response at its maximum length. */
  get coversWholeAnswer(): boolean {
    return this.coveredTokens >= this.plan.outputTokensAtMost;
  }

  /** Output tokens to hold ahead: fewer, the lower the account's balance was when the request began. */
  get trancheTokens(): number {
    const { promptTokens, plan } = this;
    const { trancheTokens } = this.admitted;
    const { model } = plan;
    const share = totalNano(this.hold.before) / AHEAD_SHARE;
    const tokens = tokensWithin(model, promptTokens, costAtMostNano(model, promptTokens, 0) + share);
    return Math.min(trancheTokens, Math.max(tokens, SMALLEST_TRANCHE_TOKENS * plan.choices));
  }

  /** The account's balance at the beginning of the request less the hold, or less the cost if known. */
  left(cost: Balances = this.hold.amount): Balances {
    return leftOf(this.hold, cost);
  }

  /** The reason why money was last refused. */
  get refusal(): Problem | undefined {
    return this.lastRefusal;
  }

  /** Replaces the amount held for purchases by their price. The rest becomes available for the response. */
  buy(purchases: readonly ChargeLine[]): void {
    this.bought = purchases;
    this.extrasNano = sumNano(this.bought);
  }

  /**
   * Sets the size of the prompt that is sent to a backend. Extends the hold if it became larger, for example
   * because files became text, to cover as much output as before or as the account can pay. Refuses:
   * INSUFFICIENT_BALANCE and the codes of a key's limit.
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
   * Prepares for a follow-up call after a response with this usage. Returns whether the hold covers the
   * beginning of the next response and the highest price of its purchases.
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

  /**
   * Extends the hold to this number of output tokens, or to as many as the account can pay, if that is
   * `atLeast`.
   */
  async cover(outputTokens: number, atLeast: number): Promise<void> {
    if (outputTokens <= this.coveredTokens) return;
    await this.holdFor({ amountNano: this.costNano(outputTokens), atLeastNano: this.costNano(atLeast) });
  }

  /**
   * Charges the usage and returns what the account pays. Once resolved, the charge is durable. What the hold
   * cannot cover is written off, since it was delivered. A response without output is not charged, nor are
   * its purchases.
   */
  async settle({ backend, usage: last, earlier, durationMs }: Used): Promise<Balances> {
    const { request, plan } = this.admitted;
    const usages = earlier ? [earlier, last] : [last];
    const usage = totalUsage(usages);
    const answerLines = priceUsages(plan.model, usages);
    if (answerLines.length === 0) {
      await this.release();
      return NO_MONEY;
    }
    const lines = [...answerLines, ...(last.completionTokens > 0 ? this.bought : [])];
    const total = sumNano(lines);
    if (total > totalNano(this.hold.amount)) await this.growTo(total);
    const charge = chargeOf(this.hold, { model: plan.model.id, backend, usage, lines, durationMs });
    this.open = false;
    try {
      await traced('settle', () => this.neighbours.ledger.settle(this.hold, charge));
    } catch (error) {
      this.neighbours.log.error(
        { err: error, requestId: request.requestId },
        'a response could not be charged',
      );
      throw error;
    }
    await this.correctLimits(usage.promptTokens + usage.completionTokens);
    return charge.cost;
  }

  /**
   * Releases the hold and the tokens counted against the limits, but not the counted request, since nothing
   * was delivered. Does nothing once settled.
   */
  async release(): Promise<void> {
    if (!this.open) return;
    await this.releaseHold();
    await this.correctLimits(0);
  }

  /**
   * Releases everything including the counted request, because this service could not serve it. Resolves with
   * the new limits once they are updated; with undefined once settled.
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

  /** A failure is logged; the hold then expires. */
  private async releaseHold(): Promise<void> {
    this.open = false;
    try {
      await traced('release hold', () => this.neighbours.ledger.release(this.hold));
    } catch (error) {
      const { requestId } = this.hold;
      this.neighbours.log.error({ err: error, requestId }, 'a hold could not be released and will expire');
    }
  }

  /** The highest possible cost of the prompt, purchases and this number of output tokens. */
  private costNano(outputTokens: number): bigint {
    const { plan, promptTokens, extrasNano, earlierNano } = this;
    return costAtMostNano(plan.model, promptTokens, outputTokens) + extrasNano + earlierNano;
  }

  /** Extends the hold to the beginning of a response, or to all of it. */
  private coverBeginning(isWhole: boolean): Promise<void> {
    const { firstTokens, leastTokens } = this.admitted;
    const amountNano = this.costNano(isWhole ? this.plan.outputTokensAtMost : firstTokens);
    return this.holdFor({ amountNano, atLeastNano: this.costNano(leastTokens) });
  }

  /** Runs after the response, which does not wait for it. */
  private correctLimits(tokens: number): Promise<void> {
    const { request, limits } = this.admitted;
    const { limiter, background } = this.neighbours;
    return background.run(
      'correcting limits',
      request.requestId,
      traced('correct limits', () => limiter.settle(request, limits, tokens)),
    );
  }

  /** Extends the hold to the amount of a charge as far as possible. A failure must not prevent the charge. */
  private async growTo(amountNano: bigint): Promise<void> {
    try {
      await this.holdFor({ amountNano, atLeastNano: 0n });
    } catch (error) {
      const { requestId } = this.hold;
      this.neighbours.log.error(
        { err: error, requestId },
        'a hold could not be extended to the amount of its charge',
      );
    }
  }

  /** Extends the hold to an amount, or as far as the account can pay. */
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

/** Estimated tokens of a prompt with the most that web research adds. */
export function promptTokensOf({ promptTokens, web }: ChatPlan): number {
  return promptTokens + (web?.tokensAtMost ?? 0);
}

/** The account lacks money, or its key's spending limit is reached. */
const MONEY_CODES: ReadonlySet<ProblemCode> = new Set<ProblemCode>([
  'INSUFFICIENT_BALANCE',
  'API_KEY_USD_SPEND_LIMIT_EXCEEDED',
  'API_KEY_DIEM_SPEND_LIMIT_EXCEEDED',
]);

/** Whether a request failed with a 503: it was not the caller's fault, and nothing was delivered. */
export function isUnserved(error: unknown): boolean {
  return error instanceof Problem && error.status === 503;
}

/** Whether a request was refused for lack of money. */
export function isShortOfMoney(error: unknown): error is Problem {
  return error instanceof Problem && MONEY_CODES.has(error.code);
}
