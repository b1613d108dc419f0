import { type DynamicModule, Module } from '@nestjs/common';
import { EventsModule, kafkaConnection } from '@svc/events';
import { JobsModule } from '@svc/jobs';
import { LedgerApiModule } from '@svc/ledger';
import { InternalToken, type Logger } from '@svc/runtime';
import { StorageModule } from '@svc/storage';
import type { BillingLedgerConfig } from './billing-ledger.config.js';

/** Serves the ledger to the other processes. */
@Module({})
export class BillingLedgerModule {
  static with(config: BillingLedgerConfig, logger: Logger): DynamicModule {
    const { DATABASE_URL: url, DATABASE_CONNECTIONS: maxConnections, REDIS_URL } = config;
    return {
      module: BillingLedgerModule,
      imports: [
        StorageModule.at({ url, maxConnections, logger }),
        EventsModule.kafka({ ...kafkaConnection(config), logger }),
        JobsModule.redis({ url: REDIS_URL }),
        LedgerApiModule.with({
          config,
          token: new InternalToken(config.LEDGER_TOKEN, config.LEDGER_TOKEN_SECOND),
        }),
      ],
    };
  }
}
