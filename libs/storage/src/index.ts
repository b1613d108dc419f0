export { Database } from './database.js';
export {
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from './embedded-postgres.js';
export { type InstanceLock, InstanceRunning, holdInstanceLock } from './instance-lock.js';
export type { StorageLogger } from './logger.js';
export { MIGRATIONS_DIR, MigrationError, migrate } from './migrate.js';
export { type PoolOptions, createPool, exactTypes } from './pool.js';
export { PrismaDatabase } from './prisma-database.js';
export { type RedisConfig, connectRedis } from './redis.js';
export { RedisScript, type ScriptCall } from './redis-script.js';
export { SteadyClient } from './steady-client.js';
export { type StorageConfig, StorageModule } from './storage.module.js';
export { withTransaction } from './transaction.js';
