import type { FactoryProvider } from '@nestjs/common';
import { RootLogger } from '@svc/runtime';
import { connectRedis } from '@svc/storage';
import { FallbackLimiter } from './fallback/fallback-limiter.js';
import { LeasingLimiter } from './counting/renewing-limiter.js';
import type { LimiterConfig } from './limiter.config.js';
import type { LimiterTimes } from './counting/memory-limiter.js';
import { RedisLimiter } from './counting/redis-limiter.js';

/** A late call that Redis runs within this many waits is undone; an even later one counts nothing. */
const FORGET_AFTER_WAITS = 2;

/** The limiter on Redis, with a local share while Redis is unreachable. */
export function redisLimiter(config: LimiterConfig): FactoryProvider<FallbackLimiter> {
  const { LIMITER_REDIS_WAIT_MS: waitMs, LIMITER_LEASE_MS: leaseMs, LIMITER_LOCAL_SHARE: share } = config;
  const times: LimiterTimes = {
    leaseMs,
    failureWindowMs: config.LIMITER_FAILURE_WINDOW_MS,
    failureBlockMs: config.LIMITER_FAILURE_BLOCK_MS,
  };
  return {
    provide: LeasingLimiter,
    useFactory: ({ log }: RootLogger) => {
      const redis = connectRedis({ url: config.REDIS_URL, name: 'limiter', logger: log });
      const shared = new RedisLimiter(redis, { ...times, forgetAfterMs: FORGET_AFTER_WAITS * waitMs });
      return new FallbackLimiter(shared, { to: 'Redis', waitMs, leaseMs, local: { ...times, share } }, log);
    },
    inject: [RootLogger],
  };
}
