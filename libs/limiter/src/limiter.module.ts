import { type DynamicModule, Module, type Provider } from '@nestjs/common';
import { Limiter } from '@svc/contracts';
import { RootLogger } from '@svc/runtime';
import { LeasingLimiter } from './counting/leasing-limiter.js';
import type { LimiterConfig } from './limiter.config.js';
import { LEASE_MS, MemoryLimiter } from './counting/memory-limiter.js';
import { redisLimiter } from './redis-provider.js';
import { RenewingLimiter } from './counting/renewing-limiter.js';

/** The limiter of a process that makes requests, on the one that counts. */
export function renewing(leaseMs: number): Provider {
  return {
    provide: Limiter,
    useFactory: (limiter: LeasingLimiter, { log }: RootLogger) => new RenewingLimiter(limiter, leaseMs, log),
    inject: [LeasingLimiter, RootLogger],
  };
}

/** Counts on Redis, for any number of processes. */
@Module({})
class RedisLimiterModule {}

/** Counts in the memory of this process: the only one that makes requests. Needs the global module of logging. */
@Module({
  providers: [{ provide: LeasingLimiter, useFactory: () => new MemoryLimiter() }, renewing(LEASE_MS)],
  exports: [Limiter, LeasingLimiter],
})
export class LimiterModule {
  /** Counts on Redis, for any number of processes, each of which asks Redis itself. */
  static redis(config: LimiterConfig): DynamicModule {
    return {
      module: RedisLimiterModule,
      providers: [redisLimiter(config), renewing(config.LIMITER_LEASE_MS)],
      exports: [Limiter, LeasingLimiter],
    };
  }
}
