import { type DynamicModule, Module } from '@nestjs/common';
import { closedAtEnd } from '@svc/runtime';
import type { ImagesConfig } from './images.config.js';
import { Images } from './images.js';

/** Provides the image reader of the application. */
@Module({})
export class ImagesModule {
  static with(config: ImagesConfig): DynamicModule {
    return {
      module: ImagesModule,
      global: true,
      providers: [closedAtEnd(Images), { provide: Images, useFactory: () => new Images(config) }],
      exports: [Images],
    };
  }
}
