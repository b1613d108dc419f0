import assert from 'node:assert/strict';
import { type Balances, type Extension, type Hold, type HoldRequest, Problem } from '@svc/contracts';
import { type AccountPosting, HoldBook, type PostedBalances } from './hold-book.js';
import { type Leased, LeaseList } from './lease-list.js';
import { RecentIds } from './recent-ids.js';

/** Reads what an account has from the database. */
export type LoadBalances = (accountId: string) => Promise<PostedBalances>;

export interface MemoryHoldBookOptions {
  /** A hold that is not renewed lapses after this time. */
  readonly leaseMs: number;
  /** Accounts kept in memory. Those without holds that were not used lately make room. */
  readonly maxAccounts: number;
  /** Holds kept at once, settled ones that wait for their posting included. Beyond it `hold` refuses. */
  readonly maxHolds: number;
  /** A clock that never goes back. */
  readonly nowMs?: () => number;
}

interface Account {
  readonly id: string;
  usdNano: bigint;
  diemNano: bigint;
  version: bigint;
  heldUsdNano: bigint;
  heldDiemNano: bigint;
  holds: number;
  /** Used since room was last made. */
  used: boolean;
}

interface Entry extends Leased {
  readonly account: Account;
  hold: Hold;
  /** What is set aside now. */
  amount: Balances;
  settled: boolean;
}

interface Load {
  readonly done: Promise<void>;
  /** The newest posting that came while the database was read. */
  newest: PostedBalances | undefined;
}

/** Accounts looked at for each that comes in beyond the limit. */
const EVICTION_STEPS = 8;
/** Requests remembered as posted before they were settled. */
const MAX_POSTED_IDS = 100_000;

/** The hold book of a single process: every step is one turn of the event loop, so it is atomic. */
export class MemoryHoldBook extends HoldBook {
  private readonly accounts = new Map<string, Account>();
  private readonly loads = new Map<string, Load>();
  private readonly entries = new Map<string, Entry>();
  private readonly leases: LeaseList<Entry>;
  /** Requests that were posted while their hold was not settled: a settle that comes late must not hold again. */
  private readonly posted: RecentIds;
  private readonly nowMs: () => number;
  private hand: MapIterator<Account> | undefined;

  constructor(
    private readonly load: LoadBalances,
    private readonly options: MemoryHoldBookOptions,
  ) {
    super();
    this.leases = new LeaseList(options.leaseMs);
    this.posted = new RecentIds(options.leaseMs, MAX_POSTED_IDS);
    this.nowMs = options.nowMs ?? (() => performance.now());
  }

  /** Holds in the book: live ones and settled ones whose charge is not posted yet. */
  get size(): number {
    return this.entries.size;
  }

  get accountCount(): number {
    return this.accounts.size;
  }

  override async hold(request: HoldRequest): Promise<Hold> {
    assert(request.amountNano >= 0n, 'a hold is not negative');
    if (!this.accounts.has(request.accountId)) await this.ensureLoaded(request.accountId);
    const account = this.account(request.accountId);
    const now = this.sweep();
    const known = this.entries.get(request.requestId);
    if (known) {
      assert(known.account === account, 'a request belongs to one account');
      return known.hold;
    }
    if (this.entries.size >= this.options.maxHolds)
      throw new Problem('UNAVAILABLE', { cause: new Error('the hold book is full') });
    const before = available(account);
    const hold: Hold = {
      requestId: request.requestId,
      accountId: request.accountId,
      keyId: request.keyId,
      amount: split(before, request.amountNano, request.atLeastNano),
      before,
    };
    account.used = true;
    this.place({ account, hold, amount: hold.amount, settled: false, ...NO_LEASE }, now);
    return hold;
  }

  override async extend(hold: Hold, { moreNano, atLeastNano = moreNano }: Extension): Promise<Hold> {
    assert(moreNano >= 0n, 'a hold only grows');
    if (!this.accounts.has(hold.accountId)) await this.ensureLoaded(hold.accountId);
    const account = this.account(hold.accountId);
    const now = this.sweep();
    const entry = this.entries.get(hold.requestId);
    if (!entry) return this.takeAgain(account, hold, { moreNano, atLeastNano });
    assert(!entry.settled, 'a settled hold does not grow');
    const held = entry.hold.amount;
    const wanted = hold.amount.usdNano + hold.amount.diemNano + moreNano;
    const missing = wanted - held.usdNano - held.diemNano;
    if (missing > 0n) {
      const more = split(available(account), missing, missing - (moreNano - atLeastNano));
      const amount = { usdNano: held.usdNano + more.usdNano, diemNano: held.diemNano + more.diemNano };
      entry.hold = { ...entry.hold, amount };
      this.resize(entry, amount);
    }
    this.leases.lease(entry, now);
    return entry.hold;
  }

  override async settle(hold: Hold, cost: Balances): Promise<void> {
    if (!this.entries.has(hold.requestId) && !this.accounts.has(hold.accountId))
      await this.ensureLoaded(hold.accountId);
    const entry = this.entries.get(hold.requestId);
    if (!entry) {
      this.settleLapsed(hold, cost);
      return;
    }
    if (entry.settled) return;
    this.resize(entry, cost);
    entry.settled = true;
    this.leases.remove(entry);
  }

  override release(hold: Hold): Promise<void> {
    const entry = this.entries.get(hold.requestId);
    if (entry && !entry.settled) this.remove(entry);
    return Promise.resolve();
  }

  override renew(holds: Iterable<Hold>): Promise<void> {
    const now = this.nowMs();
    for (const hold of holds) {
      const entry = this.entries.get(hold.requestId);
      const account = entry?.account ?? this.accounts.get(hold.accountId);
      if (entry && !entry.settled) this.leases.lease(entry, now);
      else if (!entry && account && covers(available(account), hold.amount))
        this.takeAgain(account, hold, { moreNano: 0n });
    }
    this.sweep();
    return Promise.resolve();
  }

  override post(postings: readonly AccountPosting[]): Promise<void> {
    const now = this.nowMs();
    for (const posting of postings) {
      const account = this.accounts.get(posting.accountId);
      const load = this.loads.get(posting.accountId);
      if (account) setBalances(account, posting);
      else if (load && posting.version > (load.newest?.version ?? -1n)) load.newest = posting;
      for (const requestId of posting.requestIds) {
        const entry = this.entries.get(requestId);
        if (!entry?.settled) this.posted.add(requestId, now);
        if (entry) this.remove(entry);
      }
    }
    return Promise.resolve();
  }

  /** Ends the holds whose lease is over. Returns the time. */
  sweep(): number {
    const now = this.nowMs();
    for (let entry = this.leases.lapsed(now); entry; entry = this.leases.lapsed(now)) this.remove(entry);
    return now;
  }

  /** Holds anew what a lapsed hold had, in its own currencies, and more. */
  private takeAgain(account: Account, hold: Hold, { moreNano, atLeastNano }: Extension): Hold {
    const now = this.nowMs();
    if (this.posted.has(hold.requestId, now)) return hold;
    const left = available(account);
    if (!covers(left, hold.amount)) throw new Problem('INSUFFICIENT_BALANCE');
    const rest = {
      usdNano: left.usdNano - hold.amount.usdNano,
      diemNano: left.diemNano - hold.amount.diemNano,
    };
    const more = split(rest, moreNano, atLeastNano);
    const amount = {
      usdNano: hold.amount.usdNano + more.usdNano,
      diemNano: hold.amount.diemNano + more.diemNano,
    };
    const again: Hold = { ...hold, amount };
    this.place({ account, hold: again, amount, settled: false, ...NO_LEASE }, now);
    return again;
  }

  /**
   * The charge is durable although its hold is gone: what it costs must not be spent until it is posted. With a
   * lease, since a charge told twice may have been posted before.
   */
  private settleLapsed(hold: Hold, cost: Balances): void {
    const now = this.nowMs();
    const account = this.accounts.get(hold.accountId);
    if (!account || this.posted.has(hold.requestId, now)) return;
    this.place({ account, hold, amount: cost, settled: true, ...NO_LEASE }, now);
  }

  private place(entry: Entry, nowMs: number): void {
    this.entries.set(entry.hold.requestId, entry);
    const { account, amount } = entry;
    account.heldUsdNano += amount.usdNano;
    account.heldDiemNano += amount.diemNano;
    account.holds += 1;
    this.leases.lease(entry, nowMs);
  }

  private remove(entry: Entry): void {
    this.entries.delete(entry.hold.requestId);
    this.leases.remove(entry);
    const { account, amount } = entry;
    account.heldUsdNano -= amount.usdNano;
    account.heldDiemNano -= amount.diemNano;
    account.holds -= 1;
  }

  private resize(entry: Entry, amount: Balances): void {
    entry.account.heldUsdNano += amount.usdNano - entry.amount.usdNano;
    entry.account.heldDiemNano += amount.diemNano - entry.amount.diemNano;
    entry.amount = amount;
  }

  private account(id: string): Account {
    const account = this.accounts.get(id);
    // Room was made between its load and its use.
    if (!account) throw new Problem('UNAVAILABLE', { cause: new Error('the hold book has no room') });
    return account;
  }

  /** Reads an account into the book, once for all who wait for it. */
  private ensureLoaded(accountId: string): Promise<void> {
    return (this.loads.get(accountId) ?? this.startLoad(accountId)).done;
  }

  private startLoad(accountId: string): Load {
    const read = async (): Promise<void> => {
      try {
        const posted = await this.load(accountId);
        const account = emptyAccount(accountId);
        setBalances(account, posted);
        if (load.newest) setBalances(account, load.newest);
        this.makeRoom();
        this.accounts.set(accountId, account);
      } catch (error) {
        throw error instanceof Problem ? error : new Problem('UNAVAILABLE', { cause: error });
      } finally {
        this.loads.delete(accountId);
      }
    };
    const load: Load = { done: Promise.resolve().then(read), newest: undefined };
    this.loads.set(accountId, load);
    return load;
  }

  /** A clock hand goes round the accounts and drops those without holds that were not used since it last came. */
  private makeRoom(): void {
    for (
      let steps = 0;
      this.accounts.size >= this.options.maxAccounts && steps < EVICTION_STEPS;
      steps += 1
    ) {
      this.hand ??= this.accounts.values();
      const { value: account, done } = this.hand.next();
      if (done) this.hand = undefined;
      else if (account.used || account.holds > 0) account.used = false;
      else this.accounts.delete(account.id);
    }
  }
}

const NO_LEASE = { lapsesAtMs: 0, older: undefined, newer: undefined };

function emptyAccount(id: string): Account {
  return {
    id,
    usdNano: 0n,
    diemNano: 0n,
    version: -1n,
    heldUsdNano: 0n,
    heldDiemNano: 0n,
    holds: 0,
    used: true,
  };
}

function setBalances(account: Account, { balances, version }: PostedBalances): void {
  if (version <= account.version) return;
  account.usdNano = balances.usdNano;
  account.diemNano = balances.diemNano;
  account.version = version;
}

function available(account: Account): Balances {
  const usdNano = account.usdNano - account.heldUsdNano;
  const diemNano = account.diemNano - account.heldDiemNano;
  return { usdNano: usdNano > 0n ? usdNano : 0n, diemNano: diemNano > 0n ? diemNano : 0n };
}

function covers(left: Balances, amount: Balances): boolean {
  return left.usdNano >= amount.usdNano && left.diemNano >= amount.diemNano;
}

/** An amount taken from what is left, DIEM first; all that is left where that is enough. Refuses when it is not. */
function split(left: Balances, amountNano: bigint, atLeastNano = amountNano): Balances {
  const total = left.diemNano + left.usdNano;
  if (total < atLeastNano) throw new Problem('INSUFFICIENT_BALANCE');
  const taken = total < amountNano ? total : amountNano;
  const diemNano = left.diemNano < taken ? left.diemNano : taken;
  return { diemNano, usdNano: taken - diemNano };
}
