export { Catalog, type Model, type Rates, type TierLimit, readCatalog } from './catalog.js';
export { CatalogModule } from './catalog.module.js';
export { Characters, type CharactersPath, readCharacters } from './characters.js';
export { CharactersModule } from './characters.module.js';
export { ConfigError, durationMs, loadConfig, port, whole } from './config.js';
export { type CatalogPaths, watchCatalog, watchCharacters } from './file-watch.js';
export { HealthModule, Readiness } from './health.js';
export { AccessGates, type GatedAccess, isFromClients } from './http/access.js';
export { sendProblem } from './http/send-problem.js';
export { LOG_LEVELS, type LogLevel, type Logger, createLogger, flushLog } from './logging.js';
export { LoggerModule, RootLogger } from './logger.module.js';
export { type RequestRecord } from './http/request-record.js';
export { newId } from './http/request-id.js';
export { Answers, routeOf } from './http/route.js';
export { InternalToken, SECRET_LENGTH, SharedSecret, bearer } from './http/secrets.js';
export {
  type Environment,
  type ProcessOptions,
  type StartingProcess,
  processConfig,
  runProcess,
} from './run-process.js';
export { type Listener, type Running, type ServeOptions, serve } from './serve.js';
export { StartFault } from './start-fault.js';
export { VERSION } from './version.js';
export { DeadlineExceeded, within } from './within.js';
export { redacted } from './redacted.js';
export { JsonBounds, type JsonLimits } from './http/json-bounds.js';
