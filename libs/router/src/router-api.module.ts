import { type DynamicModule, Module } from '@nestjs/common';
import { Drains } from '@svc/contracts/inference';
import { InternalClient, InternalToken, RootLogger, closedAtEnd } from '@svc/runtime';
import { BackendStatesController } from './api/backend-states.controller.js';
import { InferenceController } from './api/inference.controller.js';
import { NoDrains, RemoteDrains } from './api/remote-drains.js';
import type { RouterSettings } from './router.config.js';
import { RouterModule } from './router.module.js';

/** Where a router learns which backends are out of service. */
interface Gateways {
  /** Without it there are none. */
  readonly url: string | undefined;
  readonly token: string;
}

/** Serves the router to other processes. Requires the global catalogue module. */
@Module({})
export class RouterApiModule {
  /** Callers must send `token`. */
  static with(settings: RouterSettings, token: InternalToken, { url, ...gateways }: Gateways): DynamicModule {
    const drains =
      url === undefined
        ? [{ provide: Drains, useClass: NoDrains }]
        : [
            closedAtEnd(InternalClient),
            { provide: InternalClient, useFactory: () => new InternalClient({ url, ...gateways }) },
            {
              provide: Drains,
              useFactory: (client: InternalClient, { log }: RootLogger) => new RemoteDrains(client, log),
              inject: [InternalClient, RootLogger],
            },
          ];
    return {
      module: RouterApiModule,
      imports: [RouterModule.with(settings, drains)],
      controllers: [BackendStatesController, InferenceController],
      providers: [{ provide: InternalToken, useValue: token }],
    };
  }
}
