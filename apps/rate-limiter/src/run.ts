import 'reflect-metadata';
import { type Environment, runProcess } from '@svc/runtime';
import { rateLimiterConfig } from './rate-limiter.config.js';
import { RateLimiterModule } from './rate-limiter.module.js';

/** Serves the limits to the other processes. */
export const run = (env: Environment): Promise<void> =>
  runProcess(env, {
    settings: rateLimiterConfig,
    start: async ({ config, serve }) => {
      const { apiUrl } = await serve({ module: RateLimiterModule.with(config) });
      return `rate-limiter listening on ${apiUrl}`;
    },
  });
