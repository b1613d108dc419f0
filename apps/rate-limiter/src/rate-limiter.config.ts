import { limiterConfig } from '@svc/limiter';
import { internalTokens, processConfig } from '@svc/runtime';
import type { z } from 'zod';

/** Settings of the process that owns the limits. Each call belongs to a request that its gateway logs. */
export const rateLimiterConfig = {
  ...limiterConfig,
  ...processConfig({ name: 'rate-limiter', port: 3002, logLevel: 'warn' }),
  ...internalTokens,
};

export type RateLimiterConfig = z.infer<z.ZodObject<typeof rateLimiterConfig>>;
