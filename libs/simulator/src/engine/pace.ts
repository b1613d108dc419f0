import { Random } from '../random.js';

export interface PaceOptions {
  readonly ttftMs: number;
  readonly itlMs: number;
  /** Fraction by which each wait varies, evenly, to both sides. */
  readonly jitter: number;
  readonly prefillUsPerToken: number;
}

/** When each token of one answer is due, in milliseconds since decoding could begin. */
export class Pace {
  readonly prefillMs: number;
  /** True when no token ever waits. */
  readonly isInstant: boolean;
  readonly #options: PaceOptions;
  readonly #random: Random;
  #dueMs: number;

  constructor(options: PaceOptions, computedTokens: number, seed: number) {
    this.#options = options;
    this.#random = new Random(seed);
    this.prefillMs = this.#vary(options.ttftMs + (options.prefillUsPerToken * computedTokens) / 1000);
    this.#dueMs = this.prefillMs;
    this.isInstant = this.prefillMs === 0 && options.itlMs === 0;
  }

  /** When the next token is due; the first is due when prefill ends. */
  next(): number {
    const due = this.#dueMs;
    this.#dueMs += this.#vary(this.#options.itlMs);
    return due;
  }

  #vary(ms: number): number {
    if (ms === 0 || this.#options.jitter === 0) return ms;
    return Math.max(0, ms * (1 + this.#options.jitter * (2 * this.#random.next() - 1)));
  }
}
