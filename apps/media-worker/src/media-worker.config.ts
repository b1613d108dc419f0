import { booksClientConfig } from '@svc/ledger';
import { mediaJobsConfig, mediaStoreConfig } from '@svc/media-jobs';
import { routerClientConfig } from '@svc/router';
import { databaseSettings, internalTokens, processConfig } from '@svc/runtime';
import type { z } from 'zod';

/** Settings of the process that makes videos and music. It logs no calls: the gateway logs each request. */
export const mediaWorkerConfig = {
  ...mediaJobsConfig,
  ...mediaStoreConfig,
  ...booksClientConfig,
  ...routerClientConfig,
  ...processConfig({ name: 'media-worker', port: 3007, logLevel: 'warn' }),
  ...databaseSettings('the jobs'),
  ...internalTokens({ accepts: 'MEDIA_JOBS', sends: ['LEDGER', 'ROUTER'] }),
};

export type MediaWorkerConfig = z.infer<z.ZodObject<typeof mediaWorkerConfig>>;
