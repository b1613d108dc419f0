import { type DynamicModule, Module } from '@nestjs/common';
import { InternalToken } from '@svc/runtime';
import { BackendStatesController } from './api/backend-states.controller.js';
import { InferenceController } from './api/inference.controller.js';
import type { RouterSettings } from './router.config.js';
import { RouterModule } from './router.module.js';

/** Serves the router to other processes. Requires the global catalogue module. */
@Module({})
export class RouterApiModule {
  /** Callers must send `token`. */
  static with(settings: RouterSettings, token: InternalToken): DynamicModule {
    return {
      module: RouterApiModule,
      imports: [RouterModule.with(settings)],
      controllers: [BackendStatesController, InferenceController],
      providers: [{ provide: InternalToken, useValue: token }],
    };
  }
}
