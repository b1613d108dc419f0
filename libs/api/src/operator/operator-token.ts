import { z } from 'zod';
import { OPERATOR_SCOPES, type RouteDefinition } from '../route/route-definition.js';

export const OperatorTokenView = z.object({
  name: z.string().describe('As in the log of operator actions.'),
  scopes: z.array(z.enum(OPERATOR_SCOPES)),
  expiresAt: z.iso.datetime().nullable().describe('Null if it does not expire.'),
});
export type OperatorTokenView = z.infer<typeof OperatorTokenView>;

/** Pages that operators use beside this API. */
export const LinkList = z.object({
  object: z.literal('list'),
  data: z.array(z.object({ name: z.string(), url: z.url() })),
});
export type LinkList = z.infer<typeof LinkList>;

export const operatorTokenRoutes = {
  showOperatorToken: {
    method: 'GET',
    path: '/operator/v1/token',
    operationId: 'showOperatorToken',
    tag: 'Health',
    summary: 'Shows the name, scopes and expiry of the token of the request',
    access: 'operator',
    status: 200,
    reply: OperatorTokenView,
    refusals: [],
  },
  listOperatorLinks: {
    method: 'GET',
    path: '/operator/v1/links',
    operationId: 'listOperatorLinks',
    tag: 'Health',
    summary: 'Lists the pages in `SVC_OPERATOR_LINKS`, such as dashboards and runbooks',
    access: 'operator',
    status: 200,
    reply: LinkList,
    refusals: [],
  },
} as const satisfies Record<string, RouteDefinition>;
