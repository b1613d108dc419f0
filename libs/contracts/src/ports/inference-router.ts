export interface InferenceCall {
  readonly requestId: string;
  /** The catalogue's id. */
  readonly model: string;
  /** The JSON text of an object for the backend, without its `model`: the router puts the backend's own name there. */
  readonly body: string;
  /** Requests with the same key prefer the same backend. */
  readonly cacheKey?: string;
}

/** A whole answer, as the backend wrote it. */
export interface Completion {
  readonly backend: string;
  readonly body: string;
}

/** A streamed answer. */
export interface ChunkStream {
  readonly backend: string;
  /**
   * The data of each server-sent event, those that arrived together in one array. Ends at `[DONE]`, which is not
   * among them; throws INFERENCE_FAILED when the backend breaks off before it, REQUEST_TIMEOUT when it stalls.
   * Whoever stops iterating closes the call to the backend. Reading slowly slows the backend.
   */
  readonly events: AsyncIterable<readonly string[]>;
}

/**
 * Chooses a backend and asks it. Refuses: MODEL_OFFLINE when none can be reached, MODEL_AT_CAPACITY when all are
 * full, INVALID_REQUEST when the backend says so, INFERENCE_FAILED, REQUEST_TIMEOUT. An abort of the signal
 * closes the call to the backend at once.
 */
export abstract class InferenceRouter {
  /** Resolves with the whole answer. */
  abstract complete(call: InferenceCall, signal: AbortSignal): Promise<Completion>;

  /** Resolves when the first chunk is there, so that a refusal still has its HTTP status. */
  abstract stream(call: InferenceCall, signal: AbortSignal): Promise<ChunkStream>;
}
