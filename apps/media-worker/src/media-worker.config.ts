import { booksClientConfig } from '@svc/ledger';
import { mediaJobsConfig, mediaStoreConfig } from '@svc/media-jobs';
import { routerClientConfig } from '@svc/router';
import {
  databaseConnections,
  databaseStartWaitMs,
  databaseUrl,
  internalTokens,
  processConfig,
} from '@svc/runtime';
import type { z } from 'zod';

/** Settings of the process that makes videos and music. It logs no calls: the gateway logs each request. */
export const mediaWorkerConfig = {
  ...mediaJobsConfig,
  ...mediaStoreConfig,
  ...booksClientConfig,
  ...routerClientConfig,
  ...processConfig({ name: 'media-worker', port: 3007, logLevel: 'warn' }),
  DATABASE_URL: databaseUrl.describe('The URL of the PostgreSQL database with the jobs'),
  DATABASE_CONNECTIONS: databaseConnections,
  DATABASE_START_WAIT_MS: databaseStartWaitMs,
  ...internalTokens({ accepts: 'MEDIA_JOBS', sends: ['LEDGER', 'ROUTER'] }),
};

export type MediaWorkerConfig = z.infer<z.ZodObject<typeof mediaWorkerConfig>>;
