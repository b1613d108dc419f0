import { LimitsState } from '@svc/contracts/ports';
import { RateLimitLog, RateLimitUsage, RateLimits } from './rate-limits.js';
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
    summary: "Shows the limits and balances of the caller's key",
    description:
      'Requests and tokens per minute, for each model. Windows begin at full minutes. If the key has lower limits of its own, they are shown.',
    access: 'key',
    status: 200,
    reply: RateLimits,
    headers: ['balances'],
    refusals: ['UNAVAILABLE'],
  },
  rateLimitUsage: {
    method: 'GET',
    path: '/api/v1/api_keys/rate_limits/usage',
    operationId: 'getRateLimitUsage',
    tag: 'Rate limits',
    summary: "Shows what is used of the limits of the caller's key in this minute or day",
    description:
      'Of several limits of one type, those of the account and of the key, the one with the least left. Takes nothing of any limit.',
    access: 'key',
    status: 200,
    reply: RateLimitUsage,
    headers: ['balances'],
    refusals: [],
  },
  rateLimitLogs: {
    ...log,
    path: '/api/v1/api_keys/rate_limit_logs',
    operationId: 'listRateLimitLogs',
    summary: "Lists the account's last 50 requests that exceeded a limit, newest first",
    description: 'Of all keys of the account. What was refused for another reason is not in it.',
  },
  rateLimitLog: {
    ...log,
    path: '/api/v1/api_keys/rate_limits/log',
    operationId: 'listRateLimitLog',
    summary: 'Alias of rate_limit_logs',
    description: 'The same list under the path of the public interface.',
  },
} as const satisfies Record<string, RouteDefinition>;

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
