import assert from 'node:assert/strict';
import { type Balances, NO_MONEY, plus } from '@svc/contracts/money';
import type { Extension, Hold, HoldRequest, OpenHold } from '@svc/contracts/ports';
import { PROVISIONAL_MS, Problem, type ProblemCode } from '@svc/contracts/problems';
import { PassingMap, within } from '@svc/runtime';
import { type BookReads, type HoldAccount, HoldAccounts, PlacedHold } from './hold-accounts.js';
import { LeaseList } from './lease-list.js';
import { RecentIds } from './recent-ids.js';
import { type Bound, type Take, boundsOf, covers, ownerOf, remaining, shortOf, take } from './spendable.js';
import { type AccountPosting, HoldBook } from './hold-book.js';

export interface MemoryHoldBookOptions {
  /** A hold that is not renewed lapses after this time. */
  readonly leaseMs: number;
  /** Accounts kept in memory. Accounts without holds that were not used recently are evicted. */
  readonly maxAccounts: number;
  /**
   * Maximum number of holds, including settled ones that wait for their posting. Beyond it `hold` rejects.
   */
  readonly maxHolds: number;
  /** A monotonic clock. */
  readonly nowMs?: () => number;
  /** The UTC hour, such as `2026-11-21T13`. */
  readonly hour?: () => string;
}

/** Maximum number of requests remembered as posted before they were settled. */
const MAX_POSTED_IDS = 100_000;
/** How often a load is retried, as each result may be evicted before use. */
const READY_ATTEMPTS = 6;

/** The hold book of a single process: every step runs in one turn of the event loop, so it is atomic. */
export class MemoryHoldBook extends HoldBook {
  /** How long a request waits while an account's DIEM is reset, which takes one transaction. */
  protected readonly diemChangeWaitMs: number = 2_000;
  private readonly accounts: HoldAccounts;
  private readonly placed = new PassingMap<string, PlacedHold>();
  private readonly leases: LeaseList<PlacedHold>;
  /** Requests posted while their hold was not settled: a late settle must not hold again. */
  private readonly posted: RecentIds;
  private readonly nowMs: () => number;
  private readonly hour: () => string;

  constructor(
    reads: BookReads,
    private readonly options: MemoryHoldBookOptions,
  ) {
    super();
    this.accounts = new HoldAccounts(reads, options.maxAccounts);
    this.leases = new LeaseList(options.leaseMs);
    this.posted = new RecentIds(options.leaseMs, MAX_POSTED_IDS);
    this.nowMs = options.nowMs ?? (() => performance.now());
    this.hour = options.hour ?? (() => new Date().toISOString().slice(0, 13));
  }

  /** The number of holds: live ones, and settled ones whose charge is not posted yet. */
  get size(): number {
    this.sweep();
    return this.placed.size;
  }

  get accountCount(): number {
    return this.accounts.size;
  }

  override hold(request: HoldRequest): Hold | Promise<Hold> {
    assert(request.amountNano >= 0n, 'a hold is not negative');
    const account = this.accounts.find(request.accountId);
    if (!account || account.diemChange || !this.isReady(account, request)) return this.holdWhenReady(request);
    try {
      return this.holdNow(account, request);
    } catch (error) {
      return refused(error);
    }
  }

  private holdWhenReady(request: HoldRequest): Promise<Hold> {
    return this.whenReady(request, (account) => this.holdNow(account, request));
  }

  protected holdNow(account: HoldAccount, request: HoldRequest): Hold {
    const now = this.sweep();
    const { requestId, accountId, keyId, keyLimit, userLimit } = request;
    const known = this.placed.get(requestId);
    if (known) {
      assert(known.account === account, 'a request belongs to one account');
      return known.hold;
    }
    if (this.placed.size >= this.options.maxHolds)
      throw new Problem('UNAVAILABLE', { cause: new Error('the hold book is full') });
    const before = account.available;
    const amount = this.taken(account, request, request);
    const hold: Hold = { requestId, accountId, keyId, amount, before, keyLimit, userLimit };
    account.used = true;
    const placedHold = new PlacedHold(account, hold, amount);
    this.place(placedHold, now);
    account.takenAtMs = now;
    for (const budget of placedHold.budgets) budget.takenAtMs = now;
    return hold;
  }

  override async available(accountId: string): Promise<Balances> {
    if (!this.accounts.has(accountId)) await this.accounts.ensure(accountId);
    return this.availableNow(accountId);
  }

  protected availableNow(accountId: string): Balances {
    this.sweep();
    return this.accounts.get(accountId).available;
  }

  override async open(accountId: string, limit: number): Promise<readonly OpenHold[]> {
    const now = this.sweep();
    const found: OpenHold[] = [];
    for (const { account, hold, amount, settled, lapsesAtMs } of this.leases.latestFirst()) {
      if (found.length >= limit) break;
      const { requestId, keyId } = hold;
      if (account.id !== accountId || settled || keyId === DIEM_CHANGE_KEY) continue;
      found.push({ requestId, keyId, amount, leftMs: Math.ceil(lapsesAtMs - now) });
    }
    return found;
  }

  override async holdRest(accountId: string, requestId: string): Promise<bigint> {
    if (!this.accounts.has(accountId)) await this.accounts.ensure(accountId);
    return this.holdRestNow(accountId, requestId);
  }

  protected holdRestNow(accountId: string, requestId: string): bigint {
    const account = this.accounts.get(accountId);
    const now = this.sweep();
    const known = this.placed.get(requestId);
    if (known) return known.amount.diemNano;
    const { diemNano } = account.available;
    const amount = { usdNano: 0n, diemNano };
    account.diemChange ??= Promise.withResolvers();
    const hold = { requestId, accountId, keyId: DIEM_CHANGE_KEY, amount, before: account.available };
    this.place(new PlacedHold(account, hold, amount), now);
    return diemNano;
  }

  override extend(hold: Hold, { moreNano, atLeastNano = moreNano }: Extension): Promise<Hold> {
    assert(moreNano >= 0n, 'a hold only grows');
    return this.whenReady(hold, (account) => this.extendNow(account, hold, { moreNano, atLeastNano }));
  }

  protected extendNow(
    account: HoldAccount,
    hold: Hold,
    { moreNano, atLeastNano }: Required<Extension>,
  ): Hold {
    const now = this.sweep();
    const placedHold = this.placed.get(hold.requestId);
    if (!placedHold) return this.takeAgain(account, hold, { moreNano, atLeastNano });
    assert(!placedHold.settled, 'a settled hold does not grow');
    const held = placedHold.hold.amount;
    const wanted = hold.amount.usdNano + hold.amount.diemNano + moreNano;
    const missing = wanted - held.usdNano - held.diemNano;
    if (missing > 0n) {
      const least = missing - (moreNano - atLeastNano);
      const more = this.taken(account, hold, { amountNano: missing, atLeastNano: least });
      const amount = plus(held, more);
      placedHold.hold = { ...placedHold.hold, amount };
      this.resize(placedHold, amount);
    }
    this.leases.lease(placedHold, now);
    return placedHold.hold;
  }

  override settle(hold: Hold, cost: Balances): Promise<void> | undefined {
    if (!this.placed.has(hold.requestId) && !this.accounts.has(hold.accountId))
      return this.accounts.ensure(hold.accountId).then(() => this.settleNow(hold, cost));
    this.settleNow(hold, cost);
    return undefined;
  }

  protected settleNow(hold: Hold, cost: Balances): void {
    const placedHold = this.placed.get(hold.requestId);
    if (!placedHold) {
      this.settleLapsed(hold, cost);
      return;
    }
    if (placedHold.settled) return;
    this.resize(placedHold, cost);
    placedHold.settled = true;
    placedHold.account.unsettled -= 1;
    this.leases.remove(placedHold);
  }

  override release(hold: Hold): undefined {
    const placedHold = this.placed.get(hold.requestId);
    if (placedHold && !placedHold.settled) this.remove(placedHold);
  }

  override renew(holds: readonly Hold[]): Promise<void> {
    const now = this.nowMs();
    for (const hold of holds) {
      const placedHold = this.placed.get(hold.requestId);
      const account = placedHold?.account ?? this.accounts.find(hold.accountId);
      if (placedHold && !placedHold.settled) this.leases.lease(placedHold, now);
      else if (
        !placedHold &&
        account &&
        this.isReady(account, hold) &&
        covers(this.left(account, hold), hold.amount)
      )
        this.takeAgain(account, hold, { moreNano: 0n, atLeastNano: 0n });
    }
    this.sweep();
    return Promise.resolve();
  }

  override post(postings: readonly AccountPosting[]): Promise<void> {
    const now = this.nowMs();
    for (const posting of postings) {
      this.accounts.post(posting);
      for (const requestId of posting.requestIds) {
        const placedHold = this.placed.get(requestId);
        if (!placedHold?.settled) this.posted.add(requestId, now);
        if (placedHold) this.remove(placedHold);
      }
    }
    return Promise.resolve();
  }

  /** Ends the holds whose lease is over, and returns the current time. */
  sweep(): number {
    const now = this.nowMs();
    for (let placedHold = this.leases.lapsed(now); placedHold; placedHold = this.leases.lapsed(now))
      this.remove(placedHold);
    return now;
  }

  /**
   * Runs a step once the balances and limits of an account and its key are loaded and stable, in the same
   * turn of the event loop as that check. Rejects: UNAVAILABLE.
   */
  private async whenReady<Result>(asker: Asker, step: (account: HoldAccount) => Result): Promise<Result> {
    const { accountId } = asker;
    for (let attempt = 1; attempt <= READY_ATTEMPTS; attempt += 1) {
      const account = this.accounts.find(accountId);
      if (!account) await this.accounts.ensure(accountId);
      else if (account.diemChange) await this.diemChanged(account, account.diemChange);
      else {
        const stale = this.staleOf(account, asker);
        if (!stale) return step(account);
        await this.accounts.ensureBudget(accountId, ownerOf(stale), this.hour);
      }
    }
    throw new Problem('UNAVAILABLE', { cause: new Error('the hold book has no room') });
  }

  private async diemChanged(account: HoldAccount, change: PromiseWithResolvers<void>): Promise<void> {
    await within(this.diemChangeWaitMs, change.promise).catch(() => undefined);
    this.sweep();
    if (account.diemChange)
      throw new Problem('UNAVAILABLE', { cause: new Error("an account's DIEM is being set") });
  }

  private isReady(account: HoldAccount, asker: Asker): boolean {
    return this.staleOf(account, asker) === undefined;
  }

  /** The first limit whose spending has to be read. */
  private staleOf(account: HoldAccount, asker: Asker): Bound | undefined {
    for (const bound of boundsOf(asker))
      if (account.budget(bound.id)?.isReadFor(bound.limit) !== true) return bound;
    return undefined;
  }

  /** What a request may take: what the account has left, within the limits of the key and the end user. */
  private left(account: HoldAccount, asker: Asker): Balances {
    let left = account.available;
    for (const { id, limit } of boundsOf(asker))
      left = account.budget(id)?.left(left, limit, this.hour()) ?? NO_MONEY;
    return left;
  }

  private taken(account: HoldAccount, asker: Asker, wanted: Take): Balances {
    const taken = take(this.left(account, asker), wanted);
    if (taken) return taken;
    const { userLimit: _, ...withoutUser } = asker;
    const left = this.left(account, withoutUser);
    const code = take(left, wanted)
      ? 'END_USER_SPEND_LIMIT_EXCEEDED'
      : shortOf(account.available, left, wanted);
    const isProvisional = this.mayPass(code, asker, account) && take(account.unheld, wanted) !== undefined;
    throw new Problem(code, { isProvisional });
  }

  /** Whether another request took a hold so recently that it may give it back. */
  private mayPass(code: ProblemCode, { requestId, keyId, userLimit }: Asker, account: HoldAccount): boolean {
    const id = code === 'END_USER_SPEND_LIMIT_EXCEEDED' ? userLimit?.endUser : keyId;
    const { takenAtMs } =
      code === 'INSUFFICIENT_BALANCE' ? account : (account.budget(id ?? '') ?? { takenAtMs: -Infinity });
    const own = this.placed.has(requestId) ? 1 : 0;
    return account.unsettled > own && takenAtMs > this.nowMs() - PROVISIONAL_MS;
  }

  /** Takes a lapsed hold again, in its own currencies, plus more. */
  private takeAgain(account: HoldAccount, hold: Hold, { moreNano, atLeastNano }: Required<Extension>): Hold {
    const now = this.nowMs();
    if (this.posted.has(hold.requestId, now)) return hold;
    const left = this.left(account, hold);
    if (!covers(left, hold.amount)) throw new Problem('INSUFFICIENT_BALANCE');
    const more = take(remaining(left, hold.amount), { amountNano: moreNano, atLeastNano });
    if (!more) throw new Problem('INSUFFICIENT_BALANCE');
    const amount = plus(hold.amount, more);
    const again: Hold = { ...hold, amount };
    this.place(new PlacedHold(account, again, amount), now);
    return again;
  }

  /**
   * The charge is durable although its hold is gone: its cost must not be spent until it is posted. It gets a
   * lease, because a repeated charge may have been posted before.
   */
  private settleLapsed(hold: Hold, cost: Balances): void {
    const now = this.nowMs();
    const account = this.accounts.find(hold.accountId);
    if (!account || this.posted.has(hold.requestId, now)) return;
    const placedHold = new PlacedHold(account, hold, cost);
    placedHold.settled = true;
    this.place(placedHold, now);
  }

  private place(placedHold: PlacedHold, nowMs: number): void {
    this.placed.set(placedHold.hold.requestId, placedHold);
    placedHold.account.holds += 1;
    for (const budget of placedHold.budgets) budget.holds += 1;
    if (!placedHold.settled) placedHold.account.unsettled += 1;
    placedHold.change(NO_MONEY, placedHold.amount);
    this.leases.lease(placedHold, nowMs);
  }

  private remove(placedHold: PlacedHold): void {
    this.placed.delete(placedHold.hold.requestId);
    this.leases.remove(placedHold);
    placedHold.account.holds -= 1;
    for (const budget of placedHold.budgets) budget.holds -= 1;
    if (!placedHold.settled) placedHold.account.unsettled -= 1;
    placedHold.change(placedHold.amount, NO_MONEY);
    if (placedHold.hold.keyId === DIEM_CHANGE_KEY) endDiemChange(placedHold.account);
  }

  private resize(placedHold: PlacedHold, amount: Balances): void {
    placedHold.change(placedHold.amount, amount);
    placedHold.amount = amount;
  }
}

type Asker = Pick<HoldRequest, 'requestId' | 'accountId' | 'keyId' | 'keyLimit' | 'userLimit'>;

/** Key id of the hold on an account's DIEM while that is reset. No real key has it. */
const DIEM_CHANGE_KEY = '';

async function refused(error: unknown): Promise<never> {
  throw error;
}

function endDiemChange(account: HoldAccount): void {
  account.diemChange?.resolve();
  account.diemChange = undefined;
}
