export { int8Column, textColumn, timeColumn } from './sql/columns.js';
export { Database } from './sql/database.js';
export {
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from './server/embedded-postgres.js';
export { freePort, freePorts } from './server/free-ports.js';
export { ownDatabase } from './sql/database-owner.js';
export { whenReachable } from './sql/reachable.js';
export type { StorageLogger } from './logger.js';
export { type Postmaster, findPostmaster, stopPostmaster } from './server/postmaster.js';
export { MigrationError, checkMigrated, migrate, migrationsConfig } from './sql/migrate.js';
export { type PoolOptions, createPool, exactTypes } from './sql/pool.js';
export { PrismaDatabase } from './sql/prisma-database.js';
export {
  type RedisConfig,
  type RedisConnection,
  connectBlockingCluster,
  connectRedis,
  isCluster,
} from './redis/redis.js';
export { RedisScript, type ScriptCall } from './redis/redis-script.js';
export { ErrorSafeClient } from './sql/error-safe-client.js';
export { type StorageConfig, StorageModule, openPool } from './storage.module.js';
export { withTransaction } from './sql/transaction.js';
