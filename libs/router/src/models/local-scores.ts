import { type RankCall, type Ranks, Scores, type Served } from '@svc/contracts/inference';
import { dialectOf } from '../dialects/dialects.js';
import { inBatches } from './batches.js';
import { bytesOf, passing } from './call-body.js';
import type { ModelCall, ModelCalls } from './model-calls.js';

/** Calls of models that judge texts. */
export class LocalScores extends Scores {
  constructor(private readonly calls: ModelCalls) {
    super();
  }

  /** Splits the documents into batches if one of the model's backends needs them. */
  override async rank({ order, ...origin }: RankCall, signal: AbortSignal): Promise<Served<Ranks>> {
    const { catalog, settings, whole } = this.calls;
    const batched = catalog.backendsOf(origin.model).filter((each) => dialectOf(each).rerank?.isBatched);
    const size = Math.min(order.documents.length, ...batched.map(({ maxBatch }) => maxBatch));
    const pass = passing(origin.model, catalog);
    const call: ModelCall = {
      ...origin,
      kind: 'rerank',
      cacheKey: origin.requestId,
      body: () => bytesOf(order),
    };
    const { result, ...servedBy } = await inBatches(order.documents, { size, signal }, (some, together) =>
      this.calls.first(call, together, {
        ...whole,
        at: ({ rerank }, { backend }) =>
          rerank && {
            request: () =>
              rerank.request(backend.model, {
                ...order,
                documents: [...some],
                others: pass(order.others, rerank),
              }),
            take: async (exchange) => {
              const body = await exchange.text(settings.ROUTER_RESPONSE_LIMIT_BYTES);
              return rerank.read({ body, headers: exchange.headers }, some.length);
            },
          },
      }),
    );
    const { parts, ...counted } = result;
    const searches = parts.reduce((sum, part) => sum + (part.searches ?? 0), 0);
    return {
      ...servedBy,
      result: {
        scores: parts.flatMap(({ scores }) => scores),
        ...counted,
        ...(searches > 0 && { searches }),
      },
    };
  }
}
