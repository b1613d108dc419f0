import type { RouteDefinition } from '../route/route-definition.js';
import { EmbeddingReply, EmbeddingRequest } from './embeddings.js';

export const embeddingRoutes = {
  embeddings: {
    method: 'POST',
    path: '/api/v1/embeddings',
    operationId: 'createEmbeddings',
    tag: 'Embeddings',
    summary: 'Turns texts into vectors',
    description: `Accepts the parameters of OpenAI's embeddings, except arrays of tokens. Other fields are passed to the model as those of
chat completions. The vectors are in the order of the texts. A request
is charged by the tokens of its texts after all vectors are computed; a failed request costs nothing.`,
    access: 'key-or-wallet',
    status: 200,
    admitted: 'once',
    body: EmbeddingRequest,
    passesBody: true,
    bodyLimitBytes: 35_000_000,
    reply: EmbeddingReply,
    headers: ['model', 'balances', 'encoding'],
    refusals: [
      'INVALID_JSON',
      'INVALID_REQUEST',
      'TOO_MANY_TOKENS',
      'TOO_MANY_TOKENS_PER_MINUTE',
      'PRO_ONLY_MODEL',
      'MODEL_NOT_ALLOWED',
      'INSUFFICIENT_BALANCE',
      'API_KEY_USD_SPEND_LIMIT_EXCEEDED',
      'API_KEY_DIEM_SPEND_LIMIT_EXCEEDED',
      'END_USER_SPEND_LIMIT_EXCEEDED',
      'UNAUTHORIZED',
      'MODEL_NOT_FOUND',
      'MODEL_RETIRED',
      'PAYLOAD_TOO_LARGE',
      'INVALID_CONTENT_TYPE',
      'RATE_LIMIT_EXCEEDED',
      'INFERENCE_FAILED',
      'MODEL_OFFLINE',
      'MODEL_AT_CAPACITY',
      'REQUEST_TIMEOUT',
    ],
  },
} as const satisfies Record<string, RouteDefinition>;
