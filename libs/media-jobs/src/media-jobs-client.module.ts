import { type DynamicModule, Module } from '@nestjs/common';
import { MediaJobs } from '@svc/contracts/ports';
import { closedAtEnd } from '@svc/runtime';
import { HttpMediaJobs } from './api/http-media-jobs.js';
import { NoMediaJobs } from './local-media-jobs.js';
import type { MediaJobsClientConfig } from './media-jobs.config.js';

/** The jobs of another process, or of none. */
@Module({})
export class MediaJobsClientModule {
  /** Without the URL of a worker, all jobs are refused. */
  static at({ config, token }: { config: MediaJobsClientConfig; token: string }): DynamicModule {
    const { MEDIA_JOBS_URL: url, MEDIA_JOBS_WAIT_MS: waitMs } = config;
    return {
      module: MediaJobsClientModule,
      providers:
        url === undefined
          ? [{ provide: MediaJobs, useClass: NoMediaJobs }]
          : [
              { provide: HttpMediaJobs, useFactory: () => new HttpMediaJobs({ url, token, waitMs }) },
              closedAtEnd(HttpMediaJobs),
              { provide: MediaJobs, useExisting: HttpMediaJobs },
            ],
      exports: [MediaJobs],
    };
  }
}
