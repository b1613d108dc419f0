import { type DynamicModule, Module } from '@nestjs/common';
import { Books, Ledger, UsageHistory } from '@svc/contracts';
import { Adjustments } from './adjustments.js';
import { AuditStore } from './audit.store.js';
import { BooksStore } from './books.store.js';
import { Clock } from './clock.js';
import { DiemAside } from './diem-aside.js';
import { DirectPosting } from './direct-posting.js';
import { HoldBook } from './hold-book.js';
import { HoldReadsStore } from './hold-reads.store.js';
import { type LedgerConfig, LedgerSettings } from './ledger.config.js';
import { LiveHolds } from './live-holds.js';
import { LocalBooks } from './local-books.js';
import { LocalLedger } from './local-ledger.js';
import { LocalUsageHistory } from './local-usage-history.js';
import { MemoryHoldBook } from './memory-hold-book.js';
import { MonthSchedule } from './month-schedule.js';
import { MonthsStore } from './months.store.js';
import { Opening } from './opening.js';
import { Poster } from './poster.js';
import { PostingStore } from './posting.store.js';
import { RefundsStore } from './refunds.store.js';
import { SettledBooks } from './settled-books.js';
import { SettledCharges } from './settled-charges.js';
import { Settlement } from './settlement.js';
import { SnapshotStore } from './snapshot.store.js';
import { StakeDayWorker } from './stake-day.worker.js';
import { StakeDays } from './stake-days.js';
import { StakesStore } from './stakes.store.js';
import { Staking } from './staking.js';
import { UsageConsumer } from './usage.consumer.js';
import { UsageDaysStore } from './usage-days.store.js';
import { UsageDrain } from './usage-drain.js';
import { UsageHistoryStore } from './usage-history.store.js';

/** The ledger itself, with holds in the memory of this process: the only one that holds. */
@Module({})
export class LedgerModule {
  /** Needs the global modules of storage, events, jobs, logging and health. */
  static with(config: LedgerConfig): DynamicModule {
    return {
      module: LedgerModule,
      controllers: [UsageConsumer],
      providers: [
        { provide: LedgerSettings, useValue: { config } satisfies LedgerSettings },
        {
          provide: HoldBook,
          useFactory: (reads: HoldReadsStore) =>
            new MemoryHoldBook(reads, {
              leaseMs: config.LEDGER_HOLD_LEASE_MS,
              maxAccounts: config.LEDGER_MAX_ACCOUNTS,
              maxHolds: config.LEDGER_MAX_HOLDS,
            }),
          inject: [HoldReadsStore],
        },
        { provide: Ledger, useClass: LocalLedger },
        { provide: Books, useClass: LocalBooks },
        { provide: UsageHistory, useClass: LocalUsageHistory },
        Adjustments,
        AuditStore,
        BooksStore,
        Clock,
        DiemAside,
        DirectPosting,
        HoldReadsStore,
        LiveHolds,
        MonthSchedule,
        MonthsStore,
        Opening,
        Poster,
        PostingStore,
        RefundsStore,
        SettledBooks,
        SettledCharges,
        Settlement,
        SnapshotStore,
        StakeDayWorker,
        StakeDays,
        StakesStore,
        Staking,
        UsageDaysStore,
        UsageDrain,
        UsageHistoryStore,
      ],
      exports: [Ledger, Books, UsageHistory],
    };
  }
}
