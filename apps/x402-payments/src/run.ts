import 'reflect-metadata';
import { type Environment, runProcess } from '@svc/runtime';
import { checkMigrated, whenReachable } from '@svc/storage';
import { x402PaymentsConfig } from './x402-payments.config.js';
import { X402PaymentsModule } from './x402-payments.module.js';

/** Serves payments to the other processes. */
export const run = (env: Environment): Promise<void> =>
  runProcess(env, {
    settings: x402PaymentsConfig,
    start: async ({ config, logger, serve }) => {
      const { DATABASE_URL: url, DATABASE_START_WAIT_MS: waitMs } = config;
      await whenReachable({ url, waitMs, logger }, () => checkMigrated(url, { logger }));
      const { apiUrl } = await serve({ module: X402PaymentsModule.with(config, logger) });
      return `x402-payments listening on ${apiUrl}`;
    },
  });
