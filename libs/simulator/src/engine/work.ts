import type { Answer } from '../answer/answer.js';
import type { Connection } from '../http/connection.js';
import type { LogEntry, Phase } from './log.js';
import type { Pace } from './pace.js';

/** How far a request has come, read when its client leaves. */
export interface Progress {
  phase: Phase;
  /** Tokens delivered so far. */
  delivered: () => number;
}

/** The client's side of one request. */
export interface Exchange {
  readonly connection: Connection;
  readonly entry: LogEntry;
  readonly progress: Progress;
}

/** The answers of a call and when to give them. */
export interface Work {
  readonly answers: readonly Answer[];
  readonly cachedTokens: number;
  /** The times of the tokens, from the first on at each call. */
  readonly pace: () => Pace;
  /** To be called when the prompt is computed; returns the tokens new in the cache. */
  readonly prefilled: () => number;
}
