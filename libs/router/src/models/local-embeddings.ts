import type { Backend } from '@svc/contracts/catalog';
import {
  Embeddings,
  type EmbeddingVectors,
  type EmbeddingsCall,
  type Served,
} from '@svc/contracts/inference';
import { dialectOf } from '../dialects/dialects.js';
import { inBatches } from './batches.js';
import { bytesOf } from './call-body.js';
import type { ModelCall, ModelCalls } from './model-calls.js';

/** The most texts in one call of a backend. */
function mostTextsAt(backend: Backend): number {
  const { mostTexts } = dialectOf(backend).embeddings ?? {};
  return Math.min(backend.maxBatch, mostTexts?.(backend.model) ?? backend.maxBatch);
}

/** Calls of embedding models. */
export class LocalEmbeddings extends Embeddings {
  constructor(private readonly calls: ModelCalls) {
    super();
  }

  /** Splits the texts into batches that every backend of the model accepts. */
  override async vectors(call: EmbeddingsCall, signal: AbortSignal): Promise<Served<EmbeddingVectors>> {
    const { texts, ...origin } = call;
    const { catalog, settings, whole } = this.calls;
    const size = Math.min(...catalog.backendsOf(call.model).map(mostTextsAt));
    // All batches prefer the same backend: vectors of two builds of a model may differ slightly.
    const batchCall: ModelCall = {
      ...origin,
      kind: 'embeddings',
      cacheKey: call.requestId,
      body: () => bytesOf(texts),
    };
    const { result, ...servedBy } = await inBatches(texts.inputs, { size, signal }, (inputs, together) => {
      const some = { ...texts, inputs: [...inputs] };
      return this.calls.first(batchCall, together, {
        ...whole,
        at: ({ embeddings }, { backend }) =>
          embeddings && {
            request: () => embeddings.request(backend.model, some),
            take: async (exchange) =>
              embeddings.read(
                await exchange.text(settings.ROUTER_RESPONSE_LIMIT_BYTES),
                some,
                exchange.headers,
              ),
          },
      });
    });
    const { parts, ...counted } = result;
    return { ...servedBy, result: { vectors: parts.flatMap(({ vectors }) => vectors), ...counted } };
  }
}
