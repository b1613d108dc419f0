import {
  type Admission,
  type AdmitRequest,
  type Balances,
  type Charge,
  type Hold,
  type Ledger,
  type Limiter,
  Problem,
  type ProblemCode,
  type Usage,
  totalNano,
} from '@svc/contracts';
import type { Logger } from '@svc/runtime';
import type { BackgroundWork } from '../http/background-work.js';
import type { ChatPlan } from '../request/chat-plan.js';
import { costAtMostNano, payFrom, priceUsage, tokensWithin } from './price.js';

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
  private lastRefusal: Problem | undefined;

  constructor(
    private readonly neighbours: Neighbours,
    private readonly admitted: Admitted,
    private hold: Hold,
  ) {
    this.promptTokens = admitted.plan.promptTokens;
  }

  /** Output tokens that the hold pays for beyond the prompt. */
  get coveredTokens(): number {
    return tokensWithin(this.admitted.plan.model, this.promptTokens, totalNano(this.hold.amount));
  }

  /** Whether the answer is paid for however long it becomes. */
  get coversWholeAnswer(): boolean {
    return this.coveredTokens >= this.admitted.plan.outputTokensAtMost;
  }

  /** Output tokens to hold ahead: fewer, the less the account could spend when the request began. */
  get trancheTokens(): number {
    const { promptTokens } = this;
    const { plan, trancheTokens } = this.admitted;
    const { model } = plan;
    const share = totalNano(this.hold.before) / AHEAD_SHARE;
    const tokens = tokensWithin(model, promptTokens, costAtMostNano(model, promptTokens, 0) + share);
    return Math.min(trancheTokens, Math.max(tokens, SMALLEST_TRANCHE_TOKENS * plan.choices));
  }

  /** Why money was not to be had when it was last asked for. */
  get refusal(): Problem | undefined {
    return this.lastRefusal;
  }

  /**
   * Holds money for a prompt that turned out larger, as one does when files have become text, and for as much output
   * as before or what can be had of it. Refuses: INSUFFICIENT_BALANCE and the codes of a key's limit.
   */
  async coverPrompt(promptTokens: number): Promise<void> {
    if (promptTokens <= this.promptTokens) return;
    const { plan, firstTokens, leastTokens } = this.admitted;
    const outputTokens = this.coversWholeAnswer ? plan.outputTokensAtMost : firstTokens;
    this.promptTokens = promptTokens;
    await this.holdFor({
      amountNano: costAtMostNano(plan.model, promptTokens, outputTokens),
      atLeastNano: costAtMostNano(plan.model, promptTokens, leastTokens),
    });
    if (this.coveredTokens < leastTokens) throw this.refusal ?? new Problem('INSUFFICIENT_BALANCE');
  }

  /** Holds money for so many output tokens, or for as many as the account can pay, where that is `atLeast`. */
  async cover(outputTokens: number, atLeast: number): Promise<void> {
    if (outputTokens <= this.coveredTokens) return;
    const { promptTokens } = this;
    const { model } = this.admitted.plan;
    await this.holdFor({
      amountNano: costAtMostNano(model, promptTokens, outputTokens),
      atLeastNano: costAtMostNano(model, promptTokens, atLeast),
    });
  }

  /**
   * Charges what was used and says what the account pays. Once resolved, the charge is durable. What the hold has not
   * and can't have is written off: it was delivered. An answer without output is not charged.
   */
  async settle({ backend, usage, durationMs }: Used): Promise<Balances> {
    const { request, plan } = this.admitted;
    const lines = priceUsage(plan.model, usage);
    if (lines.length === 0) {
      await this.release();
      return NOTHING;
    }
    const total = lines.reduce((sum, line) => sum + line.amountNano, 0n);
    await this.growTo(total);
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
      await this.neighbours.ledger.settle(this.hold, charge);
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

  /** Gives everything back: nothing was delivered. Does nothing once settled. A failure is logged: the hold lapses. */
  async release(): Promise<void> {
    if (!this.open) return;
    this.open = false;
    try {
      await this.neighbours.ledger.release(this.hold);
    } catch (error) {
      const { requestId } = this.hold;
      this.neighbours.log.error({ err: error, requestId }, 'a hold could not be given back and will lapse');
    }
    await this.correctLimits(0);
  }

  /** Goes on behind the answer, which needs no more of the limits. */
  private correctLimits(tokens: number): Promise<void> {
    const { request, limits } = this.admitted;
    const { limiter, background } = this.neighbours;
    return background.run('correcting limits', request.requestId, limiter.settle(request, limits, tokens));
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
      this.hold = await this.neighbours.ledger.extend(this.hold, { moreNano, atLeastNano });
    } catch (error) {
      if (!isShortOfMoney(error)) throw error;
      this.lastRefusal = error;
    }
  }
}

/** What there is too little money by: the account's, or what its key may spend. */
const MONEY_CODES: ReadonlySet<ProblemCode> = new Set<ProblemCode>([
  'INSUFFICIENT_BALANCE',
  'API_KEY_USD_SPEND_LIMIT_EXCEEDED',
  'API_KEY_DIEM_SPEND_LIMIT_EXCEEDED',
]);

function isShortOfMoney(error: unknown): error is Problem {
  return error instanceof Problem && MONEY_CODES.has(error.code);
}
