import { type DynamicModule, Inject, Injectable, Module, type OnApplicationShutdown } from '@nestjs/common';
import { Catalog } from '@svc/catalog';
import { InferenceRouter } from '@svc/contracts';
import { RootLogger } from '@svc/runtime';
import { router } from '@svc/telemetry';
import { BackendPool, type LiveBackend } from './backends/backend-pool.js';
import { LocalRouter, type RouterSettings } from './local-router.js';

/** Reports the state of the backends as metrics, and closes their connections at the end. */
@Injectable()
class BackendWatch implements OnApplicationShutdown {
  private readonly ends: readonly (() => void)[];

  constructor(
    @Inject(BackendPool) private readonly pool: BackendPool,
    catalog: Catalog,
  ) {
    const each = (valueOf: (live: LiveBackend) => number) => () =>
      catalog
        .entries()
        .flatMap(({ id, backends }) =>
          pool.candidates(backends).map((live): [number, string, string] => [valueOf(live), id, live.name]),
        );
    this.ends = [
      router.up.observe(each((live) => (live.rest.isOn() ? 0 : 1))),
      router.inFlight.observe(each((live) => live.inFlight)),
      router.room.observe(each((live) => live.backend.maxInFlight - live.inFlight)),
    ];
  }

  async onApplicationShutdown(): Promise<void> {
    for (const end of this.ends) end();
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
        BackendWatch,
        {
          provide: BackendPool,
          useFactory: () =>
            new BackendPool(settings.ROUTER_CONNECT_TIMEOUT_MS, settings.ROUTER_SIMULATOR_URL),
        },
        {
          provide: InferenceRouter,
          useFactory: (catalog: Catalog, pool: BackendPool, { log }: RootLogger) =>
            new LocalRouter(catalog, pool, { ...settings, log }),
          inject: [Catalog, BackendPool, RootLogger],
        },
      ],
      exports: [InferenceRouter],
    };
  }
}
