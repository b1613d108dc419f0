import { z } from 'zod';
import type { CallOrigin, Served } from './calls.js';

/** Texts whose vectors are wanted. */
export const EmbeddingTexts = z.object({
  inputs: z.array(z.string()).min(1),
  /** The length of the vectors. */
  dimensions: z.int().positive(),
  /** Whether that length must be sent to the backend because it is not the model's default. */
  isCustom: z.boolean(),
  /** Further members for the backend. Those above take precedence. Older processes send none. */
  others: z.record(z.string(), z.unknown()).default({}),
});
export type EmbeddingTexts = z.infer<typeof EmbeddingTexts>;

/** The vectors of texts. */
export const EmbeddingVectors = z.object({
  /**
   * For each text, in order: 32-bit floats, little-endian, in base64. All are finite and of the requested
   * length.
   */
  vectors: z.array(z.string()),
  /** The tokens of all texts, if the backend counted them. */
  promptTokens: z.int().nonnegative().optional(),
});
export type EmbeddingVectors = z.infer<typeof EmbeddingVectors>;

export interface EmbeddingsCall extends CallOrigin {
  readonly texts: EmbeddingTexts;
}

/** Calls of embedding models. Rejects as `Chat` does. */
export abstract class Embeddings {
  abstract vectors(call: EmbeddingsCall, signal: AbortSignal): Promise<Served<EmbeddingVectors>>;
}
