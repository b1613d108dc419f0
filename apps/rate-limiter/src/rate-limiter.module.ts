import { type DynamicModule, Module } from '@nestjs/common';
import { LimitsApiModule } from '@svc/limiter';
import { InternalToken } from '@svc/runtime';
import type { RateLimiterConfig } from './rate-limiter.config.js';

/** Serves the limits to the other processes. */
@Module({})
export class RateLimiterModule {
  static with(config: RateLimiterConfig): DynamicModule {
    return {
      module: RateLimiterModule,
      imports: [
        LimitsApiModule.redis({
          config,
          token: new InternalToken(config.LIMITER_TOKEN, config.LIMITER_TOKEN_SECOND),
        }),
      ],
    };
  }
}
