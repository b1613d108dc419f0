import { type DynamicModule, Module } from '@nestjs/common';
import { InferenceRouter } from '@svc/contracts/inference';
import { closedAtEnd } from '@svc/runtime';
import { HttpRouter, type HttpRouterSettings } from './api/http-router.js';
import { PORTS, portProviders } from './port-providers.js';

/** The router of another process. */
@Module({})
export class RouterClientModule {
  static at(settings: HttpRouterSettings): DynamicModule {
    return {
      module: RouterClientModule,
      providers: [
        closedAtEnd(HttpRouter),
        { provide: HttpRouter, useFactory: () => new HttpRouter(settings) },
        { provide: InferenceRouter, useExisting: HttpRouter },
        ...portProviders,
      ],
      exports: [InferenceRouter, ...PORTS],
    };
  }
}
