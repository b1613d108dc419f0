import { type DynamicModule, Module } from '@nestjs/common';
import { Books, Ledger } from '@svc/contracts';
import { BooksStore } from './books.store.js';
import { DirectPosting } from './direct-posting.js';
import { HoldBook } from './hold-book.js';
import { type LedgerConfig, LedgerSettings } from './ledger.config.js';
import { LiveHolds } from './live-holds.js';
import { LocalBooks } from './local-books.js';
import { LocalLedger } from './local-ledger.js';
import { MemoryHoldBook } from './memory-hold-book.js';
import { MonthSchedule } from './month-schedule.js';
import { MonthsStore } from './months.store.js';
import { Opening } from './opening.js';
import { Poster } from './poster.js';
import { PostingStore } from './posting.store.js';
import { Settlement } from './settlement.js';
import { UsageConsumer } from './usage.consumer.js';
import { UsageDrain } from './usage-drain.js';

/** The ledger itself, with holds in the memory of this process: the only one that holds. */
@Module({})
export class LedgerModule {
  /** Needs the global modules of storage, events, logging and health. */
  static with(config: LedgerConfig): DynamicModule {
    return {
      module: LedgerModule,
      controllers: [UsageConsumer],
      providers: [
        { provide: LedgerSettings, useValue: { config } satisfies LedgerSettings },
        {
          provide: HoldBook,
          useFactory: (books: BooksStore) =>
            new MemoryHoldBook((accountId) => books.balances(accountId), {
              leaseMs: config.LEDGER_HOLD_LEASE_MS,
              maxAccounts: config.LEDGER_MAX_ACCOUNTS,
              maxHolds: config.LEDGER_MAX_HOLDS,
            }),
          inject: [BooksStore],
        },
        { provide: Ledger, useClass: LocalLedger },
        { provide: Books, useClass: LocalBooks },
        BooksStore,
        DirectPosting,
        LiveHolds,
        MonthSchedule,
        MonthsStore,
        Opening,
        Poster,
        PostingStore,
        Settlement,
        UsageDrain,
      ],
      exports: [Ledger, Books],
    };
  }
}
