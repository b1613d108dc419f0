import { type DynamicModule, Module } from '@nestjs/common';
import { FileBlocks, MediaJobs } from '@svc/contracts/ports';
import { closedAtEnd } from '@svc/runtime';
import { HttpFileBlocks } from './api/http-file-blocks.js';
import { HttpMediaJobs } from './api/http-media-jobs.js';
import { NoFileBlocks } from './files/local-file-blocks.js';
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
          ? [
              { provide: MediaJobs, useClass: NoMediaJobs },
              { provide: FileBlocks, useClass: NoFileBlocks },
            ]
          : [
              { provide: HttpMediaJobs, useFactory: () => new HttpMediaJobs({ url, token, waitMs }) },
              closedAtEnd(HttpMediaJobs),
              { provide: MediaJobs, useExisting: HttpMediaJobs },
              { provide: HttpFileBlocks, useFactory: () => new HttpFileBlocks({ url, token }) },
              closedAtEnd(HttpFileBlocks),
              { provide: FileBlocks, useExisting: HttpFileBlocks },
            ],
      exports: [MediaJobs, FileBlocks],
    };
  }
}
