import { setTimeout as sleep } from 'node:timers/promises';
import { Problem } from '@svc/contracts';
import type { ChatPlan } from '../request/chat-plan.js';
import type { Meter } from '../tokens/meter.js';
import type { Reservation } from './reservation.js';

/** What ends an answer before its backend does; to a client both are `length`. */
export type Shortage = 'out_of_money' | 'out_of_tokens';

/** The longest tokens of common vocabularies. */
const BYTES_PER_TOKEN_AT_MOST = 128;

const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 1_000;

/** How long an answer may wait for money that can't be asked for, and what ends the wait. */
export interface Patience {
  readonly patienceMs: number;
  readonly signal: AbortSignal;
}

/** Holds money ahead of an answer's tokens, and says when there is none left for them. */
export class ProgressiveHold {
  private askAtTokens: number;

  constructor(
    private readonly reservation: Reservation,
    private readonly plan: ChatPlan,
    private readonly patience: Patience,
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

  /**
   * Holds more ahead. What keeps the newest tokens from being delivered, if anything does. Where the ledger can't be asked,
   * what is held goes on, and what is not waits for the ledger to be back; then it refuses with UNAVAILABLE.
   */
  async reach({ tokens: metered, pieces, bytes }: Meter): Promise<Shortage | undefined> {
    const { outputTokensAtMost: most } = this.plan;
    // Tokens are estimated and may be fewer than that, but there are never fewer than pieces, nor is one of them endless.
    if (pieces > most || bytes > most * BYTES_PER_TOKEN_AT_MOST) return 'out_of_tokens';
    // More are never charged.
    const tokens = Math.min(metered, most);
    await this.cover(tokens);
    if (tokens > this.reservation.coveredTokens) return 'out_of_money';
    // With half of it used the next is asked for. The less there is to be had the more often, down to every token.
    this.askAtTokens = this.nextAsk(tokens);
    return undefined;
  }

  private async cover(tokens: number): Promise<void> {
    const { reservation, plan, patience } = this;
    const ahead = Math.min(tokens + reservation.trancheTokens, plan.outputTokensAtMost);
    const endMs = performance.now() + patience.patienceMs;
    for (let retryMs = FIRST_RETRY_MS; ; retryMs = Math.min(2 * retryMs, LAST_RETRY_MS)) {
      try {
        await reservation.cover(ahead, tokens);
        return;
      } catch (error) {
        if (!(error instanceof Problem && error.code === 'UNAVAILABLE')) throw error;
        if (tokens <= reservation.coveredTokens) return;
        if (performance.now() + retryMs > endMs) throw error;
        await sleep(retryMs, undefined, { signal: patience.signal });
      }
    }
  }

  /** Halfway to where the hold ends, and where the answer has to. */
  private nextAsk(tokens: number): number {
    const covered = this.reservation.coveredTokens;
    const halfway = tokens + Math.max(1, Math.ceil((covered - tokens) / 2));
    return Math.min(halfway, this.plan.outputTokensAtMost);
  }
}
