export { Infra, type InfraVariables } from './infra.js';
export { LocalChain } from './local-chain.js';
export { type LocalS3, buildS3 } from './local-s3.js';
export { type SolanaCommitment, LocalSolana, NodeRefusal, noResponse } from './local-solana.js';
export { type PostgresTools, findPostgresTools } from './postgres-tools.js';
export { Prometheus, type PrometheusOptions, type ScrapedProcess } from './prometheus.js';
export type { ServerEnvironment, Server } from './server.js';
export {
  type TemporaryBrokers,
  temporaryBrokers,
  temporaryInfra,
  temporaryS3,
  temporaryTlsBroker,
  temporaryTokenBroker,
} from './temporary-infra.js';
