import { type DynamicModule, Module } from '@nestjs/common';
import { type Catalog, CatalogModule } from '@svc/catalog';
import { RouterApiModule } from '@svc/router';
import { type Environment, InternalToken } from '@svc/runtime';
import type { InferenceRouterConfig } from './inference-router.config.js';

/** Serves the router to the other processes. */
@Module({})
export class InferenceRouterModule {
  static with(config: InferenceRouterConfig, catalog: Catalog, env: Environment): DynamicModule {
    const settings = { ...config, secret: (name: string) => env[name] };
    return {
      module: InferenceRouterModule,
      imports: [
        CatalogModule.of(catalog),
        RouterApiModule.with(settings, new InternalToken(config.ROUTER_TOKEN, config.ROUTER_TOKEN_SECOND), {
          url: config.GATEWAY_URL,
          token: config.GATEWAY_TOKEN ?? '',
        }),
      ],
    };
  }
}
