import { embeddingRoutes } from '../embeddings/embedding-routes.js';
import type { RouteDefinition } from '../route/route-definition.js';
import { ModerationReply, ModerationRequest } from './moderations.js';

const { passesBody: _passesBody, ...sold } = embeddingRoutes.embeddings;

export const moderationRoutes = {
  moderations: {
    ...sold,
    path: '/api/v1/moderations',
    operationId: 'createModeration',
    tag: 'Moderations',
    summary: 'Judges whether texts and images are harmful',
    description: `Accepts the requests of OpenAI's moderations: a text, a list of texts with a verdict each, or a list of parts, texts and
images, with one verdict. A request is charged by its tokens, if the model has a price, after all verdicts are there; a failed request
costs nothing.`,
    body: ModerationRequest,
    headers: ['model', 'balances'],
    reply: ModerationReply,
  },
} as const satisfies Record<string, RouteDefinition>;
