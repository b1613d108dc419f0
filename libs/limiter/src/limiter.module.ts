import { type DynamicModule, Module, type Provider } from '@nestjs/common';
import { Limiter } from '@svc/contracts/ports';
import { RootLogger } from '@svc/runtime';
import { LeasingLimiter } from './counting/renewing-limiter.js';
import type { LimiterConfig } from './limiter.config.js';
import { LEASE_MS, MemoryLimiter } from './counting/memory-limiter.js';
import { redisLimiter } from './redis-provider.js';
import { RenewingLimiter } from './counting/renewing-limiter.js';

/** The limiter of a process that makes requests, wrapped around the one that counts. */
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

/** Counts in memory: no other process may make requests. Needs the global logging module. */
@Module({
  providers: [{ provide: LeasingLimiter, useFactory: () => new MemoryLimiter() }, renewing(LEASE_MS)],
  exports: [Limiter, LeasingLimiter],
})
export class LimiterModule {
  /** Counts on Redis, for any number of processes, each with its own connection. */
  static redis(config: LimiterConfig): DynamicModule {
    return {
      module: RedisLimiterModule,
      providers: [redisLimiter(config), renewing(config.LIMITER_LEASE_MS)],
      exports: [Limiter, LeasingLimiter],
    };
  }
}
