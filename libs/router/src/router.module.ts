import { type DynamicModule, Inject, Injectable, Module, type OnApplicationShutdown } from '@nestjs/common';
import { InferenceRouter } from '@svc/contracts';
import { Catalog } from '@svc/runtime';
import { BackendPool } from './backend-pool.js';
import { LocalRouter, type RouterSettings } from './local-router.js';

@Injectable()
class PoolCloser implements OnApplicationShutdown {
  constructor(@Inject(BackendPool) private readonly pool: BackendPool) {}

  async onApplicationShutdown(): Promise<void> {
    await this.pool.close();
  }
}

/** The router itself. */
@Module({})
export class RouterModule {
  static with(settings: RouterSettings): DynamicModule {
    return {
      module: RouterModule,
      providers: [
        PoolCloser,
        {
          provide: BackendPool,
          useFactory: () =>
            new BackendPool(settings.ROUTER_CONNECT_TIMEOUT_MS, settings.ROUTER_SIMULATOR_URL),
        },
        {
          provide: InferenceRouter,
          useFactory: (catalog: Catalog, pool: BackendPool) => new LocalRouter(catalog, pool, settings),
          inject: [Catalog, BackendPool],
        },
      ],
      exports: [InferenceRouter],
    };
  }
}
