import { type DynamicModule, Module, type Provider } from '@nestjs/common';
import { Books, Charges, Holds, Ledger, UsageHistory } from '@svc/contracts';
import type { LedgerConfig, SharedLedgerConfig } from './ledger.config.js';
import { holdingInMemory, holdingOnRedis, keepingBooks, settling } from './ledger-providers.js';
import { ChargesConsumer } from './posting/charges.consumer.js';

/** The ledger itself. Needs the global modules of storage, events, jobs, logging and health. */
@Module({})
export class LedgerModule {
  /** With holds in the memory of this process: the only one that holds. */
  static with(config: LedgerConfig): DynamicModule {
    return LedgerModule.of([...settling(config), ...keepingBooks(config), ...holdingInMemory(config)]);
  }

  /** With holds on Redis: one of any number of processes, which divide what is recorded among themselves. */
  static shared(config: SharedLedgerConfig): DynamicModule {
    return LedgerModule.of([...settling(config), ...keepingBooks(config), ...holdingOnRedis(config)]);
  }

  private static of(providers: Provider[]): DynamicModule {
    return {
      module: LedgerModule,
      controllers: [ChargesConsumer],
      providers,
      exports: [Ledger, Books, UsageHistory, Holds, Charges],
    };
  }
}
