export interface InferenceCall {
  readonly requestId: string;
  /** Whose share of a full backend it takes. */
  readonly accountId: string;
  /** The catalogue's id. */
  readonly model: string;
  /**
   * The JSON text of an object for the backend, in pieces of its bytes; it begins with `{` and has a member. It has no
   * `model`: the router puts the backend's own name there.
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

/** A whole answer, as the backend wrote it. */
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
