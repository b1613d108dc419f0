import { Random } from '../random.js';

/** How busy the engine is with other requests when one begins, and what it has cached of its prompt. */
export interface EngineState {
  readonly cachedTokens: number;
  /** How long the prompt waits for others before it is computed. */
  readonly queuedMs: number;
  /** The factor by which other sequences slow down the time between two tokens. */
  readonly slowdown: number;
}

export interface PaceOptions extends Pick<EngineState, 'queuedMs' | 'slowdown'> {
  readonly ttftMs: number;
  readonly itlMs: number;
  /** The fraction by which each wait varies, uniformly in both directions. */
  readonly jitter: number;
  readonly prefillUsPerToken: number;
}

/** The times at which the tokens of one completion are due, in milliseconds since decoding could begin. */
export class Pace {
  readonly prefillMs: number;
  /** Whether no token ever waits. */
  readonly isInstant: boolean;
  private readonly options: PaceOptions;
  private readonly random: Random;
  private dueMs: number;

  constructor(options: PaceOptions, computedTokens: number, seed: number) {
    this.options = options;
    this.random = new Random(seed);
    this.prefillMs =
      options.queuedMs + this.vary(options.ttftMs + prefillMs(options.prefillUsPerToken, computedTokens));
    this.dueMs = this.prefillMs;
    this.isInstant = this.prefillMs === 0 && options.itlMs === 0;
  }

  /** The time of the next token; the first is due when prefill ends. */
  next(): number {
    const due = this.dueMs;
    this.dueMs += this.vary(this.options.itlMs * this.options.slowdown);
    return due;
  }

  private vary(ms: number): number {
    if (ms === 0 || this.options.jitter === 0) return ms;
    return Math.max(0, ms * (1 + this.options.jitter * (2 * this.random.next() - 1)));
  }
}

/** How long prompts of this many tokens that are not cached take. */
export function prefillMs(usPerToken: number, computedTokens: number): number {
  return (usPerToken * computedTokens) / 1000;
}
