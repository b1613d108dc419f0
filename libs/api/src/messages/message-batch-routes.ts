import { z } from 'zod';
import type { RouteDefinition } from '../route/route-definition.js';
import {
  MessageBatchDeleted,
  MessageBatchPage,
  MessageBatchParams,
  MessageBatchQuery,
  MessageBatchRequest,
  MessageBatchView,
} from './message-batches.js';
import { MESSAGE_ERRORS } from './message-errors.js';

const BODY_LIMIT_BYTES = 209_715_200;

const batch = {
  tag: 'Batches',
  access: 'key',
  status: 200,
  errors: MESSAGE_ERRORS,
  headers: ['balances'],
} as const;
const OF_BATCH = ['INVALID_REQUEST', 'BATCH_NOT_FOUND', 'UNAVAILABLE'] as const;

export const messageBatchRoutes = {
  createMessageBatch: {
    ...batch,
    method: 'POST',
    path: '/api/v1/messages/batches',
    operationId: 'createMessageBatch',
    summary: 'Runs messages as a batch',
    description: `A batch in the form of Anthropic's Message Batches API. Each request is sent on its own, as the key that made the batch, behind the
requests of all clients, and charged on its own at the model's prices for batches. A request that fails does not stop the others.`,
    body: MessageBatchRequest,
    streamsBody: true,
    bodyLimitBytes: BODY_LIMIT_BYTES,
    reply: MessageBatchView,
    refusals: [
      'INVALID_JSON',
      'INVALID_CONTENT_TYPE',
      'INVALID_CONTENT_ENCODING',
      'PAYLOAD_TOO_LARGE',
      'INVALID_REQUEST',
      'TOO_MANY_LINES',
      'NOT_AVAILABLE',
      'FILE_STORAGE_FULL',
      'TOO_MUCH_AT_ONCE',
      'REQUEST_INCOMPLETE',
      'UNAVAILABLE',
    ],
  },
  listMessageBatches: {
    ...batch,
    method: 'GET',
    path: '/api/v1/messages/batches',
    operationId: 'listMessageBatches',
    summary: 'Lists the message batches of the account, newest first',
    description: 'With `before_id` the page before a batch, otherwise the page after `after_id`.',
    query: MessageBatchQuery,
    reply: MessageBatchPage,
    refusals: OF_BATCH,
  },
  retrieveMessageBatch: {
    ...batch,
    method: 'GET',
    path: '/api/v1/messages/batches/:message_batch_id',
    operationId: 'retrieveMessageBatch',
    summary: 'Describes a message batch',
    description:
      'Its status, how its requests have ended so far, and the path of its results once it has ended.',
    params: MessageBatchParams,
    reply: MessageBatchView,
    refusals: OF_BATCH,
  },
  messageBatchResults: {
    ...batch,
    method: 'GET',
    path: '/api/v1/messages/batches/:message_batch_id/results',
    operationId: 'messageBatchResults',
    summary: 'Returns the results of a message batch',
    description: `A line of JSON for each request: \`{"custom_id": "…", "result": {"type": "succeeded", "message": {…}}}\`. The other types are \`errored\`, with
an \`error\`, \`canceled\` and \`expired\`.`,
    params: MessageBatchParams,
    reply: z.string(),
    replyType: 'application/x-jsonl',
    refusals: [...OF_BATCH, 'BATCH_UNFINISHED', 'FILE_NOT_FOUND', 'NOT_AVAILABLE'],
  },
  cancelMessageBatch: {
    ...batch,
    method: 'POST',
    path: '/api/v1/messages/batches/:message_batch_id/cancel',
    operationId: 'cancelMessageBatch',
    summary: 'Cancels a message batch',
    description:
      'No further request begins, and those under way are given up and cost nothing. What is done is kept and charged. May be repeated.',
    params: MessageBatchParams,
    reply: MessageBatchView,
    refusals: [...OF_BATCH, 'BATCH_FINISHED'],
  },
  deleteMessageBatch: {
    ...batch,
    method: 'DELETE',
    path: '/api/v1/messages/batches/:message_batch_id',
    operationId: 'deleteMessageBatch',
    summary: 'Deletes a message batch and its results',
    description: 'They are gone at once. A batch that has not ended must be cancelled first.',
    params: MessageBatchParams,
    reply: MessageBatchDeleted,
    refusals: [...OF_BATCH, 'BATCH_UNFINISHED'],
  },
} as const satisfies Record<string, RouteDefinition>;
