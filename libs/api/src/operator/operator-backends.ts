import { BackendState } from '@svc/contracts/inference';
import { z } from 'zod';
import type { RouteDefinition } from '../route/route-definition.js';

export const BackendList = z.object({
  object: z.literal('list'),
  data: z.array(BackendState),
  routers: z
    .int()
    .describe('How many routers have reported. Counts are their sums, and states the worst of theirs.'),
});
export type BackendList = z.infer<typeof BackendList>;

export const backendRoutes = {
  listBackends: {
    method: 'GET',
    path: '/operator/v1/backends',
    operationId: 'listBackends',
    tag: 'Health',
    summary: 'Lists the backends of all models and the nodes of all networks, with their state',
    description: `Every router reports its own calls. In a cluster the gateway asks each address in \`ROUTER_URL\` once; of several
routers behind one name, one responds.`,
    access: 'operator',
    status: 200,
    reply: BackendList,
    refusals: ['UNAVAILABLE'],
  },
} as const satisfies Record<string, RouteDefinition>;
