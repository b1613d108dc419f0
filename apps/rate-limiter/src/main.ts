import 'reflect-metadata';
import { runProcess } from '@svc/runtime';
import { rateLimiterConfig } from './rate-limiter.config.js';
import { RateLimiterModule } from './rate-limiter.module.js';

await runProcess(process.env, {
  settings: rateLimiterConfig,
  start: async ({ config, serve }) => {
    const { apiUrl } = await serve({ module: RateLimiterModule.with(config) });
    return `rate-limiter listening on ${apiUrl}`;
  },
});
