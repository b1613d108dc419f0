import { StartFault, databaseUrl } from '@svc/runtime';
import type { z } from 'zod';
import { kafkaConfig, kafkaConnection } from './events.config.js';
import type { DeadLetters } from './dead-letters/dead-letters.js';
import { PostgresDeadLetters } from './dead-letters/postgres-dead-letters.js';

/** Settings of the command that lists and replays dead events. */
export const deadLettersConfig = {
  ...kafkaConfig,
  KAFKA_BROKERS: kafkaConfig.KAFKA_BROKERS.optional(),
  DATABASE_URL: databaseUrl
    .optional()
    .describe('The URL of the PostgreSQL database of a single-process deployment without Kafka'),
};

type DeadLettersConfig = z.infer<z.ZodObject<typeof deadLettersConfig>>;

/** Opens the dead events of the configured deployment. */
export async function openDeadLetters(config: DeadLettersConfig): Promise<DeadLetters> {
  const { KAFKA_BROKERS, DATABASE_URL } = config;
  if (KAFKA_BROKERS !== undefined) {
    const { KafkaDeadLetters } = await import('./dead-letters/kafka-dead-letters.js');
    return new KafkaDeadLetters(kafkaConnection({ ...config, KAFKA_BROKERS }));
  }
  if (DATABASE_URL !== undefined) return new PostgresDeadLetters(DATABASE_URL);
  throw new StartFault('Set KAFKA_BROKERS, or DATABASE_URL for a single process');
}
