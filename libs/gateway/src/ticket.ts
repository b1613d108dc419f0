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
import type { ChatPlan } from './chat-plan.js';
import { costAtMostNano, payFrom, priceUsage, tokensWithin } from './price.js';

interface Neighbours {
  readonly limiter: Limiter;
  readonly ledger: Ledger;
}

interface Entry {
  readonly request: AdmitRequest;
  readonly limits: Admission;
  readonly plan: ChatPlan;
  /** Output tokens for which money is asked at first, and those without which the request can't begin. */
  readonly heldTokens: number;
  readonly leastTokens: number;
}

const NOTHING: Balances = { usdNano: 0n, diemNano: 0n };

/** A request that was let in: what it holds, until it is settled or released. */
export class Ticket {
  private open = true;
  private covered: number;

  constructor(
    private readonly neighbours: Neighbours,
    private entry: Entry,
    private hold: Hold,
  ) {
    this.covered = Math.min(entry.heldTokens, this.tokensHeld());
  }

  /** Output tokens for which money is held. */
  get coveredTokens(): number {
    return this.covered;
  }

  /** What the account could spend just before this request. */
  get before(): Balances {
    return this.hold.before;
  }

  /**
   * Holds money for a prompt that turned out larger, as one does when files have become text.
   * Refuses: INSUFFICIENT_BALANCE.
   */
  async coverPrompt(promptTokens: number): Promise<void> {
    const { heldTokens, leastTokens } = this.entry;
    const plan = { ...this.entry.plan, promptTokens };
    this.entry = { ...this.entry, plan };
    await this.holdFor({
      amountNano: costAtMostNano(plan.model, promptTokens, heldTokens),
      atLeastNano: costAtMostNano(plan.model, promptTokens, leastTokens),
    });
    this.covered = Math.min(heldTokens, this.tokensHeld());
    if (this.covered < leastTokens) throw new Problem('INSUFFICIENT_BALANCE');
  }

  /** Holds money for so many output tokens, or for as many as the account can pay, where that is `atLeast`. */
  async cover(outputTokens: number, atLeast: number): Promise<void> {
    if (outputTokens <= this.covered) return;
    const { model, promptTokens } = this.entry.plan;
    await this.holdFor({
      amountNano: costAtMostNano(model, promptTokens, outputTokens),
      atLeastNano: costAtMostNano(model, promptTokens, atLeast),
    });
    this.covered = Math.min(outputTokens, this.tokensHeld());
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

  /** Output tokens that the hold can pay beyond the prompt. */
  private tokensHeld(): number {
    const { model, promptTokens } = this.entry.plan;
    return tokensWithin(model, promptTokens, totalNano(this.hold.amount));
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
      if (!(error instanceof Problem) || error.code !== 'INSUFFICIENT_BALANCE') throw error;
    }
  }
}
