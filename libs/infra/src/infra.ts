import { join } from 'node:path';
import { KafkaServer } from './kafka-server.js';
import { PostgresServer } from './postgres-server.js';
import { RedisServer } from './redis-server.js';
import { type ServerEnvironment, GivenServer, type Server } from './server.js';

/** The variables that lead to the servers, including logins. */
export type InfraVariables = Readonly<Record<Server['variable'], string> & Record<string, string>>;

/** The servers that a multi-process deployment depends on. */
export class Infra {
  readonly kafka: Server;
  readonly redis: Server;
  readonly postgres: Server;

  /**
   * Servers in a folder, started or not. One whose variable is set in the environment (`KAFKA_BROKERS`,
   * `REDIS_URL`, `DATABASE_URL`) is external, and is left alone.
   */
  constructor(
    readonly folder: string,
    env: ServerEnvironment = {},
  ) {
    const { KAFKA_BROKERS: brokers, REDIS_URL: redisUrl, DATABASE_URL: databaseUrl } = env;
    this.kafka = brokers
      ? new GivenServer('KAFKA_BROKERS', brokers)
      : new KafkaServer(join(folder, 'kafka'), env);
    this.redis = redisUrl
      ? new GivenServer('REDIS_URL', redisUrl)
      : new RedisServer(join(folder, 'redis'), env);
    this.postgres = databaseUrl
      ? new GivenServer('DATABASE_URL', databaseUrl)
      : new PostgresServer(join(folder, 'postgres'));
  }

  get servers(): readonly Server[] {
    return [this.kafka, this.redis, this.postgres];
  }

  /**
   * Starts every server that does not run yet and returns the variables. Failures are reported after all
   * others are up.
   */
  async up(): Promise<InfraVariables> {
    const [kafka, redis, postgres] = await Promise.allSettled([
      this.kafka.start(),
      this.redis.start(),
      this.postgres.start(),
    ]);
    if (kafka.status === 'rejected' || redis.status === 'rejected' || postgres.status === 'rejected') {
      const reasons = [kafka, redis, postgres].flatMap((result) =>
        result.status === 'rejected'
          ? [String(result.reason instanceof Error ? result.reason.message : result.reason)]
          : [],
      );
      throw new Error(reasons.join('\n'));
    }
    const addresses = { KAFKA_BROKERS: kafka.value, REDIS_URL: redis.value, DATABASE_URL: postgres.value };
    return { ...addresses, ...(await this.kafka.credentials()) };
  }

  async down(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.stop()));
  }

  /** Stops all of them and removes their data. */
  async wipe(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.wipe()));
  }
}
