import { Problem } from '@svc/contracts/problems';
import { retrying } from '@svc/runtime';
import type { OutputHold, Shortage } from '../output/output-relay.js';
import type { ChatPlan } from '../request/chat-plan.js';
import type { Meter } from '../tokens/meter.js';
import type { ChatHold } from './chat-hold.js';

/** The longest tokens of common vocabularies. */
const BYTES_PER_TOKEN_AT_MOST = 128;

const DELAYS = { firstMs: 100, lastMs: 1_000 };

/** How long a response may wait for an unavailable ledger, and the signal that ends the wait. */
export interface LedgerWait {
  readonly ledgerTimeoutMs: number;
  readonly signal: AbortSignal;
}

/** Holds money ahead of a response's tokens, and reports when no money is left for them. */
export class ProgressiveHold implements OutputHold {
  private askAtTokens: number;

  constructor(
    private readonly hold: ChatHold,
    private readonly plan: ChatPlan,
    private readonly patience: LedgerWait,
  ) {
    this.askAtTokens = this.nextAsk(0);
  }

  /** The reason for the lack of money. */
  get refusal(): Problem {
    return this.hold.refusal ?? new Problem('INSUFFICIENT_BALANCE');
  }

  isAhead({ tokens }: Meter): boolean {
    return tokens < this.askAtTokens;
  }

  hasRoomFor(bytes: number, meter: Meter): boolean {
    return meter.tokensWith(bytes) < this.askAtTokens;
  }

  /**
   * While the ledger is unavailable, tokens that are covered continue and others wait for the ledger; after
   * the timeout it throws UNAVAILABLE.
   */
  async reach({ tokens: metered, pieces, bytes }: Meter): Promise<Shortage | undefined> {
    const { outputTokensAtMost: most } = this.plan;
    // The estimate of tokens may be too low, but there are at least as many tokens as pieces, and their
    // length is bounded.
    if (pieces > most || bytes > most * BYTES_PER_TOKEN_AT_MOST) return 'out_of_tokens';
    // Tokens beyond the maximum are never charged.
    const tokens = Math.min(metered, most);
    await this.cover(tokens);
    if (tokens > this.hold.coveredTokens) return 'out_of_money';
    // Extends the hold again after half of the covered tokens. The less money is left, the more often, down
    // to every token.
    this.askAtTokens = this.nextAsk(tokens);
    return undefined;
  }

  private async cover(tokens: number): Promise<void> {
    const { hold, plan, patience } = this;
    const ahead = Math.min(tokens + hold.trancheTokens, plan.outputTokensAtMost);
    const isAway = (error: unknown): boolean => error instanceof Problem && error.code === 'UNAVAILABLE';
    const attempt = async (): Promise<void> => {
      try {
        await hold.cover(ahead, tokens);
      } catch (error) {
        if (!isAway(error) || tokens > hold.coveredTokens) throw error;
      }
    };
    await retrying(attempt, {
      ...DELAYS,
      deadlineMs: patience.ledgerTimeoutMs,
      signal: patience.signal,
      isFinal: (error) => !isAway(error),
    });
  }

  /** Halfway to the end of the hold, or to the maximum of the response. */
  private nextAsk(tokens: number): number {
    const covered = this.hold.coveredTokens;
    const halfway = tokens + Math.max(1, Math.ceil((covered - tokens) / 2));
    return Math.min(halfway, this.plan.outputTokensAtMost);
  }
}
