import { type DynamicModule, Module } from '@nestjs/common';
import { type Catalog, CatalogModule } from '@svc/catalog';
import { RouterApiModule } from '@svc/router';
import { InternalToken, type Secrets } from '@svc/runtime';
import type { InferenceRouterConfig } from './inference-router.config.js';

/** Serves the router to the other processes. */
@Module({})
export class InferenceRouterModule {
  static with(config: InferenceRouterConfig & { readonly secret: Secrets }, catalog: Catalog): DynamicModule {
    return {
      module: InferenceRouterModule,
      imports: [
        CatalogModule.of(catalog),
        RouterApiModule.with(config, new InternalToken(config.ROUTER_TOKEN, config.ROUTER_TOKEN_SECOND), {
          url: config.GATEWAY_URL,
          token: config.GATEWAY_TOKEN ?? '',
        }),
      ],
    };
  }
}
