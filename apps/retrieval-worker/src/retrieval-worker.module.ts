import { type DynamicModule, Module } from '@nestjs/common';
import { type Catalog, CatalogModule } from '@svc/catalog';
import { GuardedFetchModule } from '@svc/guarded-fetch';
import { RetrievalApiModule } from '@svc/retrieval';
import { type Environment, InternalToken } from '@svc/runtime';
import type { RetrievalWorkerConfig } from './retrieval-worker.config.js';

/** Provides retrieval with the search providers of the catalogue. */
@Module({})
export class RetrievalWorkerModule {
  static with(config: RetrievalWorkerConfig, catalog: Catalog, env: Environment): DynamicModule {
    const settings = { ...config, secret: (name: string) => env[name], redisUrl: config.REDIS_URL };
    return {
      module: RetrievalWorkerModule,
      imports: [
        CatalogModule.of(catalog),
        GuardedFetchModule.with({ allowPrivateHosts: privateHosts(config) }),
        RetrievalApiModule.with(
          settings,
          new InternalToken(config.RETRIEVAL_TOKEN, config.RETRIEVAL_TOKEN_SECOND),
        ),
      ],
    };
  }
}

function privateHosts({ RETRIEVAL_PRIVATE_HOSTS: hosts }: RetrievalWorkerConfig): string[] {
  return hosts.split(',').filter((host) => host !== '');
}
