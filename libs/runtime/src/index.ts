export { hashOf, mixed } from './hashes.js';
export {
  ConfigError,
  durationMs,
  internalTokens,
  otherwiseOf,
  loadConfig,
  neighbourUrl,
  poolSettings,
  port,
  databaseSettings,
  databaseStartWaitMs,
  databaseUrl,
  redisUrl,
  secondSecret,
  whole,
} from './process/config.js';
export { closedAtEnd } from './process/closed-at-end.js';
export { HealthModule, Readiness } from './process/health.js';
export { ownSecret } from './process/own-secret.js';
export { type Secrets, openSecrets } from './process/secret-folder.js';
export { NeighbourWatch, anyIsReady } from './process/neighbour-watch.js';
export { AccessGates, type GatedAccess, isFromClients } from './http/access.js';
export { CONSOLE_HOME, isOfConsole } from './http/known-paths.js';
export type { Incoming, Outgoing } from './http/incoming.js';
export { RequestSteps } from './http/request-steps.js';
export { type InnerSender, innerSenderOf } from './calls/inner-senders.js';
export { type InnerResponse, InnerCalls } from './server/inner-calls.js';
export { type StreamedPart, streamedParts } from './forms/streamed-parts.js';
export { sendProblem } from './http/send-problem.js';
export { PodAddresses, type PodSlots } from './calls/pod-addresses.js';
export { type Logger, createLogger, flushLog } from './logging/logging.js';
export { LoggerModule, RootLogger } from './logging/logger.module.js';
export type { RequestRecord, WorkUnderWay } from './http/request-record.js';
export { nameRequest, newId, uuidOf } from './http/request-id.js';
export { networkOf } from './process/client-network.js';
export { whileConnected } from './http/while-connected.js';
export { Serves, routeOf } from './http/route.js';
export { type SentinelAddress, sentinelAddress } from './process/sentinels.js';
export { InternalToken, SECRET_LENGTH, bearer } from './http/secrets.js';
export {
  type Environment,
  type ProcessOptions,
  type StartingProcess,
  processConfig,
  runProcess,
} from './process/run-process.js';
export { type Listener, type Running, type ServeOptions, serve } from './process/serve.js';
export { type Lent, expiring } from './expiring.js';
export { pause } from './pause.js';
export { type Retries, retrying } from './retrying.js';
export { PassingMap, PassingSet } from './passing.js';
export { type Pause, StepLoop } from './step-loop.js';
export { StartFault } from './start-fault.js';
export { VERSION } from './version.js';
export { DeadlineExceeded, within } from './within.js';
export { presentable, redacted, withoutAddresses } from './redacted.js';
export { type JsonLimits } from './json/json-bounds.js';
export {
  JsonReader,
  RESPONSE_JSON_LIMITS,
  boundedJson,
  jsonOrUndefined,
  unescapedJson,
} from './json/json-reader.js';
export { JsonText } from './json/json-text.js';
export { LongStrings } from './json/long-strings.js';
export { type Connections, type EgressProxy, type RequestSender, connections } from './calls/connections.js';
export type { ResponseHeaders } from './connections/response-head.js';
export { Exchange, ExchangeAborted, type ExchangeRequest, ExchangeTimedOut } from './calls/exchange.js';
export {
  type InternalResponse,
  type InternalCall,
  InternalClient,
  NeighbourUnavailable,
  type NeighbourAddress,
} from './calls/internal-client.js';
export { Token, grantedToken } from './calls/granted-token.js';
export { shortCall } from './calls/short-call.js';
export { PortResponses } from './calls/port-responses.js';
export { PortClient, type PortClientOptions } from './calls/port-client.js';
