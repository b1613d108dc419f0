import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AuditReport } from '@svc/contracts/ports';
import { HoldBook } from '@svc/hold-book';
import { Readiness, RootLogger } from '@svc/runtime';
import { Database } from '@svc/storage';
import { AuditStore } from '../src/audit/audit.store.js';
import { BooksStore } from '../src/books/books.store.js';
import { NoJournal } from '../src/posting/charge-journal.js';
import { NeverCharged } from '../src/posting/never-charged.js';
import { DirectPosting } from '../src/posting/direct-posting.js';
import { DiesAtLock, DiesBeforeCommit, Died } from './history-crashes.store.js';
import { History, type HistoryParts } from './history.js';
import { dayOf } from './history-holds.js';
import { ManualProgress, PatientDiemHolds, PatientFallback } from './history-process.js';
import { RoutingBook } from './history-routing.js';
import { type ChargeRow, HistoryRows, type UsageRow } from './history-rows.store.js';
import type { Midnight } from './history-stakes.js';
import { ENDING, type Plan, type Step } from './history-steps.js';
import { HoldReadsStore } from '../src/accounts/hold-reads.store.js';
import { LocalBooks } from '../src/local-books.js';
import { LocalCharges, LocalGiveBacks } from '../src/local-charges.js';
import { LedgerSettings } from '../src/ledger.config.js';
import { MonthsStore } from '../src/accounts/months.store.js';
import { EarlierCharges } from '../src/posting/earlier-charges.js';
import { Poster } from '../src/posting/poster.js';
import { PostingStore } from '../src/posting/posting.store.js';
import { RefundsStore } from '../src/books/refunds.store.js';
import { ReversalsStore } from '../src/books/reversals.store.js';
import { StakeDays } from '../src/staking/stake-days.js';
import { Staking } from '../src/staking/staking.js';
import { StakesStore } from '../src/staking/stakes.store.js';
import type { RunningLedger } from './testing.js';

/** The result of a history. */
export interface Played {
  readonly plan: Plan;
  readonly failure: unknown;
  /** The number of steps begun. */
  readonly steps: number;
}

interface Playing {
  readonly history: History;
  readonly steps: readonly Step[];
  begun: number;
}

/** One database with its posters, and many parallel histories, each with its own accounts. */
export class HistoryFixture {
  private readonly histories = new Map<string, History>();
  private readonly rows: HistoryRows;
  private readonly parts: HistoryParts;
  private readonly poster: Poster;
  private readonly dyingPoster: Poster;
  private readonly stakeDays: Record<Midnight['how'], StakeDays>;
  private readonly audits: AuditStore;
  /** Counts of each event over all histories. */
  readonly happened = new Map<string, number>();
  private readonly months: MonthsStore;
  private lastTransfer = 0n;
  private working = 0;
  private idle = Promise.withResolvers<void>();

  constructor({ app }: RunningLedger) {
    const part = <Part>(token: abstract new (...args: never[]) => Part): Part =>
      app.get(token, { strict: false });
    const [database, months, settings, logger] = [
      part(Database),
      part(MonthsStore),
      part(LedgerSettings),
      part(RootLogger),
    ];
    this.rows = new HistoryRows(database);
    this.months = months;
    this.audits = part(AuditStore);
    const waiting = new RoutingBook(this.histories, 'waits');
    const arriving = new RoutingBook(this.histories, 'arrives');
    this.poster = new Poster(part(PostingStore), waiting, logger);
    this.dyingPoster = new Poster(
      new PostingStore(new DiesBeforeCommit(database.pool), months),
      waiting,
      logger,
    );
    const progress = new ManualProgress(settings, Promise.resolve());
    const earlier = new EarlierCharges(progress, settings, new Readiness());
    earlier.onApplicationBootstrap();
    const stakes = part(StakesStore);
    const diemHolds = new PatientDiemHolds(arriving, settings, logger);
    const died = new PatientDiemHolds(new RoutingBook(this.histories, 'died'), settings, logger);
    this.stakeDays = {
      works: new StakeDays(stakes, diemHolds, earlier),
      fails: new StakeDays(new StakesStore(new DiesAtLock(database.pool), months), diemHolds, earlier),
      dies: new StakeDays(stakes, died, earlier),
    };
    const giveBacks = new LocalGiveBacks(this.poster, part(RefundsStore), part(HoldBook), logger);
    const charges = new LocalCharges(this.poster, giveBacks, database);
    this.parts = {
      reads: part(HoldReadsStore),
      fallback: new PatientFallback(
        new DirectPosting(charges, settings, logger),
        new NoJournal(),
        new NeverCharged(charges, logger),
      ),
      settings,
      logger,
      track: (work) => this.track(work),
      happened: (what) => this.happened.set(what, (this.happened.get(what) ?? 0) + 1),
      books: new LocalBooks(
        part(BooksStore),
        part(RefundsStore),
        part(ReversalsStore),
        this.audits,
        part(Staking),
        waiting,
        progress,
      ),
      setTokens: (accountId, tokensNano) => stakes.setTokens(accountId, tokensNano),
    };
  }
  /** Runs histories in parallel, so that their charges share postings. */
  async play(plans: readonly Plan[]): Promise<Played[]> {
    const playing = plans.map((plan): Playing => {
      const history = new History(this.parts, plan);
      for (const accountId of history.accountIds) this.histories.set(accountId, history);
      return { history, steps: [...plan.steps, ...ENDING], begun: 0 };
    });
    await this.begin(playing);
    const rounds = Math.max(...playing.map(({ steps }) => steps.length));
    for (let round = 0; round < rounds; round += 1) await this.round(playing, round);
    await this.end(playing);
    this.histories.clear();
    return playing.map(({ history, begun }) => ({
      plan: history.plan,
      failure: history.failure,
      steps: begun,
    }));
  }

  audit(): Promise<AuditReport> {
    return this.audits.audit('whole');
  }

  private async begin(playing: readonly Playing[]): Promise<void> {
    const firsts = playing.flatMap(({ history }) =>
      history.accountIds.map((accountId) => {
        const { balances, tokensNano } = history.books.account(accountId);
        return { accountId, usdNano: balances.usdNano, tokensNano, day: dayOf(history.time) };
      }),
    );
    await this.months.ensureAhead(new Date());
    await this.rows.begin(firsts);
    this.lastTransfer = await this.rows.lastTransfer();
  }

  private async round(all: readonly Playing[], round: number): Promise<void> {
    const playing: { history: History; step: Step }[] = [];
    for (const each of all) {
      const step = each.steps[round];
      if (!step || each.history.failure !== undefined) continue;
      each.begun = round + 1;
      playing.push({ history: each.history, step });
    }
    for (const { history, step } of playing) history.start(step);
    const histories = playing.map(({ history }) => history);
    await Promise.all([this.post(histories), this.midnights(histories), this.quiet()]);
    await this.quiet();
    for (const history of histories) history.guard(() => history.lanesPosted());
    await this.follow(histories.filter((history) => history.isTouched));
    for (const { history, step } of playing) history.finish(step);
    await this.quiet();
    for (const { history, step } of playing) history.check(step);
  }

  /** Two posters in parallel, and one that dies. */
  private async post(histories: readonly History[]): Promise<void> {
    await Promise.all([
      this.poster.post(histories.flatMap(({ lanes }) => lanes.first)),
      this.poster.post(histories.flatMap(({ lanes }) => lanes.second)),
      orDeath(this.dyingPoster.post(histories.flatMap(({ lanes }) => lanes.rolledBack))),
    ]);
  }

  private async midnights(histories: readonly History[]): Promise<void> {
    const batches = new Map<string, { midnight: Midnight; accountIds: string[] }>();
    for (const { midnight } of histories) {
      if (!midnight) continue;
      const name = midnight.day + midnight.how;
      const batch = batches.get(name) ?? { midnight, accountIds: [] };
      batch.accountIds.push(...midnight.accountIds);
      batches.set(name, batch);
    }
    await Promise.all(Array.from(batches.values(), (batch) => this.setDay(batch.midnight, batch.accountIds)));
  }

  private async setDay({ day, how }: Midnight, accountIds: readonly string[]): Promise<void> {
    await orDeath(this.stakeDays[how].set(day, `${day}T00:00:01.000Z`, accountIds));
  }

  /** Lets each history check the new transfers. */
  private async follow(histories: readonly History[]): Promise<void> {
    if (histories.length === 0) return;
    const accountIds = histories.flatMap((history) => history.accountIds);
    const [moved, accounts] = await Promise.all([
      this.rows.moved(accountIds, this.lastTransfer),
      this.rows.accounts(accountIds),
    ]);
    for (const row of moved) {
      const history = this.historyOf(row.account_id);
      history.guard(() => history.books.move(row));
      if (row.id > this.lastTransfer) this.lastTransfer = row.id;
    }
    for (const row of accounts) {
      const history = this.historyOf(row.id);
      history.guard(() => history.books.check(row));
    }
    for (const history of histories) history.guard(() => history.books.checkMoved());
  }

  private async end(playing: readonly Playing[]): Promise<void> {
    const accountIds = playing.flatMap(({ history }) => history.accountIds);
    const [charges, usage] = await Promise.all([this.rows.charges(accountIds), this.rows.usage(accountIds)]);
    const chargesOf = Map.groupBy(charges, (row: ChargeRow) => this.historyOf(row.account_id));
    const usageOf = Map.groupBy(usage, (row: UsageRow) => this.historyOf(row.account_id));
    for (const { history } of playing)
      history.checkEnd(chargesOf.get(history) ?? [], usageOf.get(history) ?? []);
  }

  private historyOf(accountId: string): History {
    const history = this.histories.get(accountId);
    assert(history, `account ${accountId} belongs to a history`);
    return history;
  }

  private track<Result>(work: Promise<Result>): Promise<Result> {
    this.working += 1;
    void this.untilDone(work);
    return work;
  }

  private async untilDone(work: Promise<unknown>): Promise<void> {
    // The caller handles its failure.
    await Promise.allSettled([work]);
    this.working -= 1;
    if (this.working > 0) return;
    this.idle.resolve();
    this.idle = Promise.withResolvers();
  }

  /** Resolves when only work for later steps is left. */
  private async quiet(): Promise<void> {
    await nextTurn();
    while (this.working > 0) {
      await this.idle.promise;
      await nextTurn();
    }
  }
}

async function orDeath(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof Died)) throw error;
  }
}
