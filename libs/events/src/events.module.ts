import { type DynamicModule, type FactoryProvider, Module } from '@nestjs/common';
import { EventLog } from '@svc/contracts/messages';
import { Database } from '@svc/storage';
import { type EventsLogger, silent } from './delivery/logger.js';
import { Outbox } from './outbox/outbox.js';
import type { GroupCommitLog } from './publishing/group-commit-log.js';
import { EventStrategy } from './delivery/event-strategy.js';
import type { KafkaEventLog, KafkaEventLogOptions } from './kafka/kafka-event-log.js';
import type { KafkaEventStrategyOptions } from './kafka/kafka-event-strategy.js';
import { PostgresEventLog, type PostgresEventLogOptions } from './postgres/postgres-event-log.js';
import {
  PostgresEventStrategy,
  type PostgresEventStrategyOptions,
} from './postgres/postgres-event-strategy.js';

export type PostgresEventsConfig = PostgresEventLogOptions & Omit<PostgresEventStrategyOptions, 'log'>;

export type KafkaEventsConfig = KafkaEventLogOptions & Omit<KafkaEventStrategyOptions, 'log'>;

/**
 * Provides one event log to the whole application, and the strategy that delivers its events to `@OnEvents`
 * methods.
 */
@Module({})
export class EventsModule {
  /** On a PostgreSQL table. The database must be migrated first. */
  static postgres(config: PostgresEventsConfig): DynamicModule {
    return {
      module: EventsModule,
      global: true,
      providers: [
        { provide: EventLog, useFactory: () => new PostgresEventLog(config) },
        {
          provide: EventStrategy,
          useFactory: (log: PostgresEventLog) => new PostgresEventStrategy({ ...config, log }),
          inject: [EventLog],
        },
        outboxOf(config.logger),
      ],
      exports: [EventLog, EventStrategy, Outbox],
    };
  }

  /** On Kafka. The topics must exist. The Kafka client is loaded only in processes that use it. */
  static kafka(config: KafkaEventsConfig): DynamicModule {
    return {
      module: EventsModule,
      global: true,
      providers: [
        {
          provide: EventLog,
          useFactory: async () => {
            const { KafkaEventLog } = await import('./kafka/kafka-event-log.js');
            return new KafkaEventLog(config);
          },
        },
        {
          provide: EventStrategy,
          useFactory: async (log: KafkaEventLog) => {
            const { KafkaEventStrategy } = await import('./kafka/kafka-event-strategy.js');
            return new KafkaEventStrategy({ ...config, log });
          },
          inject: [EventLog],
        },
        outboxOf(config.logger),
      ],
      exports: [EventLog, EventStrategy, Outbox],
    };
  }
}

/** A process without a database has no transactions, and therefore no outbox. */
const outboxOf = (logger: EventsLogger = silent): FactoryProvider => ({
  provide: Outbox,
  useFactory: (log: GroupCommitLog, database?: Database) => database && new Outbox({ database, log, logger }),
  inject: [EventLog, { token: Database, optional: true }],
});
