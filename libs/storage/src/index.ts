export { Database } from './sql/database.js';
export {
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from './server/embedded-postgres.js';
export { type InstanceLock, InstanceRunning, type LockWatch, holdInstanceLock } from './sql/instance-lock.js';
export type { StorageLogger } from './logger.js';
export { MIGRATIONS_DIR, MigrationError, migrate } from './sql/migrate.js';
export { type PoolOptions, createPool, exactTypes } from './sql/pool.js';
export { PrismaDatabase } from './sql/prisma-database.js';
export { type RedisConfig, connectRedis } from './redis/redis.js';
export { RedisScript, type ScriptCall } from './redis/redis-script.js';
export { SteadyClient } from './sql/steady-client.js';
export { type StorageConfig, StorageModule } from './storage.module.js';
export { withTransaction } from './sql/transaction.js';
