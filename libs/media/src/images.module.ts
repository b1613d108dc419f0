import { type DynamicModule, Module } from '@nestjs/common';
import { closedAtEnd } from '@svc/runtime';
import type { ImagesConfig } from './images.config.js';
import { AudioFiles } from './audio-files.js';
import { Images } from './images.js';
import { MediaThreads } from './media-threads.js';

/** Provides the readers of images and audio files of the application, which share their threads. */
@Module({})
export class ImagesModule {
  static with(config: ImagesConfig): DynamicModule {
    return {
      module: ImagesModule,
      global: true,
      providers: [
        closedAtEnd(MediaThreads),
        { provide: MediaThreads, useFactory: () => new MediaThreads(config) },
        {
          provide: Images,
          useFactory: (threads: MediaThreads) => new Images(config, threads),
          inject: [MediaThreads],
        },
        {
          provide: AudioFiles,
          useFactory: (threads: MediaThreads) => new AudioFiles(threads),
          inject: [MediaThreads],
        },
      ],
      exports: [Images, AudioFiles],
    };
  }
}
