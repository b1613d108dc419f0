import type { ChargeLine, Usage } from '@svc/contracts/messages';
import { Problem } from '@svc/contracts/problems';
import { type PaidOperation, sumNano, type Reservation } from '@svc/paid/paid';
import type { ChatPlan } from '../request/chat-plan.js';
import { costAtMostNano, priceUsages, tokensWithin } from './chat-price.js';

/** Output tokens to hold for. */
interface HoldSizes {
  /** At first, and the minimum without which the completion cannot begin. */
  readonly firstTokens: number;
  readonly leastTokens: number;
  /** The most to hold ahead. */
  readonly trancheTokens: number;
}

/** Output tokens per choice to hold for at first. Low, since the hold reports how much money is available. */
const FIRST_TOKENS = 64;

/**
 * A request holds ahead at most this share of its account's balance. Money that a request holds but does not
 * use is unavailable to others: with many concurrent requests, large tranches would cause refusals despite a
 * sufficient balance.
 */
const AHEAD_SHARE = 1_000n;

/** The smallest tranche, in output tokens per choice. */
const SMALLEST_TRANCHE_TOKENS = 16;

export function holdSizes(plan: ChatPlan, trancheTokensPerChoice: number): HoldSizes {
  const { choices, outputTokensAtMost } = plan;
  const trancheTokens = trancheTokensPerChoice * choices;
  const firstTokens = Math.min(outputTokensAtMost, trancheTokens, FIRST_TOKENS * choices);
  // A response may begin if the balance pays for one token of each choice.
  return { firstTokens, leastTokens: Math.min(choices, firstTokens), trancheTokens };
}

/**
 * A completion as a paid operation. One that is not streamed is held for as a whole if the ledger finds that
 * small compared to the balance.
 */
export function chatOperation(plan: ChatPlan, sizes: HoldSizes): PaidOperation {
  const { model, sale, stream, outputTokensAtMost } = plan;
  const promptTokens = promptTokensOf(plan);
  const costNano = (outputTokens: number): bigint =>
    costAtMostNano(model, promptTokens, outputTokens) + (plan.web?.priceAtMostNano ?? 0n);
  const expectedTokens = stream ? Math.min(outputTokensAtMost, sizes.trancheTokens) : outputTokensAtMost;
  return {
    sale,
    amounts: { tokens: promptTokens + expectedTokens },
    hold: {
      amountNano: costNano(sizes.firstTokens),
      atLeastNano: costNano(sizes.leastTokens),
      ...(!stream && { preferredNano: costNano(outputTokensAtMost) }),
    },
  };
}

const NOTHING: readonly ChargeLine[] = [];

/** The hold of a completion: what it covers in tokens, and what the completion has cost so far. */
export class ChatHold {
  /** Tokens of the prompt that is sent to a backend. */
  private promptTokens: number;
  /** The cost of the earlier backend call. */
  private earlierNano = 0n;
  /** What is held for purchases, and the purchases made. */
  private extrasNano: bigint;
  private bought: readonly ChargeLine[] = [];

  /** `plan` is that of the current backend call. */
  constructor(
    private readonly reservation: Reservation,
    private readonly sizes: HoldSizes,
    private plan: ChatPlan,
  ) {
    this.promptTokens = promptTokensOf(plan);
    this.extrasNano = plan.web?.priceAtMostNano ?? 0n;
  }

  /** Output tokens that the hold pays for beyond the prompt. */
  get coveredTokens(): number {
    const heldNano = this.reservation.heldNano - this.extrasNano - this.earlierNano;
    return tokensWithin(this.plan.model, this.promptTokens, heldNano);
  }

  /** Whether the hold covers the response at its maximum length. */
  get coversWholeOutput(): boolean {
    return this.coveredTokens >= this.plan.outputTokensAtMost;
  }

  /** Output tokens to hold ahead: fewer, the lower the account's balance was when the request began. */
  get trancheTokens(): number {
    const { promptTokens, plan } = this;
    const { model } = plan;
    const share = this.reservation.beforeNano / AHEAD_SHARE;
    const tokens = tokensWithin(model, promptTokens, costAtMostNano(model, promptTokens, 0) + share);
    return Math.min(this.sizes.trancheTokens, Math.max(tokens, SMALLEST_TRANCHE_TOKENS * plan.choices));
  }

  /** The reason why money was last refused. */
  get refusal(): Problem | undefined {
    return this.reservation.refusal;
  }

  /** Replaces the amount held for purchases by their price. The rest becomes available for the response. */
  buy(purchases: readonly ChargeLine[] | undefined): void {
    this.bought = purchases ?? NOTHING;
    this.extrasNano = purchases ? sumNano(purchases) : 0n;
  }

  /**
   * Sets the size of the prompt that is sent to a backend. Extends the hold if it became larger, for example
   * because files became text, to cover as much output as before or as the account can pay. Refuses:
   * INSUFFICIENT_BALANCE and the codes of a key's limit.
   */
  coverPrompt(promptTokens: number): Promise<void> | undefined {
    if (promptTokens === this.promptTokens && this.coveredTokens >= this.sizes.leastTokens) return undefined;
    return this.coverOther(promptTokens);
  }

  private async coverOther(promptTokens: number): Promise<void> {
    const { leastTokens } = this.sizes;
    const isLarger = promptTokens > this.promptTokens;
    const wasWhole = this.coversWholeOutput;
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
    const wasWhole = this.coversWholeOutput;
    this.plan = plan;
    this.earlierNano = sumNano(priceUsages(plan.model, [earlier]));
    this.promptTokens = promptTokensOf(plan);
    this.extrasNano = plan.web?.priceAtMostNano ?? 0n;
    await this.coverBeginning(wasWhole);
    return this.coveredTokens >= this.sizes.leastTokens;
  }

  /**
   * Extends the hold to this number of output tokens, or to as many as the account can pay, if that is
   * `atLeast`.
   */
  async cover(outputTokens: number, atLeast: number): Promise<void> {
    if (outputTokens <= this.coveredTokens) return;
    const wanted = { amountNano: this.costNano(outputTokens), atLeastNano: this.costNano(atLeast) };
    await this.reservation.holdFor(wanted);
  }

  /**
   * The lines of the charge for the backend calls of a completion. Without output it costs nothing, and if
   * the last call has none, neither do the purchases.
   */
  lines(usages: readonly Usage[]): ChargeLine[] {
    const lines = priceUsages(this.plan.model, usages);
    const hasOutput = (usages.at(-1)?.completionTokens ?? 0) > 0;
    return hasOutput ? [...lines, ...this.bought] : lines;
  }

  /** The highest possible cost of the prompt, purchases and this number of output tokens. */
  private costNano(outputTokens: number): bigint {
    const { plan, promptTokens, extrasNano, earlierNano } = this;
    return costAtMostNano(plan.model, promptTokens, outputTokens) + extrasNano + earlierNano;
  }

  /** Extends the hold to the beginning of a response, or to all of it. */
  private coverBeginning(isWhole: boolean): Promise<void> {
    const { firstTokens, leastTokens } = this.sizes;
    const amountNano = this.costNano(isWhole ? this.plan.outputTokensAtMost : firstTokens);
    return this.reservation.holdFor({ amountNano, atLeastNano: this.costNano(leastTokens) });
  }
}

/** Estimated tokens of a prompt with the most that web research adds. */
function promptTokensOf({ promptTokens, web }: ChatPlan): number {
  return promptTokens + (web?.tokensAtMost ?? 0);
}
