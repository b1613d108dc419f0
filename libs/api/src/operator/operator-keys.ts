import { z } from 'zod';
import { PlainApiKeyView } from '../keys/api-keys.js';
import type { RouteDefinition } from '../route/route-definition.js';
import { Label } from './operator.js';

const state = z.enum(['active', 'expired', 'revoked']);

export const OperatorKeyQuery = z.strictObject({
  accountId: z.uuid().optional(),
  search: Label.optional().describe(
    'The beginning of an id, the end of a secret (`last6Chars` or less), or a part of a description (in upper or lower case).',
  ),
  state: state.optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(100),
  before: z.uuid().optional().describe('`nextBefore` of the previous page.'),
});

export const OperatorKeyView = PlainApiKeyView.extend({
  accountId: z.uuid(),
  state,
  revokedAt: z.iso.datetime().nullable(),
  revokedBy: z
    .string()
    .nullable()
    .describe(
      "Who revoked it: `operator:` and the name of the operator's token, `key:` and the id of the customer's key, or `console`. Null for keys that earlier releases revoked.",
    )
    .meta({ example: 'operator:ann' }),
});

export const OperatorKeyList = z.object({
  object: z.literal('list'),
  data: z.array(OperatorKeyView),
  nextBefore: z.uuid().nullable().describe('Pass it as `before` for the next page.'),
});

export type OperatorKeyQuery = z.infer<typeof OperatorKeyQuery>;
export type OperatorKeyView = z.infer<typeof OperatorKeyView>;
export type OperatorKeyList = z.infer<typeof OperatorKeyList>;

export const operatorKeyRoutes = {
  listAllKeys: {
    method: 'GET',
    path: '/operator/v1/api_keys',
    operationId: 'listAllKeys',
    tag: 'Accounts',
    summary: 'Lists and searches API keys, those of one account or all, newest first',
    description: 'Expired and revoked keys are listed too.',
    access: 'operator',
    status: 200,
    query: OperatorKeyQuery,
    reply: OperatorKeyList,
    refusals: ['INVALID_REQUEST'],
  },
  revokeAnyKey: {
    method: 'DELETE',
    path: '/operator/v1/api_keys/:id',
    operationId: 'revokeAnyKey',
    tag: 'Accounts',
    summary: 'Revokes an API key of any account',
    description:
      'Every gateway refuses the key within a second. Requests under way finish. Revoking a revoked key changes nothing.',
    access: 'operator',
    scope: 'keys',
    status: 200,
    params: z.object({ id: z.uuid() }),
    reply: OperatorKeyView,
    refusals: ['INVALID_REQUEST', 'API_KEY_NOT_FOUND'],
  },
} as const satisfies Record<string, RouteDefinition>;
