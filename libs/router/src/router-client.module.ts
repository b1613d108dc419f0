import { type DynamicModule, Module } from '@nestjs/common';
import { closedAtEnd } from '@svc/runtime';
import { HttpRouter, type HttpRouterSettings } from './api/http-router.js';
import { RouterPorts } from './api/router-ports.js';
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
        { provide: RouterPorts, useExisting: HttpRouter },
        ...portProviders,
      ],
      exports: PORTS,
    };
  }
}
