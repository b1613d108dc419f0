import { type DynamicModule, Inject, Injectable, Module, type OnApplicationShutdown } from '@nestjs/common';
import type { ImagesConfig } from './images.config.js';
import { Images } from './images.js';

@Injectable()
class ThreadCloser implements OnApplicationShutdown {
  constructor(@Inject(Images) private readonly images: Images) {}

  async onApplicationShutdown(): Promise<void> {
    await this.images.close();
  }
}

/** Gives the whole application one reader of images. */
@Module({})
export class ImagesModule {
  static with(config: ImagesConfig): DynamicModule {
    return {
      module: ImagesModule,
      global: true,
      providers: [ThreadCloser, { provide: Images, useFactory: () => new Images(config) }],
      exports: [Images],
    };
  }
}
