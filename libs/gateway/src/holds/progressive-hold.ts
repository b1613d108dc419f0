import { Problem } from '@svc/contracts';
import type { ChatPlan } from '../request/chat-plan.js';
import type { Meter } from '../tokens/meter.js';
import type { Reservation } from './reservation.js';

/** What ends an answer before its backend does; to a client both are `length`. */
export type Shortage = 'out_of_money' | 'out_of_tokens';

/** The longest tokens of common vocabularies. */
const BYTES_PER_TOKEN_AT_MOST = 128;

/** Holds money ahead of an answer's tokens, and says when there is none left for them. */
export class ProgressiveHold {
  private askAtTokens: number;

  constructor(
    private readonly reservation: Reservation,
    private readonly plan: ChatPlan,
  ) {
    this.askAtTokens = this.nextAsk(0);
  }

  /** Why there is no money. */
  get refusal(): Problem {
    return this.reservation.refusal ?? new Problem('INSUFFICIENT_BALANCE');
  }

  /** Whether what was metered is held for and nothing needs to be asked: a wait for each chunk would cost more than it. */
  isAhead({ tokens }: Meter): boolean {
    return tokens < this.askAtTokens;
  }

  /** Holds more ahead. What keeps the newest tokens from being delivered, if anything does. */
  async reach({ tokens: metered, pieces, bytes }: Meter): Promise<Shortage | undefined> {
    const { reservation, plan } = this;
    const { outputTokensAtMost: most } = plan;
    // Tokens are estimated and may be fewer than that, but there are never fewer than pieces, nor is one of them endless.
    if (pieces > most || bytes > most * BYTES_PER_TOKEN_AT_MOST) return 'out_of_tokens';
    // More are never charged.
    const tokens = Math.min(metered, most);
    await reservation.cover(Math.min(tokens + reservation.trancheTokens, most), tokens);
    if (tokens > reservation.coveredTokens) return 'out_of_money';
    // With half of it used the next is asked for. The less there is to be had the more often, down to every token.
    this.askAtTokens = this.nextAsk(tokens);
    return undefined;
  }

  /** Halfway to where the hold ends, and where the answer has to. */
  private nextAsk(tokens: number): number {
    const covered = this.reservation.coveredTokens;
    const halfway = tokens + Math.max(1, Math.ceil((covered - tokens) / 2));
    return Math.min(halfway, this.plan.outputTokensAtMost);
  }
}
