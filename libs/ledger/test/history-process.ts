import assert from 'node:assert/strict';
import type { Balances } from '@svc/contracts/money';
import { type Charge, type EventDefinition, EventLog, type RecordedCharge } from '@svc/contracts/messages';
import { type Extension, type Hold, type HoldRequest, LEDGER_WIRE, type Ledger } from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import type { EventStrategy } from '@svc/events';
import {
  type AccountPosting,
  type BookReads,
  type HoldAccount,
  type KeySpent,
  MemoryHoldBook,
} from '@svc/hold-book';
import { Readiness, type RootLogger } from '@svc/runtime';
import { overWire } from '@svc/testing';
import { SettlementFallback } from '../src/posting/settlement-fallback.js';
import { SettlementTime } from '../src/posting/settlement-time.js';
import type { HoldsModel, HistoryTime, Outcome } from './history-holds.js';
import { LEASE_MS, hourOf } from './history-holds.js';
import { ChargeLog } from '../src/posting/charge-log.js';
import { DiemHolds } from '../src/staking/diem-holds.js';
import { EndedHolds } from '../src/posting/ended-holds.js';
import type { LedgerSettings } from '../src/ledger.config.js';
import { LocalLedger } from '../src/local-ledger.js';
import { EarlierCharges } from '../src/posting/earlier-charges.js';
import { RenewingLedger } from '../src/renewing-ledger.js';
import { PostingProgress } from '../src/posting/posting-progress.js';

/** Longer than any run of the histories. */
const ENDLESS_MS = 86_400_000;

/** Reads the books, and delays the results while slow. */
class SlowReads implements BookReads {
  isSlow = false;
  private waiting: (() => void)[] = [];

  constructor(
    private readonly parts: ProcessParts,
    private readonly model: HoldsModel,
  ) {}

  async balances(accountId: string): ReturnType<BookReads['balances']> {
    const response = await this.response(this.parts.reads.balances(accountId));
    this.model.tell(response);
    return response;
  }

  spentOf(...of: Parameters<BookReads['spentOf']>): Promise<KeySpent> {
    return this.response(this.parts.reads.spentOf(...of));
  }

  answerAll(): void {
    this.isSlow = false;
    for (const response of this.waiting.splice(0)) response();
  }

  private async response<Answer>(read: Promise<Answer>): Promise<Answer> {
    const response = await this.parts.track(read);
    if (this.isSlow) await new Promise<void>((resolve) => this.waiting.push(resolve));
    return response;
  }
}

interface WatchedOptions {
  readonly model: HoldsModel;
  readonly time: HistoryTime;
  readonly maxAccounts: number;
  /** Reports mismatches, since not every caller of the book checks what it throws. */
  readonly fail: (error: unknown) => void;
}

/** A hold book whose every operation is compared with the model. */
class WatchedBook extends MemoryHoldBook {
  protected override readonly diemChangeWaitMs = ENDLESS_MS;
  private readonly seenErrors = new WeakSet<Problem>();

  constructor(
    reads: BookReads,
    private readonly watched: WatchedOptions,
  ) {
    const { time, maxAccounts } = watched;
    const clock = { nowMs: () => time.nowMs, hour: () => hourOf(time) };
    super(reads, { leaseMs: LEASE_MS, maxHolds: 1_000, maxAccounts, ...clock });
  }

  override hold(request: HoldRequest): Hold | Promise<Hold> {
    const held = super.hold(request);
    if (held instanceof Promise)
      this.seeRefusal(held, (outcome) => this.watched.model.hold(request, outcome));
    return held;
  }

  protected override holdNow(account: HoldAccount, request: HoldRequest): Hold {
    return this.seen(
      () => super.holdNow(account, request),
      (outcome) => this.watched.model.hold(request, outcome),
    );
  }

  override extend(hold: Hold, extension: Extension): Promise<Hold> {
    const extended = super.extend(hold, extension);
    this.seeRefusal(extended, (outcome) => this.watched.model.extend(hold, extension, outcome));
    return extended;
  }

  protected override extendNow(account: HoldAccount, hold: Hold, extension: Required<Extension>): Hold {
    return this.seen(
      () => super.extendNow(account, hold, extension),
      (outcome) => this.watched.model.extend(hold, extension, outcome),
    );
  }

  protected override settleNow(hold: Hold, cost: Balances): void {
    super.settleNow(hold, cost);
    this.compare(() => this.watched.model.settle(hold, cost, this['placed'].has(hold.requestId)));
  }

  override release(hold: Hold): undefined {
    super.release(hold);
    this.compare(() => this.watched.model.release(hold));
  }

  override renew(holds: Iterable<Hold>): Promise<void> {
    const all = [...holds];
    const known = new Set(all.filter((hold) => this.isKnown(hold)));
    const isTaken = (hold: Hold): boolean | undefined =>
      known.has(hold) ? this['placed'].has(hold.requestId) : undefined;
    const renewed = super.renew(all);
    this.compare(() => this.watched.model.renew(all, isTaken));
    return renewed;
  }

  override post(postings: readonly AccountPosting[]): Promise<void> {
    const posted = super.post(postings);
    this.compare(() => this.watched.model.post(postings));
    return posted;
  }

  protected override availableNow(accountId: string): Balances {
    const available = super.availableNow(accountId);
    this.compare(() => this.watched.model.look(accountId, available));
    return available;
  }

  protected override holdRestNow(accountId: string, requestId: string): bigint {
    const diemNano = super.holdRestNow(accountId, requestId);
    this.compare(() => this.watched.model.holdRest(accountId, requestId, diemNano));
    return diemNano;
  }

  /** Whether the account and key of a hold are in memory, so that it can be taken again. */
  private isKnown(hold: Hold): boolean {
    const account = this['accounts'].find(hold.accountId);
    return account !== undefined && this['isReady'](account, hold);
  }

  /** Compares a step at the moment of its outcome, since others may follow in the same turn. */
  private seen(step: () => Hold, tell: (outcome: Outcome) => void): Hold {
    try {
      const hold = step();
      this.compare(() => tell({ hold }));
      return hold;
    } catch (error) {
      this.seeError(error, tell);
      throw error;
    }
  }

  /** Compares a refusal before the step. */
  private seeRefusal(operation: Promise<Hold>, tell: (outcome: Outcome) => void): void {
    operation.catch((error: unknown) => this.seeError(error, tell));
  }

  private seeError(error: unknown, tell: (outcome: Outcome) => void): void {
    if (!(error instanceof Problem)) this.watched.fail(error);
    else if (!this.seenErrors.has(error)) this.compare(() => tell({ refused: error.code }));
    if (error instanceof Problem) this.seenErrors.add(error);
  }

  private compare(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.watched.fail(error);
    }
  }
}

/** The recorded events. They outlive every process. */
export class HistoryLog extends EventLog {
  mode: 'works' | 'later' | 'refuses' | 'loses' = 'works';
  readonly events: RecordedCharge[] = [];
  private readonly waiting = new Map<string, () => void>();

  override publish<Payload>(_event: EventDefinition<Payload>, payload: Payload): Promise<void> {
    const usage = payload as RecordedCharge;
    const { mode } = this;
    this.mode = 'works';
    if (mode === 'refuses') return Promise.reject(new Error('the event log is down'));
    this.events.push(usage);
    if (mode === 'loses') return Promise.reject(new Error('the event log did not respond'));
    if (mode === 'works') return Promise.resolve();
    return new Promise((resolve) => this.waiting.set(usage.requestId, resolve));
  }

  response(requestId: string): void {
    this.waiting.get(requestId)?.();
    this.waiting.delete(requestId);
  }
}

/** Resolves when every event is posted. */
export class ManualProgress extends PostingProgress {
  constructor(
    settings: LedgerSettings,
    private readonly drained: Promise<void>,
  ) {
    super(undefined as unknown as EventStrategy, undefined as unknown as SettlementFallback, settings);
  }

  override caughtUp(): Promise<void> {
    return this.drained;
  }
}

/** What all processes share. */
export interface ProcessParts {
  readonly reads: BookReads;
  readonly fallback: SettlementFallback;
  readonly settings: LedgerSettings;
  readonly logger: RootLogger;
  /** Tracks database work that must end before the round does. */
  readonly track: <Result>(work: Promise<Result>) => Promise<Result>;
}

export interface ProcessOptions {
  readonly time: HistoryTime;
  readonly maxAccounts: number;
  readonly log: HistoryLog;
  readonly model: HoldsModel;
  readonly fail: (error: unknown) => void;
}

/**
 * Gives a settlement unlimited time. Otherwise, on a slow machine, a charge whose log responds in a later
 * step would be posted earlier than the history expects.
 */
export class PatientFallback extends SettlementFallback {
  override time(startMs: number): SettlementTime {
    return new SettlementTime(startMs, ENDLESS_MS);
  }
}

/** Sets DIEM aside without a deadline. */
export class PatientDiemHolds extends DiemHolds {
  protected override readonly takeMs = ENDLESS_MS;
}

/** Always waits for the log, so that the history's step alone decides which way a charge takes. */
class PatientLog extends ChargeLog {
  constructor(private readonly events: EventLog) {
    super(events);
  }

  override record(charge: Charge): Promise<void> {
    return new EndlessLog(this.events).record(charge);
  }
}

class EndlessLog extends ChargeLog {
  protected override readonly deadlineMs = ENDLESS_MS;
}

/** A ledger process, from its start to its death. */
export class HistoryProcess {
  readonly ledger: RenewingLedger;
  readonly book: WatchedBook;
  readonly model: HoldsModel;
  private readonly slow: SlowReads;
  private readonly drained = Promise.withResolvers<void>();

  constructor(parts: ProcessParts, { log, ...watched }: ProcessOptions) {
    const { settings, logger } = parts;
    this.model = watched.model;
    this.slow = new SlowReads(parts, watched.model);
    this.book = new WatchedBook(this.slow, watched);
    const earlier = new EarlierCharges(
      new ManualProgress(settings, this.drained.promise),
      settings,
      new Readiness(),
    );
    earlier.onApplicationBootstrap();
    const ended = new EndedHolds(this.book, logger);
    const local = new LocalLedger(earlier, this.book, new PatientLog(log), parts.fallback, ended);
    const { LEDGER_HOLD_LEASE_MS: leaseMs, LEDGER_HOLD_MAX_MS: maxMs } = settings.config;
    // Encoded as over a wire: the processes share no memory.
    this.ledger = new RenewingLedger(overWire<Ledger>(local, LEDGER_WIRE), { leaseMs, maxMs }, logger.log);
  }

  get isSlow(): boolean {
    return this.slow.isSlow;
  }

  /** Everything recorded before the start is posted. */
  open(): void {
    this.drained.resolve();
  }

  readsSlowly(): void {
    this.slow.isSlow = true;
    this.model.mayLackRoom = true;
  }

  databaseResponds(): void {
    this.slow.answerAll();
  }

  /** Checks that no holds are left. */
  assertEmpty(): void {
    assert.equal(this.book.size, 0, 'nothing is held at the end');
    assert.equal(this.ledger.size, 0, 'nobody holds anything at the end');
    assert.equal(this.model.size, 0);
  }
}
