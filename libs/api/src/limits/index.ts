export { RateLimitLog, RateLimits } from './rate-limits.js';
