import { limiterConfig } from '@svc/limiter';
import { internalToken, processConfig } from '@svc/runtime';
import type { z } from 'zod';

/** Settings of the process that owns the limits. Each call belongs to a request that its gateway logs. */
export const rateLimiterConfig = {
  ...limiterConfig,
  ...processConfig({ name: 'rate-limiter', port: 3002, logLevel: 'warn' }),
  SVC_INTERNAL_TOKEN: internalToken,
};

export type RateLimiterConfig = z.infer<z.ZodObject<typeof rateLimiterConfig>>;
