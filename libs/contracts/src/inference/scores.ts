import { z } from 'zod';
import type { CallOrigin, Served } from './calls.js';

/** Documents to rank by what they say about a query. */
export const RankOrder = z.object({
  query: z.string(),
  documents: z.array(z.string()).min(1),
  /** Further members for the backend. Those above take precedence. */
  others: z.record(z.string(), z.unknown()),
});
export type RankOrder = z.infer<typeof RankOrder>;

/** What a backend says of the documents of an order. */
export const Ranks = z.object({
  /** The relevance of each document, in order. All are finite. */
  scores: z.array(z.number()),
  /** The tokens of all texts, if the backend counted them. */
  promptTokens: z.int().nonnegative().optional(),
  /** What the backend charges for, if it sells searches. */
  searches: z.int().nonnegative().optional(),
});
export type Ranks = z.infer<typeof Ranks>;

export interface RankCall extends CallOrigin {
  readonly order: RankOrder;
}

/** Calls of models that judge texts. Rejects as `Chat` does. */
export abstract class Scores {
  abstract rank(call: RankCall, signal: AbortSignal): Promise<Served<Ranks>>;
}
