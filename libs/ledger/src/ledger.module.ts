import { type DynamicModule, Module } from '@nestjs/common';
import { Books, Ledger, UsageHistory } from '@svc/contracts';
import { RootLogger } from '@svc/runtime';
import { Adjustments } from './books/adjustments.js';
import { AuditStore } from './audit/audit.store.js';
import { BooksStore } from './books/books.store.js';
import { ChargeJournal, FileJournal, NoJournal } from './posting/charge-journal.js';
import { ChargeReturn, NeverCharged } from './posting/never-charged.js';
import { ReturnedCharges } from './books/returned-charges.js';
import { SettlementFallback } from './posting/settlement-fallback.js';
import { ChargeLog } from './posting/charge-log.js';
import { Clock } from './clock.js';
import { DiemHolds } from './holds/diem-holds.js';
import { DirectPosting } from './posting/direct-posting.js';
import { EndedHolds } from './holds/ended-holds.js';
import { HoldBook } from './holds/hold-book.js';
import { HoldReadsStore } from './holds/hold-reads.store.js';
import { type LedgerConfig, LedgerSettings } from './ledger.config.js';
import { LocalBooks } from './local-books.js';
import { LocalLedger } from './local-ledger.js';
import { LocalUsageHistory } from './local-usage-history.js';
import { MemoryHoldBook } from './holds/memory-hold-book.js';
import { MonthSchedule } from './accounts/month-schedule.js';
import { MonthsStore } from './accounts/months.store.js';
import { EarlierCharges } from './posting/earlier-charges.js';
import { Poster } from './posting/poster.js';
import { PostingStore } from './posting/posting.store.js';
import { RefundsStore } from './books/refunds.store.js';
import { RenewingLedger } from './renewing-ledger.js';
import { SettledBooks } from './books/settled-books.js';
import { SettledCharges } from './books/settled-charges.js';
import { Settlement } from './posting/settlement.js';
import { SnapshotStore } from './usage/snapshot.store.js';
import { StakeDayWorker } from './staking/stake-day.worker.js';
import { StakeDays } from './staking/stake-days.js';
import { StakesStore } from './staking/stakes.store.js';
import { Staking } from './staking/staking.js';
import { ChargesConsumer } from './posting/charges.consumer.js';
import { UsageDaysStore } from './usage/usage-days.store.js';
import { PostingProgress } from './posting/posting-progress.js';
import { UsageHistoryStore } from './usage/usage-history.store.js';

/** The ledger itself, with holds in the memory of this process: the only one that holds. */
@Module({})
export class LedgerModule {
  /** Needs the global modules of storage, events, jobs, logging and health. */
  static with(config: LedgerConfig): DynamicModule {
    return {
      module: LedgerModule,
      controllers: [ChargesConsumer],
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
        {
          provide: Ledger,
          useFactory: (ledger: LocalLedger, { log }: RootLogger) =>
            new RenewingLedger(
              ledger,
              { leaseMs: config.LEDGER_HOLD_LEASE_MS, maxMs: config.LEDGER_HOLD_MAX_MS },
              log,
            ),
          inject: [LocalLedger, RootLogger],
        },
        { provide: Books, useClass: LocalBooks },
        { provide: UsageHistory, useClass: LocalUsageHistory },
        Adjustments,
        AuditStore,
        BooksStore,
        Clock,
        DiemHolds,
        ChargeLog,
        DirectPosting,
        NeverCharged,
        SettlementFallback,
        { provide: ChargeReturn, useClass: ReturnedCharges },
        {
          provide: ChargeJournal,
          useFactory: () => openJournal(config),
        },
        EndedHolds,
        HoldReadsStore,
        LocalLedger,
        MonthSchedule,
        MonthsStore,
        EarlierCharges,
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
        PostingProgress,
        UsageHistoryStore,
      ],
      exports: [Ledger, Books, UsageHistory],
    };
  }
}

function openJournal({
  LEDGER_JOURNAL_DIR: folder,
  LEDGER_JOURNAL_BYTES: bytes,
}: LedgerConfig): Promise<ChargeJournal> {
  return folder === undefined ? Promise.resolve(new NoJournal()) : FileJournal.open(folder, bytes);
}
