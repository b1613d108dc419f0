import { z } from 'zod';
import { MEDIA_JOB_STATES } from '@svc/contracts/ports';
import type { RouteDefinition } from '../route/route-definition.js';
import { Label } from './operator.js';

const Instant = z.iso.datetime({ offset: true });
const kind = z.enum(['video', 'music']);

export const JobQuery = z.strictObject({
  accountId: z.uuid().optional(),
  kind: kind.optional(),
  model: Label.optional().describe('The id of a model.').meta({ example: 'wan-2.2-t2v' }),
  state: z
    .enum(['unfinished', ...MEDIA_JOB_STATES])
    .optional()
    .describe('`unfinished`: all that have not ended.'),
  from: Instant.optional().describe('Of the request.'),
  until: Instant.optional().describe('Exclusive.'),
  limit: z.coerce.number().int().min(1).max(1000).default(100),
  before: z
    .string()
    .regex(/^\d{1,14}_[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/, 'must be `nextBefore` of the previous page')
    .optional(),
});

export const JobView = z.object({
  id: z.uuid().describe('The `queue_id` of the client.'),
  requestId: z.string(),
  accountId: z.uuid(),
  keyId: z.string().describe('The id of the API key, or `wallet:` and the address.'),
  kind,
  model: z.string(),
  state: z
    .enum(MEDIA_JOB_STATES)
    .describe(
      '`held`: not charged yet. `submitting`: a backend may have it. `storing`: the result is being copied.',
    ),
  backend: z.string().nullable().describe('The backend that has it, or had it last.'),
  submits: z.int().describe('How often a backend may have accepted it: at most twice.'),
  failure: z
    .object({
      code: z
        .string()
        .describe('An error code, or `ENDED_BY_OPERATOR`.')
        .meta({ example: 'INFERENCE_FAILED' }),
      message: z.string().describe('As the client sees it.'),
    })
    .nullable(),
  refund: z
    .enum(['pending', 'done'])
    .nullable()
    .describe('Whether the cost of a failed job is still to be returned, or was.'),
  bytes: z.int().nullable().describe('The size of its result.'),
  createdAt: z.iso.datetime(),
  startedAt: z.iso.datetime().nullable().describe('When it was first submitted to a backend.'),
  endedAt: z.iso.datetime().nullable(),
  deadlineAt: z.iso.datetime(),
  expiresAt: z.iso.datetime().describe('When it is deleted with its result.'),
});

export const JobList = z.object({
  object: z.literal('list'),
  data: z.array(JobView),
  nextBefore: z.string().nullable().describe('Pass it as `before` for the next page.'),
});

/** Why a job is ended. Visible to operators, not to its client. */
const JobEnd = z.strictObject({
  reason: Label.describe('Kept with the operator action.').meta({ example: 'Blocks the only GPU' }),
});

export type JobQuery = z.infer<typeof JobQuery>;
export type JobView = z.infer<typeof JobView>;
export type JobList = z.infer<typeof JobList>;

export const jobRoutes = {
  listJobs: {
    method: 'GET',
    path: '/operator/v1/jobs',
    operationId: 'listJobs',
    tag: 'Jobs',
    summary: 'Lists the jobs that make videos and music, newest first',
    description: 'A job is kept for a day (`MEDIA_RETENTION_HOURS`). What it makes is not shown.',
    access: 'operator',
    status: 200,
    query: JobQuery,
    reply: JobList,
    refusals: ['INVALID_REQUEST', 'NOT_AVAILABLE', 'UNAVAILABLE'],
  },
  endJob: {
    method: 'POST',
    path: '/operator/v1/jobs/:id/end',
    operationId: 'endJob',
    tag: 'Jobs',
    summary: 'Ends a job under way, and returns its cost',
    description: `Its client gets 500 \`INFERENCE_FAILED\` with the message that an operator has ended it. It is cancelled at its
backend, and all that it cost is returned, as for any job that fails. Repeating it changes nothing. A job that has been completed or has
failed is 409 \`JOB_FINISHED\`.`,
    access: 'operator',
    scope: 'money',
    status: 200,
    params: z.object({ id: z.uuid() }),
    body: JobEnd,
    reply: JobView,
    refusals: ['INVALID_REQUEST', 'JOB_NOT_FOUND', 'JOB_FINISHED', 'NOT_AVAILABLE', 'UNAVAILABLE'],
  },
} as const satisfies Record<string, RouteDefinition>;
