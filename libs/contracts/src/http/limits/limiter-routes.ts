import { LimitsState } from '../../ports/limiter-wire.js';
import type { RouteDefinition } from '../route/route-definition.js';

/** The state of a process that counts limits. */
export const limiterRoutes = {
  limitsState: {
    method: 'GET',
    tag: 'Limits',
    access: 'internal',
    status: 200,
    path: '/internal/v1/limits/state',
    operationId: 'getLimitsState',
    summary: 'Shows whether limits are shared or counted by each process alone',
    reply: LimitsState,
    refusals: [],
  },
} as const satisfies Record<string, RouteDefinition>;
