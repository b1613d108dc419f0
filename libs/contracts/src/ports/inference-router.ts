import { z } from 'zod';

/** What is asked of a model. */
export const CALL_KINDS = ['chat', 'embeddings'] as const;
export type CallKind = (typeof CALL_KINDS)[number];

/** The body of a call for embeddings. */
export const EmbeddingTexts = z.object({
  inputs: z.array(z.string()).min(1),
  /** The length of the vectors. */
  dimensions: z.int().positive(),
  /** Whether the backend has to be told that length: it is not the model's own. */
  isCustom: z.boolean(),
});
export type EmbeddingTexts = z.infer<typeof EmbeddingTexts>;

/** The body of a completion of such a call. */
export const EmbeddingVectors = z.object({
  /** For each text, in order: 32-bit floats, little-endian, in base64. All are finite and of the length asked for. */
  vectors: z.array(z.string()),
  /** Tokens of all texts as the backend counted them, where it did. */
  promptTokens: z.int().nonnegative().optional(),
});
export type EmbeddingVectors = z.infer<typeof EmbeddingVectors>;

export interface InferenceCall {
  /** Default: chat. */
  readonly kind?: CallKind;
  readonly requestId: string;
  /** Whose share of a full backend it takes. */
  readonly accountId: string;
  /** The catalogue's id. */
  readonly model: string;
  /**
   * The JSON text of an object for the backend, in pieces of its bytes; it begins with `{` and has a member. It has no
   * `model`: the router puts the backend's own name there. For embeddings it is the JSON of `EmbeddingTexts`, which the router
   * translates.
   */
  readonly body: readonly Uint8Array[];
  /** Requests with the same key prefer the same backend. */
  readonly cacheKey?: string;
}

/** Who answers, and how many backends were asked in vain before it. */
export interface Answering {
  readonly backend: string;
  readonly retries: number;
}

/** A whole response: of chat as the backend wrote it, of embeddings the JSON of `EmbeddingVectors`. */
export interface Completion extends Answering {
  readonly body: string;
}

/** A streamed answer, as the backend writes it. */
export interface ChunkStream extends Answering {
  /**
   * The bytes of its server-sent events, those that arrived together in one array, never an empty one; cut anywhere.
   * They end where the backend ends them, with its `[DONE]` or without. Throws INFERENCE_FAILED when the connection
   * breaks, REQUEST_TIMEOUT when the backend stalls. Whoever stops iterating closes the call to the backend. Reading
   * slowly slows the backend.
   */
  readonly bytes: AsyncIterable<readonly Uint8Array[]>;
}

/**
 * Chooses a backend and asks it. Refuses: MODEL_OFFLINE when none can be reached, MODEL_AT_CAPACITY when all are
 * full, INVALID_REQUEST when the backend says so, INFERENCE_FAILED, REQUEST_TIMEOUT. An abort of the signal
 * closes the call to the backend at once.
 */
export abstract class InferenceRouter {
  /** Resolves with the whole answer. */
  abstract complete(call: InferenceCall, signal: AbortSignal): Promise<Completion>;

  /** Resolves when the first event is there and is no error, so that a refusal still has its HTTP status. */
  abstract stream(call: InferenceCall, signal: AbortSignal): Promise<ChunkStream>;
}
