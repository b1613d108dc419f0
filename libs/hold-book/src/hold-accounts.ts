import { type Balances, NO_MONEY } from '@svc/contracts/money';
import { type Hold, isEndUser } from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import { type Bound, KeyBudget, type KeySpent, boundsOf, remaining, replaced } from './spendable.js';
import type { Leased } from './lease-list.js';
import type { AccountPosting, BudgetOwner, PostedBalances } from './hold-book.js';

export interface BookReads {
  balances(accountId: string): Promise<PostedBalances>;
  /**
   * The spending of a key or an end user up to and including a UTC hour, with the version of its account in
   * the same snapshot; of the hour itself only if that is what its limit is for.
   */
  spentOf(accountId: string, owner: BudgetOwner, hour: string): Promise<KeySpent>;
}

/** How often a key's spending is read, as a posting may overtake each read. */
const KEY_READS = 5;

/** Accounts examined for eviction per new account beyond the limit. */
export const EVICTION_STEPS = 8;

/** End users of an account whose spending is remembered, besides those that hold something. */
export const MAX_USERS = 250;

const NO_BUDGETS: readonly KeyBudget[] = [];

/** An account in the hold book. */
export class HoldAccount {
  /** Used since the eviction hand last passed. */
  used = true;
  holds = 0;
  /** The holds that are not settled. */
  unsettled = 0;
  /** When a request last took a hold, on the book's clock. */
  takenAtMs = -Infinity;
  version = -1n;
  /** Pending while the account's DIEM is being reset. */
  diemChange: PromiseWithResolvers<void> | undefined;
  private posted = NO_MONEY;
  private held = NO_MONEY;
  /** Undefined if it must be computed again. */
  private left: Balances | undefined;
  /** Budgets of the keys and the end users that have a limit. */
  private readonly budgets = new Map<string, KeyBudget>();

  constructor(readonly id: string) {}

  get available(): Balances {
    return (this.left ??= remaining(this.posted, this.held));
  }

  /** What would be available without any holds. */
  get unheld(): Balances {
    return this.posted;
  }

  /** Replaces an amount that is held. */
  hold(from: Balances, to: Balances): void {
    this.held = replaced(this.held, from, to);
    this.left = undefined;
  }

  set({ balances, version }: PostedBalances): void {
    if (version <= this.version) return;
    this.posted = balances;
    this.left = undefined;
    this.version = version;
  }

  post(posting: AccountPosting): void {
    this.set(posting);
    for (const budget of this.budgets.values()) budget.post(posting);
  }

  budget(keyId: string): KeyBudget | undefined {
    return this.budgets.get(keyId);
  }

  /** Of the limits that are known. */
  budgetsOf(bounds: readonly Bound[]): readonly KeyBudget[] {
    return bounds.length === 0 ? NO_BUDGETS : bounds.flatMap(({ id }) => this.budgets.get(id) ?? []);
  }

  addBudget(keyId: string): KeyBudget {
    if (this.budgets.size >= MAX_USERS) this.forgetUser();
    const budget = new KeyBudget(keyId);
    this.budgets.set(keyId, budget);
    return budget;
  }

  /** Makes room for an end user: the oldest that holds nothing is read again when it is needed. */
  private forgetUser(): void {
    let steps = EVICTION_STEPS;
    for (const [id, budget] of this.budgets) {
      this.budgets.delete(id);
      if (isEndUser(id) && budget.holds === 0) return;
      this.budgets.set(id, budget);
      steps -= 1;
      if (steps === 0) return;
    }
  }
}

/** A hold of an account, while it is in the book. */
export class PlacedHold implements Leased {
  /** The budgets of its key and its end user, of those that have a limit. */
  readonly budgets: readonly KeyBudget[];
  settled = false;
  lapsesAtMs = 0;
  older: Leased | undefined;
  newer: Leased | undefined;

  /** `amount` is set aside now. */
  constructor(
    readonly account: HoldAccount,
    public hold: Hold,
    public amount: Balances,
  ) {
    this.budgets = account.budgetsOf(boundsOf(hold));
  }

  /** Sets one amount aside in place of another. */
  change(from: Balances, to: Balances): void {
    this.account.hold(from, to);
    for (const budget of this.budgets) budget.hold(from, to);
  }
}

interface Load {
  readonly done: Promise<void>;
  /** The newest posting that arrived during the read. */
  newest: PostedBalances | undefined;
}

/** The accounts in memory. Accounts without holds that were not used recently are evicted to make room. */
export class HoldAccounts {
  private readonly accounts = new Map<string, HoldAccount>();
  private readonly loads = new Map<string, Load>();
  private readonly keyLoads = new Map<string, Promise<void>>();
  private hand: MapIterator<HoldAccount> | undefined;

  constructor(
    private readonly reads: BookReads,
    private readonly maxAccounts: number,
  ) {}

  get size(): number {
    return this.accounts.size;
  }

  has(id: string): boolean {
    return this.accounts.has(id);
  }

  find(id: string): HoldAccount | undefined {
    return this.accounts.get(id);
  }

  get(id: string): HoldAccount {
    const account = this.accounts.get(id);
    // Evicted between its load and its use.
    if (!account) throw new Problem('UNAVAILABLE', { cause: new Error('the hold book has no room') });
    return account;
  }

  /** Reads an account into memory, once for all waiting calls. Rejects: UNAVAILABLE. */
  ensure(id: string): Promise<void> {
    return (this.loads.get(id) ?? this.startLoad(id)).done;
  }

  post(posting: AccountPosting): void {
    const account = this.accounts.get(posting.accountId);
    const load = this.loads.get(posting.accountId);
    if (account) account.post(posting);
    else if (load && posting.version > (load.newest?.version ?? -1n)) load.newest = posting;
  }

  /**
   * Reads a key's spending, once for all waiting calls. Its account must be in memory. Rejects: UNAVAILABLE.
   */
  ensureBudget(accountId: string, owner: BudgetOwner, now: () => string): Promise<void> {
    const { id } = owner;
    const known = this.keyLoads.get(id);
    if (known) return known;
    const load = this.loadBudget(accountId, owner, now).finally(() => this.keyLoads.delete(id));
    this.keyLoads.set(id, load);
    return load;
  }

  private async loadBudget(accountId: string, owner: BudgetOwner, now: () => string): Promise<void> {
    for (let read = 1; read <= KEY_READS; read += 1) {
      const hour = now();
      const spent = await this.reads.spentOf(accountId, owner, hour).catch((error: unknown) => {
        throw new Problem('UNAVAILABLE', { cause: error });
      });
      const account = this.get(accountId);
      // The read misses what was posted since, and an hour that has begun since.
      if (spent.version < account.version || now() !== hour) continue;
      (account.budget(owner.id) ?? account.addBudget(owner.id)).set(spent);
      return;
    }
    throw new Problem('UNAVAILABLE', { cause: new Error('the spending of a key could not be read') });
  }

  private startLoad(id: string): Load {
    const read = async (): Promise<void> => {
      try {
        const posted = await this.reads.balances(id);
        const account = new HoldAccount(id);
        account.set(posted);
        if (load.newest) account.set(load.newest);
        this.makeRoom();
        this.accounts.set(id, account);
      } catch (error) {
        throw error instanceof Problem ? error : new Problem('UNAVAILABLE', { cause: error });
      } finally {
        this.loads.delete(id);
      }
    };
    const load: Load = { done: Promise.resolve().then(read), newest: undefined };
    this.loads.set(id, load);
    return load;
  }

  /** Clock eviction: the hand drops accounts without holds that were not used since it last passed. */
  private makeRoom(): void {
    for (let steps = 0; this.accounts.size >= this.maxAccounts && steps < EVICTION_STEPS; steps += 1) {
      this.hand ??= this.accounts.values();
      const { value: account, done } = this.hand.next();
      if (done) this.hand = undefined;
      else if (account.used || account.holds > 0) account.used = false;
      else this.accounts.delete(account.id);
    }
  }
}
