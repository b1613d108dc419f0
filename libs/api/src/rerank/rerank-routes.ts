import { embeddingRoutes } from '../embeddings/embedding-routes.js';
import type { RouteDefinition } from '../route/route-definition.js';
import { RerankReply, RerankRequest } from './rerank.js';

export const rerankRoutes = {
  rerank: {
    ...embeddingRoutes.embeddings,
    path: '/api/v1/rerank',
    operationId: 'rerank',
    tag: 'Rerank',
    summary: 'Ranks documents by their relevance',
    description: `Accepts the requests of Jina's and Cohere's rerankers. A request is charged after all documents are ranked, by the tokens
of the query with each document, or by the search for models that are sold by searches: a query with up to 100 documents
is one. A failed request costs nothing.`,
    body: RerankRequest,
    headers: ['model', 'balances'],
    reply: RerankReply,
  },
} as const satisfies Record<string, RouteDefinition>;
