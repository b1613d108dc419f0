import { z } from 'zod';

/** The most requests of a batch. */
const REQUESTS = 50_000;

const CustomId = z
  .string()
  .regex(/^[\w-]{1,64}$/, 'must be 1 to 64 letters, digits, `_` and `-`')
  .describe('Names the request in the results; unique in the batch.');

export const BatchedMessage = z.object({
  custom_id: CustomId,
  params: z.looseObject({}).describe('The body of `POST /messages`, without `stream`.'),
});

export const MessageBatchRequest = z.object({ requests: z.array(BatchedMessage).min(1).max(REQUESTS) });

export const MessageBatchView = z.object({
  type: z.literal('message_batch'),
  id: z.string(),
  processing_status: z.enum(['in_progress', 'canceling', 'ended']),
  request_counts: z.object({
    processing: z.int(),
    succeeded: z.int(),
    errored: z.int(),
    canceled: z.int(),
    expired: z.int(),
  }),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
  cancel_initiated_at: z.iso.datetime().nullable(),
  ended_at: z.iso.datetime().nullable(),
  archived_at: z.null(),
  results_url: z.string().nullable().describe('The path of the results. Set once the batch has ended.'),
});
export type MessageBatchView = z.infer<typeof MessageBatchView>;

export const MessageBatchParams = z.object({ message_batch_id: z.string().max(64) });
export type MessageBatchParams = z.infer<typeof MessageBatchParams>;

export const MessageBatchQuery = z.object({
  after_id: z.string().max(64).optional().describe('The last id of the previous page.'),
  before_id: z.string().max(64).optional().describe('The first id of the page after.'),
  limit: z.coerce.number().int().min(1).max(1_000).default(20),
});
export type MessageBatchQuery = z.infer<typeof MessageBatchQuery>;

export const MessageBatchPage = z.object({
  data: z.array(MessageBatchView),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
  has_more: z.boolean(),
});
export type MessageBatchPage = z.infer<typeof MessageBatchPage>;

export const MessageBatchDeleted = z.object({ id: z.string(), type: z.literal('message_batch_deleted') });
export type MessageBatchDeleted = z.infer<typeof MessageBatchDeleted>;
