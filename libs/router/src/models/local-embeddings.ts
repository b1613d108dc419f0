import {
  Embeddings,
  type EmbeddingVectors,
  type EmbeddingsCall,
  type Served,
  type ServedBy,
} from '@svc/contracts/inference';
import { bytesOf } from './call-body.js';
import { BATCHES_AT_ONCE, batchesOf, joined, servedByOf } from './embedding-batches.js';
import type { ModelCall, ModelCalls } from './model-calls.js';

/** Calls of embedding models. */
export class LocalEmbeddings extends Embeddings {
  constructor(private readonly calls: ModelCalls) {
    super();
  }

  /**
   * Splits the texts into batches that every backend of the model accepts. One failing batch ends the others.
   */
  override async vectors(call: EmbeddingsCall, signal: AbortSignal): Promise<Served<EmbeddingVectors>> {
    const { texts, ...origin } = call;
    const { catalog, settings, whole } = this.calls;
    const size = Math.min(...catalog.backendsOf(call.model).map(({ maxBatch }) => maxBatch));
    const batches = batchesOf(texts, size);
    const failing = new AbortController();
    const together = AbortSignal.any([signal, failing.signal]);
    // All batches prefer the same backend: vectors of two builds of a model may differ slightly.
    const batchCall: ModelCall = {
      ...origin,
      kind: 'embeddings',
      cacheKey: call.requestId,
      body: () => bytesOf(texts),
    };
    const parts: (EmbeddingVectors & ServedBy)[] = [];
    const work = async (): Promise<void> => {
      for (let batch = batches.next(); batch.done !== true; batch = batches.next()) {
        const { at, texts: some } = batch.value;
        parts[at] = await this.calls.first(batchCall, together, {
          ...whole,
          at: ({ embeddings }, { backend }) =>
            embeddings && {
              request: () => embeddings.request(backend.model, some),
              take: async (exchange) =>
                embeddings.read(await exchange.text(settings.ROUTER_RESPONSE_LIMIT_BYTES), some),
            },
        });
      }
    };
    try {
      await Promise.all(Array.from({ length: BATCHES_AT_ONCE }, work));
    } catch (error) {
      failing.abort();
      throw error;
    }
    return { ...servedByOf(parts), result: joined(parts) };
  }
}
