import { Problem } from '@svc/contracts';
import type { ChatPlan } from '../request/chat-plan.js';
import type { Meter } from '../tokens/meter.js';
import type { Reservation } from './reservation.js';

/** What ends an answer before its backend does; to a client both are `length`. */
export type Shortage = 'out_of_money' | 'out_of_tokens';

/** Holds money ahead of an answer's tokens, and says when there is none left for them. */
export class ProgressiveHold {
  private askAtTokens: number;

  constructor(
    private readonly reservation: Reservation,
    private readonly plan: ChatPlan,
  ) {
    this.askAtTokens = halfway(0, reservation.coveredTokens);
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
  async reach({ tokens, pieces }: Meter): Promise<Shortage | undefined> {
    const { reservation, plan } = this;
    // Tokens are estimated and may be fewer than that, but there are never fewer than pieces.
    if (pieces > plan.outputTokensAtMost) return 'out_of_tokens';
    const ahead = Math.min(tokens + reservation.trancheTokens, plan.outputTokensAtMost);
    await reservation.cover(Math.max(tokens, ahead), tokens);
    if (tokens > reservation.coveredTokens) return 'out_of_money';
    // With half of it used the next is asked for. The less there is to be had the more often, down to every token.
    this.askAtTokens = halfway(tokens, reservation.coveredTokens);
    return undefined;
  }
}

function halfway(tokens: number, covered: number): number {
  return tokens + Math.max(1, Math.ceil((covered - tokens) / 2));
}
