import { ConfigError, createLogger, flushLog, loadConfig, serve } from '@svc/runtime';
import { rateLimiterConfig } from './rate-limiter.config.js';
import { RateLimiterModule } from './rate-limiter.module.js';

/** Starts the process and stays until a signal says otherwise. */
export async function run(env: Readonly<Record<string, string | undefined>>): Promise<void> {
  try {
    const config = loadConfig(rateLimiterConfig, env);
    const logger = createLogger(config.SVC_LOG_LEVEL);
    const running = await serve({
      module: RateLimiterModule.with(config, logger),
      logger,
      api: { host: config.HOST, port: config.PORT },
      drainMs: config.SVC_DRAIN_MS,
    });
    const end = (code: number): void => {
      // Nothing awaits a signal handler; a failed stop must still end the process.
      void running.stop().then(
        () => leave(code),
        () => leave(1),
      );
    };
    const leave = (code: number): void => {
      flushLog(logger);
      process.exit(code);
    };
    process.once('SIGTERM', () => end(0));
    process.once('SIGINT', () => end(0));
    process.once('uncaughtException', (error) => {
      logger.fatal({ err: error }, 'a bug; the process stops');
      end(1);
    });
    process.stdout.write(`rate-limiter listening on ${running.apiUrl}\n`);
  } catch (error) {
    process.stderr.write(`rate-limiter: ${faultOf(error)}\n`);
    process.exit(1);
  }
}

/** Why a start failed, for a person at a terminal. A fault that nobody foresaw keeps its stack. */
function faultOf(error: unknown): string {
  if (error instanceof ConfigError) return error.message;
  if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')
    return 'the port is taken; choose another with PORT';
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
