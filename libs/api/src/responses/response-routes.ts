import { COMPLETION_REFUSALS } from '../chat/completion-refusals.js';
import type { RouteDefinition } from '../route/route-definition.js';
import { InputTokenCount, ResponseEvent, ResponseReply } from './response-reply.js';
import { InputTokensRequest, ResponseRequest } from './response-request.js';

const BODY_LIMIT_BYTES = 35_000_000;

export const responseRoutes = {
  responses: {
    method: 'POST',
    path: '/api/v1/responses',
    operationId: 'createResponse',
    tag: 'Chat',
    summary: 'Creates a response',
    description: `Accepts OpenAI's Responses. Nothing is stored: send all items of a conversation as \`input\`. Prices, limits,
\`svc_parameters\` and the model suffix are those of chat completions. The tool \`web_search\` is the web search of this service, whose sources
the text cites: \`annotations\` of a text have the page and the place of each citation. The tool \`x_search\` is the search of
posts by the model's provider.

With \`stream: true\` the response is sent as server-sent events, numbered by \`sequence_number\`; after the last one follows
\`data: [DONE]\`. An error is sent as \`response.failed\`, after \`response.created\` if nothing else was sent yet. What was
delivered before it is charged.`,
    access: 'key-or-wallet',
    status: 200,
    idPrefix: 'resp_',
    admitted: 'once',
    body: ResponseRequest,
    passesBody: true,
    bodyLimitBytes: BODY_LIMIT_BYTES,
    reply: ResponseReply,
    event: ResponseEvent,
    namedEvents: true,
    hasEndMark: true,
    headers: ['model', 'balances', 'encoding'],
    refusals: COMPLETION_REFUSALS,
  },
  inputTokens: {
    method: 'POST',
    path: '/api/v1/responses/input_tokens',
    operationId: 'countResponseInputTokens',
    tag: 'Chat',
    summary: 'Counts the tokens of the prompt of a response',
    description: `The tokens of the prompt, with this service's own prompts and the texts of files: as the provider of a hosted model counts them, or the
number that the hold for this response begins with, an estimate that is rather too high. It costs nothing and counts against the requests
per minute of the model.`,
    access: 'key-or-wallet',
    status: 200,
    admitted: 'once',
    isFree: true,
    body: InputTokensRequest,
    passesBody: true,
    bodyLimitBytes: BODY_LIMIT_BYTES,
    reply: InputTokenCount,
    headers: ['model', 'balances'],
    refusals: COMPLETION_REFUSALS,
  },
} as const satisfies Record<string, RouteDefinition>;
