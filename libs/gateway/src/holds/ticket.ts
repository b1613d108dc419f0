import {
  type Admission,
  type AdmitRequest,
  type Balances,
  type Charge,
  type Hold,
  type Ledger,
  type Limiter,
  Problem,
  type Usage,
  totalNano,
} from '@svc/contracts';
import type { ChatPlan } from '../request/chat-plan.js';
import { costAtMostNano, payFrom, priceUsage, tokensWithin } from './price.js';
import { isShortOfMoney } from './short-of-money.js';

interface Neighbours {
  readonly limiter: Limiter;
  readonly ledger: Ledger;
}

interface Entry {
  readonly request: AdmitRequest;
  readonly limits: Admission;
  readonly plan: ChatPlan;
  /** Output tokens for which money is asked at first, and those without which the request can't begin. */
  readonly firstTokens: number;
  readonly leastTokens: number;
  /** The most output tokens that are held ahead. */
  readonly trancheTokens: number;
}

const NOTHING: Balances = { usdNano: 0n, diemNano: 0n };

/**
 * A request holds ahead at most this part of what its account could spend. What a request holds and then does not use
 * is out of reach for the others meanwhile: with many at once, large tranches would turn some away while there is money.
 */
const AHEAD_SHARE = 1_000n;

/** Fewer output tokens than this, for each choice, are not worth asking for. */
const SMALLEST_TRANCHE_TOKENS = 16;

/** A request that was let in: what it holds, until it is settled or released. */
export class Ticket {
  private open = true;
  private lastRefusal: Problem | undefined;

  constructor(
    private readonly neighbours: Neighbours,
    private entry: Entry,
    private hold: Hold,
  ) {}

  /** Output tokens that the hold pays for beyond the prompt. */
  get coveredTokens(): number {
    const { model, promptTokens } = this.entry.plan;
    return tokensWithin(model, promptTokens, totalNano(this.hold.amount));
  }

  /** Whether the answer is paid for however long it becomes. */
  get coversWholeAnswer(): boolean {
    return this.coveredTokens >= this.entry.plan.outputTokensAtMost;
  }

  /** Output tokens to hold ahead: fewer, the less the account could spend when the request began. */
  get trancheTokens(): number {
    const { plan, trancheTokens } = this.entry;
    const { model, promptTokens } = plan;
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
    const { firstTokens, leastTokens } = this.entry;
    const plan = { ...this.entry.plan, promptTokens };
    const outputTokens = this.coversWholeAnswer ? plan.outputTokensAtMost : firstTokens;
    this.entry = { ...this.entry, plan };
    await this.holdFor({
      amountNano: costAtMostNano(plan.model, promptTokens, outputTokens),
      atLeastNano: costAtMostNano(plan.model, promptTokens, leastTokens),
    });
    if (this.coveredTokens < leastTokens) throw this.refusal ?? new Problem('INSUFFICIENT_BALANCE');
  }

  /** Holds money for so many output tokens, or for as many as the account can pay, where that is `atLeast`. */
  async cover(outputTokens: number, atLeast: number): Promise<void> {
    if (outputTokens <= this.coveredTokens) return;
    const { model, promptTokens } = this.entry.plan;
    await this.holdFor({
      amountNano: costAtMostNano(model, promptTokens, outputTokens),
      atLeastNano: costAtMostNano(model, promptTokens, atLeast),
    });
  }

  /**
   * Charges what was used and says what the account pays. Once resolved, the charge is durable.
   * An answer without output is not charged.
   */
  async settle(backend: string, usage: Usage, startedMs: number): Promise<Balances> {
    const { request, plan } = this.entry;
    const lines = priceUsage(plan.model, usage);
    if (lines.length === 0) {
      await this.release();
      return NOTHING;
    }
    const total = lines.reduce((sum, line) => sum + line.amountNano, 0n);
    await this.holdFor({ amountNano: total, atLeastNano: 0n });
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
      durationMs: Math.round(performance.now() - startedMs),
    };
    this.open = false;
    await this.neighbours.ledger.settle(this.hold, charge);
    await this.correctLimits(usage.promptTokens + usage.completionTokens);
    return cost;
  }

  /** Gives everything back: nothing was delivered. Does nothing once settled. */
  async release(): Promise<void> {
    if (!this.open) return;
    this.open = false;
    await this.neighbours.ledger.release(this.hold);
    await this.correctLimits(0);
  }

  private correctLimits(tokens: number): Promise<void> {
    return this.neighbours.limiter.settle(this.entry.request, this.entry.limits, tokens);
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
