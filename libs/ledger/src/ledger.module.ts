import { type DynamicModule, Module, type Provider } from '@nestjs/common';
import { Accounting } from '@svc/contracts/accounting';
import { Books, Charges, Holds, Ledger, UsageHistory } from '@svc/contracts/ports';
import type { LedgerConfig, SharedLedgerConfig } from './ledger.config.js';
import {
  holdingInMemory,
  holdingOnRedis,
  keepingBooks,
  refusingCharges,
  settling,
} from './ledger-providers.js';
import { ChargesConsumer } from './posting/poster.js';

/** The ledger itself. Needs the global modules of storage, events, jobs, logging and health. */
@Module({})
export class LedgerModule {
  /** With holds in this process's memory: no other process may hold. */
  static with(config: LedgerConfig): DynamicModule {
    return LedgerModule.of([...settling(config), ...keepingBooks(config), ...holdingInMemory(config)]);
  }

  /**
   * With holds on Redis: one of any number of processes, which share the recorded charges among themselves.
   */
  static shared(config: SharedLedgerConfig): DynamicModule {
    const books = [...settling(config), ...keepingBooks(config)];
    if (config.LEDGER_POSTING === 'off') return LedgerModule.of([...books, ...refusingCharges(config)], []);
    return LedgerModule.of([...books, ...holdingOnRedis(config)]);
  }

  private static of(providers: Provider[], controllers = [ChargesConsumer]): DynamicModule {
    return {
      module: LedgerModule,
      controllers,
      providers,
      exports: [Ledger, Accounting, Books, UsageHistory, Holds, Charges],
    };
  }
}
