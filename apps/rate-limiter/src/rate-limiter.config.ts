import { limiterConfig } from '@svc/limiter';
import { DRAIN_MS, LOG_LEVELS, port, whole } from '@svc/runtime';
import { z } from 'zod';

/** Settings of the process that owns the limits. */
export const rateLimiterConfig = {
  ...limiterConfig,
  PORT: port.default(3002).describe('Where it listens; 0 takes a free port'),
  HOST: z.string().default('127.0.0.1').describe('The address that it listens on'),
  SVC_INTERNAL_TOKEN: z.string().min(16).describe('The secret that the processes of a deployment share'),
  // Each call belongs to a request that its gateway logs.
  SVC_LOG_LEVEL: z.enum(LOG_LEVELS).default('warn').describe('What is logged'),
  SVC_DRAIN_MS: whole(0, 600_000)
    .default(DRAIN_MS)
    .describe('How long calls may go on once the process is told to stop'),
};

export type RateLimiterConfig = z.infer<z.ZodObject<typeof rateLimiterConfig>>;
