export { RateLimitLog, RateLimitUsage, RateLimits } from './rate-limits.js';
