import { Body, Controller } from '@nestjs/common';
import type { LogLevelView, NewLogLevel } from '@svc/api/operator';
import { routes } from '@svc/api';
import { Serves } from '../http/route.js';
import { RootLogger } from '../logging/logger.module.js';
import { LogLevelSwitch } from '../logging/log-level.js';

/** Reads and sets the log level, for the operator. */
@Controller()
export class LogLevelController {
  private readonly levels: LogLevelSwitch;

  constructor(logger: RootLogger) {
    this.levels = new LogLevelSwitch(logger.log);
  }

  @Serves(routes.logLevel)
  get(): LogLevelView {
    return this.levels.state;
  }

  @Serves(routes.setLogLevel)
  set(@Body() wanted: NewLogLevel): LogLevelView {
    return this.levels.set(wanted);
  }
}
