import { z } from 'zod';
import { ExpiresAfter, pageOf } from './files.js';

/** The most lines of a batch. */
export const BATCH_LINES = 50_000;

/** The endpoints to which the lines of a batch may be sent. */
export const BATCH_ENDPOINTS = [
  '/v1/chat/completions',
  '/v1/responses',
  '/v1/embeddings',
  '/v1/completions',
  '/v1/messages',
  '/v1/moderations',
  '/v1/rerank',
] as const;
export type BatchEndpoint = (typeof BATCH_ENDPOINTS)[number];

const Metadata = z
  .record(z.string().max(64), z.string().max(512))
  .refine((pairs) => Object.keys(pairs).length <= 16, 'must have at most 16 members');

export const BatchRequest = z.object({
  input_file_id: z.string().min(1).max(64).describe('A file with the purpose `batch`: at most 50,000 lines.'),
  endpoint: z.enum(BATCH_ENDPOINTS).describe('The `url` of each line.'),
  completion_window: z.literal('24h').describe('What has not begun by then is not run.'),
  metadata: Metadata.nullish(),
  output_expires_after: ExpiresAfter.optional(),
  max_cost_usd: z
    .number()
    .positive()
    .max(1_000_000)
    .nullish()
    .describe(
      'Once lines have cost that much, in USD and DIEM together, no further one begins. Those under way may still exceed it.',
    ),
});
export type BatchRequest = z.infer<typeof BatchRequest>;

export const BATCH_STATES = [
  'validating',
  'in_progress',
  'finalizing',
  'cancelling',
  'completed',
  'expired',
  'cancelled',
] as const;
export type BatchState = (typeof BATCH_STATES)[number];

const Seconds = z.int().nullable();

export const BatchView = z.object({
  id: z.string(),
  object: z.literal('batch'),
  endpoint: z.enum(BATCH_ENDPOINTS),
  errors: z.null(),
  input_file_id: z.string(),
  completion_window: z.literal('24h'),
  status: z.enum(BATCH_STATES),
  output_file_id: z.string().nullable().describe('Set once the batch has ended, if any line succeeded.'),
  error_file_id: z.string().nullable().describe('Set once the batch has ended, if any line failed.'),
  created_at: z.int(),
  in_progress_at: Seconds,
  expires_at: z.int(),
  finalizing_at: Seconds,
  completed_at: Seconds,
  failed_at: z.null(),
  expired_at: Seconds,
  cancelling_at: Seconds,
  cancelled_at: Seconds,
  request_counts: z.object({ total: z.int(), completed: z.int(), failed: z.int() }),
  usage: z
    .object({
      input_tokens: z.int(),
      input_tokens_details: z.object({ cached_tokens: z.int() }),
      output_tokens: z.int(),
      output_tokens_details: z.object({ reasoning_tokens: z.int() }),
      total_tokens: z.int(),
    })
    .describe('Of the lines so far.'),
  cost_usd: z.number().describe('What the lines have cost so far, in USD and DIEM together.'),
  max_cost_usd: z.number().nullable(),
  metadata: Metadata.nullable(),
});
export type BatchView = z.infer<typeof BatchView>;

export const BatchParams = z.object({ batch_id: z.string().max(64) });
export type BatchParams = z.infer<typeof BatchParams>;

export const BatchPage = pageOf(BatchView);
export type BatchPage = z.infer<typeof BatchPage>;
