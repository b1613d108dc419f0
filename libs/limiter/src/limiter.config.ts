import { FAILURE_BLOCK_MS, FAILURE_WINDOW_MS } from '@svc/contracts/ports';
import { durationMs, neighbourUrl, redisUrl } from '@svc/runtime';
import { z } from 'zod';
import { LEASE_MS } from './counting/memory-limiter.js';

const localShare = z.coerce
  .number()
  .gt(0)
  .max(1)
  .default(0.25)
  .describe(
    'The fraction of each limit that a process may use on its own while the shared count is unavailable',
  );

/** Settings of limits counted on Redis, read together with those of their process. */
export const limiterConfig = {
  REDIS_URL: redisUrl,
  LIMITER_REDIS_WAIT_MS: durationMs
    .default(500)
    .describe(
      'How long a request waits for Redis, not counting time in which the process itself is too busy to read, before it is counted against the local share',
    ),
  LIMITER_LOCAL_SHARE: localShare,
  LIMITER_LEASE_MS: durationMs
    .default(LEASE_MS)
    .describe('How long a request of a process that has died still counts as running; at least a minute'),
  LIMITER_FAILURE_WINDOW_MS: durationMs
    .default(FAILURE_WINDOW_MS)
    .describe('How long a failure counts. The public API promises 30 s; other values are for tests'),
  LIMITER_FAILURE_BLOCK_MS: durationMs
    .default(FAILURE_BLOCK_MS)
    .describe(
      'How long a caller is blocked after too many failures. The public API promises 30 s; other values are for tests',
    ),
};

export type LimiterConfig = z.infer<z.ZodObject<typeof limiterConfig>>;

/** Settings of a process that calls the limiter of another. */
export const limiterClientConfig = {
  LIMITER_URL: neighbourUrl.describe(
    'The URL of the limiter; those of several replicas are separated by commas',
  ),
  LIMITER_WAIT_MS: durationMs
    .default(1_000)
    .describe(
      'How long a request waits for the limiter before it is counted against the local share; must be longer than LIMITER_REDIS_WAIT_MS',
    ),
  LIMITER_LOCAL_SHARE: localShare,
  LIMITER_LEASE_MS: limiterConfig.LIMITER_LEASE_MS,
};

export type LimiterClientConfig = z.infer<z.ZodObject<typeof limiterClientConfig>>;
