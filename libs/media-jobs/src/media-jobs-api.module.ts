import { type DynamicModule, Module } from '@nestjs/common';
import { InternalToken } from '@svc/runtime';
import { FileBlocksPortController } from './api/file-blocks.controller.js';
import { MediaJobsPortController } from './api/media-jobs.controller.js';
import { type MediaJobsOptions, MediaJobsModule } from './media-jobs.module.js';

/** Takes jobs from other processes and does them. Needs the same modules as `MediaJobsModule`. */
@Module({})
export class MediaJobsApiModule {
  /** Callers must send `token`. */
  static with(options: MediaJobsOptions, token: InternalToken, neighbours: DynamicModule[]): DynamicModule {
    return {
      module: MediaJobsApiModule,
      imports: [MediaJobsModule.with(options, neighbours)],
      controllers: [MediaJobsPortController, FileBlocksPortController],
      providers: [{ provide: InternalToken, useValue: token }],
    };
  }
}
