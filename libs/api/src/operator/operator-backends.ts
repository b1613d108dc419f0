import { BackendState } from '@svc/contracts/inference';
import { z } from 'zod';
import type { RouteDefinition } from '../route/route-definition.js';
import { Label } from './operator.js';

export const BackendList = z.object({
  object: z.literal('list'),
  data: z.array(BackendState),
  routers: z
    .int()
    .describe('How many routers have reported. Counts are their sums, and states the worst of theirs.'),
});
export type BackendList = z.infer<typeof BackendList>;

export const NewBackendState = z
  .strictObject({
    state: z.enum(['active', 'draining', 'off']),
    reason: Label.describe('Shown with the state, and kept with the operator action.').meta({
      example: 'New driver',
    }),
    until: z.iso
      .datetime({ offset: true })
      .optional()
      .describe('When it is `active` again by itself. Not for `active`.'),
  })
  .refine(({ state, until }) => state !== 'active' || until === undefined, {
    path: ['until'],
    message: 'is only for `draining` and `off`',
  });
export type NewBackendState = z.infer<typeof NewBackendState>;

export const BackendStateView = z.object({
  model: z.string(),
  name: z.string(),
  state: z.enum(['active', 'draining', 'off']),
  reason: z.string(),
  since: z.iso.datetime(),
  until: z.iso.datetime().nullable(),
});
export type BackendStateView = z.infer<typeof BackendStateView>;

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
  setBackendState: {
    method: 'PUT',
    path: '/operator/v1/backends/:model/:name/state',
    operationId: 'setBackendState',
    tag: 'Health',
    summary: 'Takes a backend out of service, or puts it back',
    description: `A backend that is \`draining\` or \`off\` gets no further call; calls under way end. One that is \`off\` is not
checked either. Routers apply it within five seconds, and after a restart or a change of the catalogue too. If all backends of a
model are out of service, its requests get 503 \`MODEL_OFFLINE\`. The name of an entry with \`eachAddress\` stands for all of its
addresses, and \`NAME#2\` for one.`,
    access: 'operator',
    scope: 'keys',
    status: 200,
    params: z.object({
      model: z
        .string()
        .max(200)
        .describe('The id of the model, or `#crypto-rpc-` and the name of the network.'),
      name: z.string().max(100).describe('The name of the backend.'),
    }),
    body: NewBackendState,
    reply: BackendStateView,
    refusals: ['INVALID_REQUEST', 'BACKEND_NOT_FOUND', 'UNAVAILABLE'],
  },
} as const satisfies Record<string, RouteDefinition>;
