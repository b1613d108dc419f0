import { z } from 'zod';
import { Guard } from '../catalog/moderation-models.js';
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

const ModeratedPart = z.union([
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('image_url'), image_url: z.object({ url: z.string() }) }),
]);

/** Inputs to judge. */
export const ModerationOrder = z.object({
  /** Each a text, or the parts of a message. */
  inputs: z.array(z.union([z.string(), z.array(ModeratedPart).min(1)])).min(1),
  /** For a model that judges in chats. */
  guard: Guard.optional(),
});
export type ModerationOrder = z.infer<typeof ModerationOrder>;

const categories = <Value extends z.ZodType>(value: Value) => z.record(z.string(), value);

/** What a model says of one input, by its categories. */
const ModerationVerdict = z.object({
  flagged: z.boolean(),
  categories: categories(z.boolean()),
  scores: categories(z.number()),
  inputTypes: categories(z.array(z.enum(['text', 'image']))).optional(),
});
export type ModerationVerdict = z.infer<typeof ModerationVerdict>;

export const Verdicts = z.object({
  /** For each input, in order. */
  verdicts: z.array(ModerationVerdict),
  /** The tokens of all inputs, if the backend counted them. */
  promptTokens: z.int().nonnegative().optional(),
});
export type Verdicts = z.infer<typeof Verdicts>;

export interface ModerationCall extends CallOrigin {
  readonly order: ModerationOrder;
}

/** Calls of models that judge texts. Rejects as `Chat` does. */
export abstract class Scores {
  abstract rank(call: RankCall, signal: AbortSignal): Promise<Served<Ranks>>;
  abstract moderate(call: ModerationCall, signal: AbortSignal): Promise<Served<Verdicts>>;
}
