import { type DynamicModule, Module } from '@nestjs/common';
import { LimitsApiModule } from '@svc/limiter';
import { HealthModule, type Logger, LoggerModule } from '@svc/runtime';
import type { RateLimiterConfig } from './rate-limiter.config.js';

/** The limits, served to the other processes. */
@Module({})
export class RateLimiterModule {
  static with(config: RateLimiterConfig, logger: Logger): DynamicModule {
    return {
      module: RateLimiterModule,
      imports: [
        HealthModule,
        LoggerModule.of(logger),
        LimitsApiModule.redis({ config, token: config.SVC_INTERNAL_TOKEN }),
      ],
    };
  }
}
