import { type DynamicModule, Module } from '@nestjs/common';
import { InternalToken } from '@svc/runtime';
import type { LimiterConfig } from './limiter.config.js';
import { LimitsController } from './api/limits.controller.js';
import { redisLimiter } from './redis-provider.js';

export interface LimitsApiOptions {
  readonly config: LimiterConfig;
  /** The secret that callers must present. */
  readonly token: InternalToken;
}

/** Serves limits counted on Redis to other processes. Needs the global logging module. */
@Module({})
export class LimitsApiModule {
  static redis({ config, token }: LimitsApiOptions): DynamicModule {
    return {
      module: LimitsApiModule,
      controllers: [LimitsController],
      providers: [redisLimiter(config), { provide: InternalToken, useValue: token }],
    };
  }
}
