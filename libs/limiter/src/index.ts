export { LimiterModule } from './limiter.module.js';
export { MemoryLimiter, WINDOW_MS } from './memory-limiter.js';
