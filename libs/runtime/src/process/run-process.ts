import { LOG_LEVELS, type LogLevel } from '@svc/api/operator';
import { type TelemetryConfig, runtime, startTelemetry, telemetryConfig } from '@svc/telemetry';
import { z } from 'zod';
import { loadConfig, port, whole } from './config.js';
import { Readiness } from './health.js';
import { SharedSecret } from '../http/secrets.js';
import { type Logger, createLogger } from '../logging/logging.js';
import { ProcessEnd } from './process-end.js';
import { DRAIN_MS, type Running, type ServeOptions, serve } from './serve.js';
import { VERSION } from '../version.js';

/** Time to close everything, beyond the time for open requests. */
const CLOSE_MS = 30_000;

/** A process that still waits for neighbours after this time logs their names. */
const READY_MS = 5_000;

/** The settings of every process. `name` is its name in telemetry. */
export function processConfig(defaults: {
  readonly name: string;
  readonly port: number;
  readonly logLevel?: LogLevel;
}) {
  return {
    ...telemetryConfig(defaults.name),
    PORT: port.default(defaults.port).describe('The port to listen on; 0 selects a free port'),
    HOST: z.string().default('127.0.0.1').describe('The address to listen on'),
    SVC_LOG_LEVEL: z
      .enum(LOG_LEVELS)
      .default(defaults.logLevel ?? 'info')
      .describe('The minimum level of log lines'),
    SVC_DRAIN_MS: whole(0, 600_000)
      .default(DRAIN_MS)
      .describe('How long running responses may take to finish after the process receives SIGTERM'),
  };
}

type ProcessShape = ReturnType<typeof processConfig>;
type Config<Shape extends z.ZodRawShape> = z.infer<z.ZodObject<Shape>>;
export type Environment = Readonly<Record<string, string | undefined>>;

/** A process during its start. */
export interface StartingProcess<Settings = unknown> {
  readonly config: Settings;
  readonly env: Environment;
  readonly logger: Logger;
  /** Whether the process can serve; behind `/readyz`. */
  readonly readiness: Readiness;
  /** Serves a module until the process ends, on the host and port of the settings. */
  readonly serve: (
    options: Omit<ServeOptions, 'logger' | 'readiness' | 'api' | 'drainMs' | 'metricsToken'>,
  ) => Promise<Running>;
  /** Registers how to undo what was started, in reverse order and each within 30 s. */
  readonly undo: (undo: () => Promise<void> | void) => void;
  /** Ends the process with 1, after a loss from which it cannot recover. */
  readonly fail: (reason: string) => void;
}

export interface ProcessOptions<Shape extends ProcessShape & z.ZodRawShape> {
  readonly settings: Shape;
  /** Starts everything. The returned message is printed for the person who started the process. */
  readonly start: (process: StartingProcess<Config<Shape>>) => Promise<string>;
}

/**
 * Runs a process from its start to its end. Start-up faults are reported in plain lines, those of the
 * settings all at once. SIGTERM and SIGINT end it with 0, even during the start; a second one after a second
 * ends it at once. A failed start, an uncaught error and `fail` end it with 1.
 */
export async function runProcess<Shape extends ProcessShape & z.ZodRawShape>(
  env: Environment,
  { settings, start }: ProcessOptions<Shape>,
): Promise<void> {
  const end = new ProcessEnd();
  end.watch();
  await end.awaitStart(begin(env, { settings, start }, end));
}

async function begin<Shape extends ProcessShape & z.ZodRawShape>(
  env: Environment,
  { settings, start }: ProcessOptions<Shape>,
  end: ProcessEnd,
): Promise<void> {
  const config = loadConfig(settings, env);
  const { PORT, HOST, SVC_LOG_LEVEL, SVC_DRAIN_MS } = config as Config<ProcessShape>;
  const logger = createLogger(SVC_LOG_LEVEL);
  end.logger = logger;
  const telemetry = await startTelemetry({
    config: config as TelemetryConfig,
    env,
    version: VERSION,
    log: logger,
  });
  end.undo(() => telemetry.stop());
  const readiness = new Readiness();
  end.undo(runtime.ready.observe(() => [[readiness.why === '' ? 1 : 0]]));
  const text = await start({
    config,
    env,
    logger,
    readiness,
    serve: async (options) => {
      const api = { host: HOST, port: PORT };
      const running = await serve({
        ...options,
        api,
        logger,
        readiness,
        drainMs: SVC_DRAIN_MS,
        metricsToken: metricsTokenOf(config as TelemetryConfig),
      });
      end.undo(() => running.finish(), SVC_DRAIN_MS + CLOSE_MS);
      return running;
    },
    undo: (undo) => end.undo(undo),
    fail: (reason) => end.fail(reason),
  });
  process.stdout.write(`${text}\n`);
  const timer = setTimeout(() => {
    if (readiness.why !== '') logger.warn(`Not ready yet: ${readiness.why}`);
  }, READY_MS);
  end.undo(() => clearTimeout(timer));
}

function metricsTokenOf(config: TelemetryConfig): SharedSecret | undefined {
  const { SVC_METRICS_TOKEN: token, SVC_METRICS_TOKEN_SECOND: second } = config;
  return token === undefined ? undefined : new SharedSecret(token, second);
}
