import { COMPLETION_REFUSALS } from '../chat/completion-refusals.js';
import type { RouteDefinition } from '../route/route-definition.js';
import { MESSAGE_ERRORS } from './message-errors.js';
import { MessageEvent, MessageReply, TokenCount } from './message-reply.js';
import { CountTokensRequest, MessagesRequest } from './messages-request.js';

const BODY_LIMIT_BYTES = 35_000_000;

export const messageRoutes = {
  messages: {
    method: 'POST',
    path: '/api/v1/messages',
    operationId: 'createMessage',
    tag: 'Chat',
    summary: 'Creates a message',
    description: `Chat completions in the form of Anthropic's Messages API, for its clients with the base URL \`…/api\`. Any model may be
used; prices, limits, \`svc_parameters\` and the model suffix are those of chat completions. The key is sent in \`x-api-key\` or
\`Authorization\`, which takes precedence.

The model's reasoning is returned if \`thinking\` asks for it. The web search tool is this service's; other tools that
Anthropic runs or defines are refused. Members that are not listed have no effect.`,
    access: 'key-or-wallet',
    status: 200,
    idPrefix: 'msg_',
    admitted: 'once',
    body: MessagesRequest,
    passesBody: true,
    bodyLimitBytes: BODY_LIMIT_BYTES,
    reply: MessageReply,
    event: MessageEvent,
    namedEvents: true,
    errors: MESSAGE_ERRORS,
    headers: ['model', 'balances', 'encoding'],
    refusals: COMPLETION_REFUSALS,
  },
  countTokens: {
    method: 'POST',
    path: '/api/v1/messages/count_tokens',
    operationId: 'countMessageTokens',
    tag: 'Chat',
    summary: 'Counts the tokens of the prompt of a message',
    description: `The tokens of the prompt, with this service's own prompts and the texts of files: as the provider of a hosted model counts them, or the
number that the hold for this message begins with, an estimate that is rather too high. It costs nothing and counts against the requests
per minute of the model.`,
    access: 'key-or-wallet',
    status: 200,
    admitted: 'once',
    isFree: true,
    body: CountTokensRequest,
    passesBody: true,
    bodyLimitBytes: BODY_LIMIT_BYTES,
    reply: TokenCount,
    errors: MESSAGE_ERRORS,
    headers: ['model', 'balances'],
    refusals: COMPLETION_REFUSALS,
  },
} as const satisfies Record<string, RouteDefinition>;
