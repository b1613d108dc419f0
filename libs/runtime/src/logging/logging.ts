import type { LoggerService } from '@nestjs/common';
import { type Logger, destination, pino } from 'pino';

export type { Logger } from 'pino';

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

/**
 * A structured log on stdout. Lines are gathered for up to a second or 64 KiB before they are written, since one
 * write per request costs more than the line itself.
 */
export function createLogger(level: LogLevel): Logger {
  const stdout = { fd: 1, minLength: 65_536, maxWrite: 262_144, sync: false, periodicFlush: 1_000 };
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination(stdout),
  );
}

/** Writes what is gathered. To be called before the process ends. */
export function flushLog(logger: Logger): void {
  try {
    logger.flush();
  } catch {
    // The destination was never opened: there is nothing to write.
  }
}

/** Nest's own messages, in the same log: its start-up chatter at debug, the rest as it is. */
export function nestLogger(logger: Logger): LoggerService {
  const write =
    (level: 'debug' | 'warn' | 'error' | 'fatal') =>
    (message: unknown, ...rest: unknown[]): void =>
      logger[level]({ context: rest.at(-1) }, String(message));
  return {
    log: write('debug'),
    verbose: write('debug'),
    debug: write('debug'),
    warn: write('warn'),
    error: write('error'),
    fatal: write('fatal'),
  };
}
