export { FallbackLimiter, type FallbackOptions } from './fallback/fallback-limiter.js';
export { HttpLimiter, type LimiterAddress } from './api/http-limiter.js';
export { LeasingLimiter } from './counting/renewing-limiter.js';
export { SharedLimiter } from './counting/shared-limiter.js';
export { LimiterClientModule, type LimiterClientOptions } from './limiter-client.module.js';
export {
  type LimiterClientConfig,
  type LimiterConfig,
  limiterClientConfig,
  limiterConfig,
} from './limiter.config.js';
export { LimitLogModule } from './log/limit-log.module.js';
export { LimiterModule } from './limiter.module.js';
export { LimitsApiModule, type LimitsApiOptions } from './limits-api.module.js';
export {
  type LimiterTimes,
  MemoryLimiter,
  type MemoryLimiterOptions,
  STANDARD_TIMES,
} from './counting/memory-limiter.js';
export { RedisLimiter, type RedisLimiterOptions } from './counting/redis-limiter.js';
