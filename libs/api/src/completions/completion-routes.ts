import { COMPLETION_REFUSALS } from '../chat/completion-refusals.js';
import type { RouteDefinition } from '../route/route-definition.js';
import { CompletionRequest, TextCompletion, TextCompletionChunk } from './completions.js';

export const completionRoutes = {
  completions: {
    method: 'POST',
    path: '/api/v1/completions',
    operationId: 'createCompletion',
    tag: 'Chat',
    summary: 'Completes a text',
    description: `OpenAI's legacy endpoint. The prompt is sent to the model as the message of a user, so the model responds to it. Prices,
limits, \`svc_parameters\` and the model suffix are those of chat completions.`,
    access: 'key-or-wallet',
    status: 200,
    idPrefix: 'cmpl-',
    admitted: 'once',
    body: CompletionRequest,
    passesBody: true,
    bodyLimitBytes: 35_000_000,
    reply: TextCompletion,
    event: TextCompletionChunk,
    headers: ['model', 'balances', 'encoding'],
    refusals: COMPLETION_REFUSALS,
  },
} as const satisfies Record<string, RouteDefinition>;
