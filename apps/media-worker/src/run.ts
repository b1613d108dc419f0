import 'reflect-metadata';
import { openMediaStore } from '@svc/media-jobs';
import { type Environment, runProcess } from '@svc/runtime';
import { checkMigrated, whenReachable } from '@svc/storage';
import { mediaWorkerConfig } from './media-worker.config.js';
import { MediaWorkerModule } from './media-worker.module.js';

/** Takes the jobs that make videos and music from the gateways, and does them. */
export const run = (env: Environment): Promise<void> =>
  runProcess(env, {
    settings: mediaWorkerConfig,
    start: async ({ config, logger, serve, undo }) => {
      const { DATABASE_URL: url, DATABASE_START_WAIT_MS: waitMs } = config;
      const files = await openMediaStore(config, logger);
      undo(() => files.close());
      await whenReachable({ url, waitMs, logger }, () => checkMigrated(url, { logger }));
      const { apiUrl } = await serve({ module: MediaWorkerModule.with({ config, files, logger }) });
      return `media-worker listening on ${apiUrl}`;
    },
  });
