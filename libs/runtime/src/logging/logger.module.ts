import { type DynamicModule, Module } from '@nestjs/common';
import type { Logger } from './logging.js';

/** The injection token of the process's log. */
export abstract class RootLogger {
  abstract readonly log: Logger;
}

/** Provides the log of the process. */
@Module({})
export class LoggerModule {
  static of(log: Logger): DynamicModule {
    return {
      module: LoggerModule,
      global: true,
      providers: [{ provide: RootLogger, useValue: { log } satisfies RootLogger }],
      exports: [RootLogger],
    };
  }
}
