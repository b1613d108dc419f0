import { type DynamicModule, Module } from '@nestjs/common';
import { BooksClientModule } from '@svc/ledger';
import { MediaJobsApiModule, type MediaStore } from '@svc/media-jobs';
import { RouterClientModule } from '@svc/router';
import { InternalToken, type Logger } from '@svc/runtime';
import { StorageModule } from '@svc/storage';
import type { MediaWorkerConfig } from './media-worker.config.js';

interface MediaWorkerParts {
  readonly config: MediaWorkerConfig;
  readonly files: MediaStore;
  readonly logger: Logger;
}

/** Does jobs with the router and the ledger of other processes. */
@Module({})
export class MediaWorkerModule {
  static with({ config, files, logger }: MediaWorkerParts): DynamicModule {
    return {
      module: MediaWorkerModule,
      imports: [
        StorageModule.at({ url: config.DATABASE_URL, maxConnections: config.DATABASE_CONNECTIONS, logger }),
        MediaJobsApiModule.with(
          { config, files },
          new InternalToken(config.MEDIA_JOBS_TOKEN, config.MEDIA_JOBS_TOKEN_SECOND),
          [
            BooksClientModule.at({ config, token: config.LEDGER_TOKEN }),
            RouterClientModule.at({ ...config, token: config.ROUTER_TOKEN }),
          ],
        ),
      ],
    };
  }
}
