import { type DynamicModule, Module } from '@nestjs/common';
import { EventLog } from '@svc/contracts';
import { EventStrategy } from './event-strategy.js';
import { PostgresEventLog, type PostgresEventLogOptions } from './postgres-event-log.js';
import { PostgresEventStrategy, type PostgresEventStrategyOptions } from './postgres-event-strategy.js';

export type PostgresEventsConfig = PostgresEventLogOptions & Omit<PostgresEventStrategyOptions, 'log'>;

/** Gives the whole application one event log, and the strategy that brings its events to `@OnEvents` methods. */
@Module({})
export class EventsModule {
  /** On a PostgreSQL table. The database needs its migrations first. */
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
      ],
      exports: [EventLog, EventStrategy],
    };
  }
}
