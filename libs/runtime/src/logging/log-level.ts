import type { LogLevel, LogLevelView, NewLogLevel } from '@svc/api/operator';
import type { Logger } from './logging.js';

/** The log level of a process, which its operator may change at run time. */
export class LogLevelSwitch {
  private readonly atStart: LogLevel;
  private back: { readonly timer: NodeJS.Timeout; readonly until: Date } | undefined;

  constructor(private readonly logger: Logger) {
    this.atStart = logger.level as LogLevel;
  }

  get state(): LogLevelView {
    return { level: this.logger.level as LogLevel, until: this.back?.until.toISOString() ?? null };
  }

  /** Logs the change itself, whatever the level before and after. */
  set({ level, seconds }: NewLogLevel): LogLevelView {
    clearTimeout(this.back?.timer);
    this.back = undefined;
    if (seconds !== undefined) {
      const ms = seconds * 1_000;
      const timer = setTimeout(() => this.set({ level: this.atStart }), ms).unref();
      this.back = { timer, until: new Date(Date.now() + ms) };
    }
    const from = this.logger.level;
    this.logger.level = 'warn';
    this.logger.warn({ from, to: level, seconds }, 'the log level was changed');
    this.logger.level = level;
    return this.state;
  }
}
