import { COMPLETION_REFUSALS } from '../chat/completion-refusals.js';
import type { RouteDefinition } from '../route/route-definition.js';
import { ResponseEvent, ResponseReply } from './response-reply.js';
import { ResponseRequest } from './response-request.js';

export const responseRoutes = {
  responses: {
    method: 'POST',
    path: '/api/v1/responses',
    operationId: 'createResponse',
    tag: 'Chat',
    summary: 'Creates a response',
    description: `Accepts OpenAI's Responses. Nothing is stored: send all items of a conversation as \`input\`. Prices, limits,
\`svc_parameters\` and the model suffix are those of chat completions. The tool \`web_search\` is the web search of this service.

With \`stream: true\` the response is sent as server-sent events, numbered by \`sequence_number\`; after the last one follows
\`data: [DONE]\`. An error is sent as \`response.failed\`, after \`response.created\` if nothing else was sent yet. What was
delivered before it is charged.`,
    access: 'key-or-wallet',
    status: 200,
    idPrefix: 'resp_',
    admitted: 'once',
    body: ResponseRequest,
    passesBody: true,
    bodyLimitBytes: 35_000_000,
    reply: ResponseReply,
    event: ResponseEvent,
    namedEvents: true,
    headers: ['model', 'balances', 'encoding'],
    refusals: COMPLETION_REFUSALS,
  },
} as const satisfies Record<string, RouteDefinition>;
