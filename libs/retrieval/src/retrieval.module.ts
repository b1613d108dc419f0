import { type DynamicModule, Inject, Injectable, Module, type OnApplicationShutdown } from '@nestjs/common';
import { Retrieval } from '@svc/contracts';
import { LocalRetrieval } from './local-retrieval.js';
import type { RetrievalConfig } from './retrieval.config.js';

@Injectable()
class ThreadCloser implements OnApplicationShutdown {
  constructor(@Inject(LocalRetrieval) private readonly retrieval: LocalRetrieval) {}

  async onApplicationShutdown(): Promise<void> {
    await this.retrieval.close();
  }
}

/** Reads files in threads of this process. */
@Module({})
export class RetrievalModule {
  static with(config: RetrievalConfig): DynamicModule {
    return {
      module: RetrievalModule,
      providers: [
        ThreadCloser,
        { provide: LocalRetrieval, useFactory: () => new LocalRetrieval(config) },
        { provide: Retrieval, useExisting: LocalRetrieval },
      ],
      exports: [Retrieval],
    };
  }
}
