export { Catalog, type Model, type Rates, type TierLimit, readCatalog } from './catalog/catalog.js';
export { CatalogModule } from './catalog/catalog.module.js';
export { Characters, type CharactersPath, readCharacters } from './catalog/characters.js';
export { CharactersModule } from './catalog/characters.module.js';
export { ConfigError, durationMs, loadConfig, port, whole } from './process/config.js';
export { type CatalogPaths, watchCatalog, watchCharacters } from './catalog/file-watch.js';
export { HealthModule, Readiness } from './process/health.js';
export { AccessGates, type GatedAccess, isFromClients } from './http/access.js';
export { sendProblem } from './http/send-problem.js';
export { LOG_LEVELS, type LogLevel, type Logger, createLogger, flushLog } from './logging/logging.js';
export { LoggerModule, RootLogger } from './logging/logger.module.js';
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
} from './process/run-process.js';
export { type Listener, type Running, type ServeOptions, serve } from './process/serve.js';
export { StartFault } from './start-fault.js';
export { VERSION } from './version.js';
export { DeadlineExceeded, within } from './within.js';
export { redacted } from './redacted.js';
export { JsonBounds, type JsonLimits } from './http/json-bounds.js';
