import type { LoggerService } from '@nestjs/common';
import type { LogLevel } from '@svc/contracts';
import { currentStep, logLines } from '@svc/telemetry';
import { type DestinationStream, type Logger, destination, pino } from 'pino';

export type { Logger } from 'pino';

/**
 * A structured log on stdout. Lines are gathered for up to a second or 64 KiB before they are written, since one
 * write per request costs more than the line itself. They are gathered as bytes: as text they would be joined, and all
 * of them copied, at every line.
 */
export function createLogger(level: LogLevel): Logger {
  const stdout = {
    fd: 1,
    minLength: 65_536,
    maxWrite: 262_144,
    sync: false,
    periodicFlush: 1_000,
    contentMode: 'buffer' as const,
  };
  return pino(
    {
      level,
      base: null,
      mixin: traceOfLine,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      hooks: { streamWrite: asBytes },
    },
    withoutHaste(destination(stdout)),
  );
}

/** The trace that a line belongs to, so that all lines of a request are found by one id, in every process. */
function traceOfLine(): { trace_id?: string } {
  const step = currentStep();
  return step ? { trace_id: step.trace.id } : {};
}

type Flushing = Pick<ReturnType<typeof destination>, 'flush'>;

/** A stream that `fatal` does not write at once, into the middle of what is being written. */
function withoutHaste(stream: ReturnType<typeof destination>): DestinationStream & Flushing {
  return {
    write: (line) => void stream.write(line),
    flush: (done) => stream.flush(done),
  };
}

/** Where lines go beside stdout, and what a destination of bytes takes; pino hands on what it is given, whatever its types say. */
function asBytes(line: string): string {
  logLines.tell(line);
  return Buffer.from(line) as unknown as string;
}

/** Resolves when what is gathered and what is being written has been. To be waited for before the process ends. */
export function flushLog(logger: Logger): Promise<void> {
  return new Promise((resolve) => {
    try {
      // Whether the stream could be told to sync, which pipes can't, is all that it says.
      logger.flush(() => resolve());
    } catch {
      // The destination was never opened: there is nothing to write.
      resolve();
    }
  });
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
