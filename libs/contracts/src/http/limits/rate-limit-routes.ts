import { RateLimitLog, RateLimits } from './rate-limits.js';
import type { RouteDefinition } from '../route/route-definition.js';

const log = {
  method: 'GET',
  tag: 'Rate limits',
  access: 'key',
  status: 200,
  reply: RateLimitLog,
  headers: ['balances'],
  refusals: ['UNAVAILABLE'],
} as const;

/** Routes about limits. */
export const rateLimitRoutes = {
  rateLimits: {
    method: 'GET',
    path: '/api/v1/api_keys/rate_limits',
    operationId: 'getRateLimits',
    tag: 'Rate limits',
    summary: 'Shows the limits and balances of the key that asks',
    description:
      'Requests and tokens per minute, for each model. Windows begin with the minute. Where the key has lower limits of its own, those are shown.',
    access: 'key',
    status: 200,
    reply: RateLimits,
    headers: ['balances'],
    refusals: ['UNAVAILABLE'],
  },
  rateLimitLogs: {
    ...log,
    path: '/api/v1/api_keys/rate_limit_logs',
    operationId: 'listRateLimitLogs',
    summary: 'Lists the last 50 requests of the account that ran into limits, newest first',
  },
  rateLimitLog: {
    ...log,
    path: '/api/v1/api_keys/rate_limits/log',
    operationId: 'listRateLimitLog',
    summary: 'Another name of rate_limit_logs',
  },
} as const satisfies Record<string, RouteDefinition>;
