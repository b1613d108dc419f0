import type { LoggerService } from '@nestjs/common';
import type { LogLevel } from '@svc/api/operator';
import { currentStep, logLines } from '@svc/telemetry';
import { type DestinationStream, type Logger, destination, pino } from 'pino';

export type { Logger } from 'pino';

const FLUSH_MS = 1_000;

/**
 * A structured log on stdout. Lines are buffered for up to a second or 64 KiB, since one write per request
 * costs more than the line itself. They are buffered as bytes: strings would be concatenated, and all of them
 * copied, at every line.
 */
export function createLogger(level: LogLevel): Logger {
  const stdout = {
    fd: 1,
    minLength: 65_536,
    maxWrite: 262_144,
    sync: false,
    contentMode: 'buffer' as const,
  };
  const stream = withoutHaste(destination(stdout));
  const logger = pino(
    {
      level,
      base: null,
      mixin: traceOfLine,
      mixinMergeStrategy: withTrace,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      hooks: { streamWrite: asBytes },
    },
    stream,
  );
  streams.set(logger, stream);
  return logger;
}

/** Where each log writes. */
const streams = new WeakMap<Logger, DestinationStream>();

/**
 * Logs the line of a request, which has the id of its trace. Its bytes are those that the logger itself would
 * write, at less than half of the cost: pino serializes each member with two calls.
 */
export function logRequest(logger: Logger, level: 'debug' | 'info', line: object): void {
  if (!logger.isLevelEnabled(level)) return;
  const head = `{"level":"${level}","time":"${new Date().toISOString()}",`;
  streams.get(logger)?.write(asBytes(`${head}${JSON.stringify(line).slice(1, -1)},"msg":"request"}\n`));
}

/** The id of the current trace, so that all lines of a request are found by one id, in every process. */
function traceOfLine(): { trace_id?: string } {
  const step = currentStep();
  return step ? { trace_id: step.trace.id } : {};
}

/** The line of a request has its trace already, and merging copies every member. */
function withTrace(line: object, trace: object): object {
  return 'trace_id' in line ? line : { ...trace, ...line };
}

type Flushing = Pick<ReturnType<typeof destination>, 'flush'>;

/**
 * A stream that is flushed a second after its first buffered line, and wakes no process that logs nothing. It
 * has no `flushSync`, which `fatal` would call in the middle of a running write.
 */
function withoutHaste(stream: ReturnType<typeof destination>): DestinationStream & Flushing {
  let flushing: NodeJS.Timeout | undefined;
  let bufferedBytes = 0;
  const flushLater = (): void => {
    flushing ??= setTimeout(() => {
      flushing = undefined;
      stream.flush();
    }, FLUSH_MS).unref();
  };
  stream.on('write', (bytes) => (bufferedBytes -= bytes));
  // A flush does nothing while a write is running, so that lines may be left when the write has ended.
  stream.on('drain', () => {
    if (bufferedBytes > 0) flushLater();
  });
  return {
    write: (line) => {
      bufferedBytes += Buffer.byteLength(line);
      stream.write(line);
      flushLater();
    },
    flush: (done) => stream.flush(done),
  };
}

/**
 * Passes a line to telemetry, and converts it for a destination of bytes: pino passes on any value, whatever
 * its types say.
 */
function asBytes(line: string): string {
  logLines.take(line);
  return Buffer.from(line) as unknown as string;
}

/** Resolves when all buffered lines have been written. Await it before the process exits. */
export function flushLog(logger: Logger): Promise<void> {
  return new Promise((resolve) => {
    try {
      // The callback's error only reports whether the stream could be synced, which pipes cannot.
      logger.flush(() => resolve());
    } catch {
      // The destination was never opened, so there is nothing to write.
      resolve();
    }
  });
}

/** Nest's own messages in the same log: its start-up messages at debug, all others at their own level. */
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
