import type { Provider } from '@nestjs/common';
import { Accounting } from '@svc/contracts/accounting';
import { Books, Charges, Holds, Ledger, UsageHistory } from '@svc/contracts/ports';
import { usageRecorded } from '@svc/contracts/messages';
import { EventStrategy } from '@svc/events';
import {
  HoldAddress,
  HoldBook,
  HoldConnection,
  HoldMarks,
  MemoryHoldBook,
  RedisHoldBook,
} from '@svc/hold-book';
import { RootLogger } from '@svc/runtime';
import { MonthsWorker } from './accounts/months.worker.js';
import { MonthsStore } from './accounts/months.store.js';
import { SpendersStore } from './accounting/spenders.store.js';
import { StatementsStore } from './accounting/statements.store.js';
import { AuditStore } from './audit/audit.store.js';
import { AuditWorker } from './books/audit.worker.js';
import { BooksStore } from './books/books.store.js';
import { RefundsStore } from './books/refunds.store.js';
import { ReversalsStore } from './books/reversals.store.js';
import { Clock } from './clock.js';
import { DiemHolds } from './staking/diem-holds.js';
import { EndedHolds } from './posting/ended-holds.js';
import { HoldReadsStore } from './accounts/hold-reads.store.js';
import {
  type LedgerConfig,
  LedgerSettings,
  type SettlementConfig,
  SettlementSettings,
  type SharedLedgerConfig,
} from './ledger.config.js';
import { LocalAccounting } from './local-accounting.js';
import { LocalBooks } from './local-books.js';
import { LocalCharges, LocalGiveBacks, RefusedCharges } from './local-charges.js';
import { LocalLedger } from './local-ledger.js';
import { LocalUsageHistory } from './local-usage-history.js';
import { ChargeJournal, FileJournal, NoJournal } from './posting/charge-journal.js';
import { ChargeLog } from './posting/charge-log.js';
import { DirectPosting } from './posting/direct-posting.js';
import { EarlierCharges } from './posting/earlier-charges.js';
import { NeverCharged } from './posting/never-charged.js';
import { GiveBacks, Poster } from './posting/poster.js';
import { PostingStore } from './posting/posting.store.js';
import { LEDGER_GROUP, PostingProgress } from './posting/posting-progress.js';
import { SettlementFallback } from './posting/settlement-fallback.js';
import { RenewingLedger } from './renewing-ledger.js';
import { StakeDayWorker } from './staking/stake-day.worker.js';
import { StakeDays } from './staking/stake-days.js';
import { StakesStore } from './staking/stakes.store.js';
import { Staking } from './staking/staking.js';
import { SnapshotStore } from './usage/snapshot.store.js';
import { UsageDaysStore } from './usage/usage-days.store.js';
import { ChargeUsersStore } from './usage/charge-users.store.js';
import { UsageRequestsStore } from './usage/usage-requests.store.js';
import { UsageHistoryStore } from './usage/usage-history.store.js';

/** The ledger of a process that settles, on top of local or remote `Holds` and `Charges`. */
export function settling(config: SettlementConfig): Provider[] {
  return [
    { provide: SettlementSettings, useValue: { config } satisfies SettlementSettings },
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
    { provide: ChargeJournal, useFactory: () => openJournal(config) },
    ChargeLog,
    DirectPosting,
    EndedHolds,
    LocalLedger,
    NeverCharged,
    SettlementFallback,
  ];
}

/** The books and everything that changes them, on top of a `HoldBook`. */
export function keepingBooks(config: LedgerConfig): Provider[] {
  return [
    { provide: LedgerSettings, useValue: { config } satisfies LedgerSettings },
    { provide: Accounting, useClass: LocalAccounting },
    { provide: Books, useClass: LocalBooks },
    { provide: Charges, useClass: LocalCharges },
    { provide: GiveBacks, useClass: LocalGiveBacks },
    { provide: Holds, useExisting: HoldBook },
    { provide: UsageHistory, useClass: LocalUsageHistory },
    ...(config.LEDGER_AUDIT === 'on' ? [AuditWorker] : []),
    AuditStore,
    BooksStore,
    Clock,
    DiemHolds,
    EarlierCharges,
    HoldReadsStore,
    MonthsStore,
    MonthsWorker,
    Poster,
    PostingProgress,
    PostingStore,
    RefundsStore,
    ReversalsStore,
    SnapshotStore,
    SpendersStore,
    StakeDayWorker,
    StakeDays,
    StakesStore,
    StatementsStore,
    Staking,
    UsageDaysStore,
    ChargeUsersStore,
    UsageRequestsStore,
    UsageHistoryStore,
  ];
}

/** Holds in this process's memory; they are lost when it dies. */
export function holdingInMemory(config: LedgerConfig): Provider[] {
  return [
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
  ];
}

/** Holds that outlive each process. If Redis loses them, the hold book waits for the charges they covered. */
export function holdingOnRedis(config: SharedLedgerConfig): Provider[] {
  return [
    { provide: HoldAddress, useValue: { redisUrl: config.REDIS_URL } satisfies HoldAddress },
    HoldConnection,
    {
      provide: HoldMarks,
      useFactory: ({ steps, log }: HoldConnection, events: EventStrategy) =>
        new HoldMarks(
          steps,
          () => events.drained(usageRecorded.topic, LEDGER_GROUP, config.LEDGER_START_WAIT_MS),
          log,
        ),
      inject: [HoldConnection, EventStrategy],
    },
    {
      provide: HoldBook,
      useFactory: (reads: HoldReadsStore, { steps, log }: HoldConnection, marks: HoldMarks) =>
        new RedisHoldBook(
          steps,
          { reads, marks, log },
          {
            leaseMs: config.LEDGER_HOLD_LEASE_MS,
            maxHolds: config.LEDGER_MAX_HOLDS,
            waitMs: config.LEDGER_REDIS_WAIT_MS,
          },
        ),
      inject: [HoldReadsStore, HoldConnection, HoldMarks],
    },
  ];
}

/**
 * Replaces the hold book on Redis while a restore re-applies credits: every hold and charge is refused, and
 * reads do not wait for the charges in the event log.
 */
export function refusingCharges(config: SharedLedgerConfig): Provider[] {
  const done = (): Promise<void> => Promise.resolve();
  return [
    ...holdingInMemory({ ...config, LEDGER_MAX_HOLDS: 0 }),
    { provide: Charges, useClass: RefusedCharges },
    {
      provide: PostingProgress,
      useValue: { caughtUp: done, beforeRead: done } satisfies Pick<
        PostingProgress,
        'caughtUp' | 'beforeRead'
      >,
    },
  ];
}

/**
 * For a process without books: other processes post the charges of its earlier run, which are still held
 * there.
 */
export const NOTHING_EARLIER: Provider = {
  provide: EarlierCharges,
  useValue: { arePosted: true, posted: () => Promise.resolve() } satisfies Pick<
    EarlierCharges,
    'arePosted' | 'posted'
  >,
};

function openJournal({
  LEDGER_JOURNAL_DIR: folder,
  LEDGER_JOURNAL_BYTES: bytes,
}: SettlementConfig): Promise<ChargeJournal> {
  return folder === undefined ? Promise.resolve(new NoJournal()) : FileJournal.open(folder, bytes);
}
