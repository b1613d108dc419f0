import { limiterConfig } from '@svc/limiter';
import { SECRET_LENGTH, processConfig } from '@svc/runtime';
import { z } from 'zod';

/** Settings of the process that owns the limits. Each call belongs to a request that its gateway logs. */
export const rateLimiterConfig = {
  ...limiterConfig,
  ...processConfig({ port: 3002, logLevel: 'warn' }),
  SVC_INTERNAL_TOKEN: z
    .string()
    .min(SECRET_LENGTH)
    .describe('The secret that the processes of a deployment share'),
};

export type RateLimiterConfig = z.infer<z.ZodObject<typeof rateLimiterConfig>>;
