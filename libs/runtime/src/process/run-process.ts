import { LOG_LEVELS, type LogLevel } from '@svc/contracts';
import { type TelemetryConfig, startTelemetry, telemetryConfig } from '@svc/telemetry';
import { z } from 'zod';
import { loadConfig, port, whole } from './config.js';
import { Readiness } from './health.js';
import { SharedSecret } from '../http/secrets.js';
import { type Logger, createLogger } from '../logging/logging.js';
import { ProcessEnd } from './process-end.js';
import { DRAIN_MS, type Running, type ServeOptions, serve } from './serve.js';
import { VERSION } from '../version.js';

/** Beyond the time for answers under way, what closing everything may take. */
const CLOSE_MS = 30_000;

/** A process that listens and still waits for a neighbour after this time logs for which. */
const READY_MS = 5_000;

/** The settings that every process has. `name` is what telemetry calls it. */
export function processConfig(defaults: {
  readonly name: string;
  readonly port: number;
  readonly logLevel?: LogLevel;
}) {
  return {
    ...telemetryConfig(defaults.name),
    PORT: port.default(defaults.port).describe('Where it listens; 0 takes a free port'),
    HOST: z.string().default('127.0.0.1').describe('The address that it listens on'),
    SVC_LOG_LEVEL: z
      .enum(LOG_LEVELS)
      .default(defaults.logLevel ?? 'info')
      .describe('What is logged'),
    SVC_DRAIN_MS: whole(0, 600_000)
      .default(DRAIN_MS)
      .describe('How long answers may go on once the process is told to stop'),
  };
}

type ProcessShape = ReturnType<typeof processConfig>;
type Config<Shape extends z.ZodRawShape> = z.infer<z.ZodObject<Shape>>;
export type Environment = Readonly<Record<string, string | undefined>>;

/** A process while it starts, and what it can do to itself. */
export interface StartingProcess<Settings = unknown> {
  readonly config: Settings;
  readonly env: Environment;
  readonly logger: Logger;
  /** Whether it can serve; behind `/readyz`. */
  readonly readiness: Readiness;
  /** Serves a module, on the host and the port of the settings, until the process ends. */
  readonly serve: (
    options: Omit<ServeOptions, 'logger' | 'readiness' | 'api' | 'drainMs' | 'metricsToken'>,
  ) => Promise<Running>;
  /** Remembers how to undo what was started, last things first; within 30 s. */
  readonly undo: (undo: () => Promise<void> | void) => void;
  /** Ends the process with 1: what it counts on is gone for good. */
  readonly fail: (reason: string) => void;
}

export interface ProcessOptions<Shape extends ProcessShape & z.ZodRawShape> {
  readonly settings: Shape;
  /** Starts everything. What it returns is told to whoever started the process. */
  readonly start: (process: StartingProcess<Config<Shape>>) => Promise<string>;
}

/**
 * Runs a process from its start to its end. Faults of the start are told in plain lines, all those of the settings at
 * once. SIGTERM and SIGINT end it with 0, also while it starts; a second one after a second ends it at once.
 * A fault of the start, what nobody has caught, and `fail` end it with 1.
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
  const telemetry = await startTelemetry({ config: config as TelemetryConfig, version: VERSION });
  end.undo(() => telemetry.stop());
  const readiness = new Readiness();
  const told = await start({
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
      end.undo(() => running.stop(), SVC_DRAIN_MS + CLOSE_MS);
      return running;
    },
    undo: (undo) => end.undo(undo),
    fail: (reason) => end.fail(reason),
  });
  process.stdout.write(`${told}\n`);
  const timer = setTimeout(() => {
    if (readiness.why !== '') logger.warn(`not ready yet, and waits for ${readiness.why}`);
  }, READY_MS);
  end.undo(() => clearTimeout(timer));
}

function metricsTokenOf(config: TelemetryConfig): SharedSecret | undefined {
  const { SVC_METRICS_TOKEN: token, SVC_METRICS_TOKEN_SECOND: second } = config;
  return token === undefined ? undefined : new SharedSecret(token, second);
}
