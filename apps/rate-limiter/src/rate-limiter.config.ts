import { limiterConfig } from '@svc/limiter';
import { internalTokens, processConfig } from '@svc/runtime';
import type { z } from 'zod';

/**
 * Settings of the process that enforces the limits. By default it logs only warnings: the gateway logs each
 * request.
 */
export const rateLimiterConfig = {
  ...limiterConfig,
  ...processConfig({ name: 'rate-limiter', port: 3002, logLevel: 'warn' }),
  ...internalTokens({ accepts: 'LIMITER' }),
};

export type RateLimiterConfig = z.infer<z.ZodObject<typeof rateLimiterConfig>>;
