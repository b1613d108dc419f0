import { z } from 'zod';
import type { RouteDefinition } from '../route/route-definition.js';
import { Label } from './operator.js';

const Instant = z.iso.datetime({ offset: true });

export const ActionQuery = z.strictObject({
  token: Label.optional().describe('The name of a token.'),
  action: Label.optional()
    .describe('An `operationId` of this description.')
    .meta({ example: 'refundCharge' }),
  target: Label.optional().describe(
    'The id in the path: of an account, key or payment, or the address of a wallet; of a backend, its model, a space and its name.',
  ),
  requestId: Label.optional().describe('The header `x-request-id` of the response.'),
  from: Instant.optional(),
  until: Instant.optional().describe('Exclusive.'),
  limit: z.coerce.number().int().min(1).max(1000).default(100),
  before: z
    .string()
    .regex(/^\d{1,18}$/, 'must be `nextBefore` of the previous page')
    .optional(),
});

export const ActionView = z.object({
  id: z.string(),
  at: z.iso.datetime(),
  token: z
    .string()
    .describe(
      'The name of the token: `operator` for that of SVC_OPERATOR_TOKEN, `file` for a change of a file.',
    ),
  action: z
    .string()
    .describe('The `operationId` of the route, or `catalogFile` or `charactersFile`.')
    .meta({ example: 'refundCharge' }),
  target: z
    .string()
    .nullable()
    .describe('The account, key, payment, wallet or backend in the path, or the hash of the file.'),
  input: z.unknown().describe('The request body, or `changes` of a file in words; null without a body.'),
  requestId: z.string(),
  status: z
    .int()
    .nullable()
    .describe(
      'The HTTP status of the response. Null while the action is running, or if the process ended before it recorded the status; check the books to see whether the action took effect.',
    ),
  code: z.string().nullable().describe('The error code, if the action was rejected.'),
});

export const ActionList = z.object({
  object: z.literal('list'),
  data: z.array(ActionView),
  nextBefore: z.string().nullable().describe('Pass it as `before` for the next page.'),
});

export type ActionQuery = z.infer<typeof ActionQuery>;
export type ActionView = z.infer<typeof ActionView>;
export type ActionList = z.infer<typeof ActionList>;

export const actionRoutes = {
  listActions: {
    method: 'GET',
    path: '/operator/v1/actions',
    operationId: 'listActions',
    tag: 'Accounts',
    summary: 'Lists operator actions, newest first',
    description: `Every request that may change something is recorded before it begins, and its result when it ends. Requests that
are rejected because of their token or format are not recorded.`,
    access: 'operator',
    status: 200,
    query: ActionQuery,
    reply: ActionList,
    refusals: ['INVALID_REQUEST'],
  },
} as const satisfies Record<string, RouteDefinition>;
