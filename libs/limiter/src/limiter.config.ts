import { FAILURE_BLOCK_MS, FAILURE_WINDOW_MS } from '@svc/contracts';
import { durationMs, neighbourUrl, redisUrl } from '@svc/runtime';
import { z } from 'zod';
import { LEASE_MS, WINDOW_MS } from './counting/memory-limiter.js';

const localShare = z.coerce
  .number()
  .gt(0)
  .max(1)
  .default(0.25)
  .describe('The part of each limit that a process gives out alone while the shared count is out of reach');

/** Settings of limits counted on Redis, read together with those of their process. */
export const limiterConfig = {
  REDIS_URL: redisUrl,
  LIMITER_REDIS_WAIT_MS: durationMs
    .default(500)
    .describe(
      'A request is admitted from the local share when Redis is silent for this time, in which the process was not too busy to read',
    ),
  LIMITER_LOCAL_SHARE: localShare,
  LIMITER_LEASE_MS: durationMs
    .default(LEASE_MS)
    .describe(
      'A request whose process has died is no longer under way after this time; no less than a window',
    ),
  LIMITER_WINDOW_MS: durationMs
    .default(WINDOW_MS)
    .describe('How long a window is. The public interface promises a minute; others are for tests'),
  LIMITER_FAILURE_WINDOW_MS: durationMs
    .default(FAILURE_WINDOW_MS)
    .describe('How long a failure counts. The public interface promises 30 s; others are for tests'),
  LIMITER_FAILURE_BLOCK_MS: durationMs
    .default(FAILURE_BLOCK_MS)
    .describe('How long failures block. The public interface promises 30 s; others are for tests'),
};

export type LimiterConfig = z.infer<z.ZodObject<typeof limiterConfig>>;

/** Settings of a process that calls the limiter of another. */
export const limiterClientConfig = {
  LIMITER_URL: neighbourUrl.describe('Where the limiter listens: an address, or those of replicas by commas'),
  LIMITER_WAIT_MS: durationMs
    .default(1_000)
    .describe(
      'A request is admitted from the local share when the limiter is silent for this time; longer than `LIMITER_REDIS_WAIT_MS`',
    ),
  LIMITER_LOCAL_SHARE: localShare,
  LIMITER_LEASE_MS: limiterConfig.LIMITER_LEASE_MS,
};

export type LimiterClientConfig = z.infer<z.ZodObject<typeof limiterClientConfig>>;
