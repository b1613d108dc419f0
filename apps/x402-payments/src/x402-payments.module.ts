import { type DynamicModule, Module } from '@nestjs/common';
import { JobsModule } from '@svc/jobs';
import { BooksClientModule } from '@svc/ledger';
import { PaymentsApiModule } from '@svc/payments';
import { InternalToken, type Logger } from '@svc/runtime';
import { StorageModule } from '@svc/storage';
import type { X402PaymentsConfig } from './x402-payments.config.js';

/** Serves payments to the other processes. */
@Module({})
export class X402PaymentsModule {
  static with(config: X402PaymentsConfig, logger: Logger): DynamicModule {
    return {
      module: X402PaymentsModule,
      imports: [
        StorageModule.at({ url: config.DATABASE_URL, maxConnections: config.DATABASE_CONNECTIONS, logger }),
        JobsModule.redis({ url: config.REDIS_URL }),
        PaymentsApiModule.with(
          { config, token: new InternalToken(config.PAYMENTS_TOKEN, config.PAYMENTS_TOKEN_SECOND) },
          BooksClientModule.at({ config, token: config.LEDGER_TOKEN }),
        ),
      ],
    };
  }
}
