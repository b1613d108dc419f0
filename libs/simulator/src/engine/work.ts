import type { SimulatedCompletion } from '../completion/compose-completion.js';
import type { ClientConnection } from '../http/connection.js';
import type { LogEntry, Phase } from './log.js';
import type { Pace } from './pace.js';

/** The progress of a request, read when its client leaves. */
export interface Progress {
  phase: Phase;
  /** Tokens delivered so far. */
  delivered: () => number;
}

/** The client's side of one request. */
export interface ClientExchange {
  readonly connection: ClientConnection;
  readonly entry: LogEntry;
  readonly progress: Progress;
}

/** The choices of a call and their timing. */
export interface PlannedResponses {
  readonly completions: readonly SimulatedCompletion[];
  readonly cachedTokens: number;
  /** The times of the tokens; each call starts from the first. */
  readonly pace: () => Pace;
  /** Called when the prompt is computed; returns the tokens new in the cache. */
  readonly prefilled: () => number;
}
