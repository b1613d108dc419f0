import { type DynamicModule, type FactoryProvider, Module } from '@nestjs/common';
import { EventLog } from '@svc/contracts/messages';
import { JobWorkers } from '@svc/jobs';
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
import { RetentionWorker } from './postgres/retention.worker.js';

export type PostgresEventsConfig = PostgresEventLogOptions &
  Omit<PostgresEventStrategyOptions, 'log'> & {
    /** No other process stores events in this log: its own commits wake its readers. */
    readonly isAlone?: boolean;
  };

export type KafkaEventsConfig = KafkaEventLogOptions & Omit<KafkaEventStrategyOptions, 'log'>;

/** How a process polls a log in which nobody else stores events, in case that it missed one of its own. */
const ALONE = { pollMs: 30_000, broadcastPollMs: 30_000 };

/**
 * Provides one event log to the whole application, and the strategy that delivers its events to `@OnEvents`
 * methods.
 */
@Module({})
export class EventsModule {
  /**
   * On a PostgreSQL table. The database must be migrated first. A process with jobs removes old events.
   */
  static postgres(given: PostgresEventsConfig): DynamicModule {
    const config = given.isAlone === true ? { ...ALONE, ...given } : given;
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
        {
          provide: RetentionWorker,
          useFactory: (workers?: JobWorkers) => workers && new RetentionWorker(config.url, workers),
          inject: [{ token: JobWorkers, optional: true }],
        },
        outboxOf(config),
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
        outboxOf(config),
      ],
      exports: [EventLog, EventStrategy, Outbox],
    };
  }
}

interface OutboxConfig {
  readonly logger?: EventsLogger;
  readonly pollMs?: number;
}

/** A process without a database has no transactions, and therefore no outbox. */
const outboxOf = ({ logger = silent, pollMs }: OutboxConfig): FactoryProvider => ({
  provide: Outbox,
  useFactory: (log: GroupCommitLog, database?: Database) =>
    database && new Outbox({ database, log, logger, pollMs }),
  inject: [EventLog, { token: Database, optional: true }],
});
