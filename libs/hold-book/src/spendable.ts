import { type Balances, NO_MONEY, plus } from '@svc/contracts/money';
import { type HoldRequest, type LimitPeriod, type SpendingLimit, weekOf } from '@svc/contracts/ports';
import type { ProblemCode } from '@svc/contracts/problems';
import type { AccountPosting, BudgetOwner } from './hold-book.js';

/** The amount wanted, and its alternatives. */
export interface Take {
  readonly amountNano: bigint;
  /** Less than the amount is taken if it is at least this much; default: the amount itself. */
  readonly atLeastNano?: bigint;
  /** Taken in place of the amount if it is at most a tenth of what is left. */
  readonly preferredNano?: bigint;
}

/**
 * A response's worst-case cost is held in full while it is at most this fraction (1/10) of what can be spent.
 */
const PREFERRED_SHARE = 10n;

/** Takes an amount from what is left, DIEM first. `undefined` if there is too little. */
export function take(left: Balances, { amountNano, atLeastNano, preferredNano }: Take): Balances | undefined {
  const total = left.diemNano === 0n ? left.usdNano : left.diemNano + left.usdNano;
  const isPreferred = preferredNano !== undefined && preferredNano * PREFERRED_SHARE <= total;
  const wantedNano = isPreferred ? preferredNano : amountNano;
  const leastNano = isPreferred ? preferredNano : (atLeastNano ?? amountNano);
  if (total < leastNano) return undefined;
  const taken = smaller(total, wantedNano);
  const diemNano = smaller(left.diemNano, taken);
  return { diemNano, usdNano: diemNano === 0n ? taken : taken - diemNano };
}

/** `balances` less `gone`; not below zero in either currency. */
export function remaining(balances: Balances, gone: Balances): Balances {
  return {
    usdNano: atLeastZero(balances.usdNano - gone.usdNano),
    diemNano: balances.diemNano === 0n ? 0n : atLeastZero(balances.diemNano - gone.diemNano),
  };
}

/** A sum in which one amount replaces another. Most accounts have no DIEM, so its sum stays the same. */
export function replaced(sum: Balances, from: Balances, to: Balances): Balances {
  return {
    usdNano: sum.usdNano - from.usdNano + to.usdNano,
    diemNano: from.diemNano === to.diemNano ? sum.diemNano : sum.diemNano - from.diemNano + to.diemNano,
  };
}

export function covers(left: Balances, amount: Balances): boolean {
  return left.usdNano >= amount.usdNano && left.diemNano >= amount.diemNano;
}

/** The smaller amount in each currency. */
function least(a: Balances, b: Balances): Balances {
  return { usdNano: smaller(a.usdNano, b.usdNano), diemNano: smaller(a.diemNano, b.diemNano) };
}

/** A limit of a request besides its account's balance, and what its spending counts for. */
export interface Bound {
  /** The id of the key or of the end user. */
  readonly id: string;
  readonly limit: SpendingLimit;
}

export const ownerOf = ({ id, limit }: Bound): BudgetOwner => ({ id, isHourly: limit.period === 'HOUR' });

/** The limits of a request: that of its key, then that of its end user. */
export function boundsOf({
  keyId,
  keyLimit,
  userLimit,
}: Pick<HoldRequest, 'keyId' | 'keyLimit' | 'userLimit'>): readonly Bound[] {
  if (!keyLimit && !userLimit) return NO_BOUNDS;
  return [
    ...(keyLimit ? [{ id: keyId, limit: keyLimit }] : []),
    ...(userLimit ? [{ id: userLimit.endUser, limit: userLimit }] : []),
  ];
}

const NO_BOUNDS: readonly Bound[] = [];

/** Why nothing could be taken: the key's limit if the account itself could have paid. */
export function shortOf(account: Balances, key: Balances, wanted: Take): ProblemCode {
  if (!take(account, wanted)) return 'INSUFFICIENT_BALANCE';
  return key.usdNano < account.usdNano
    ? 'API_KEY_USD_SPEND_LIMIT_EXCEEDED'
    : 'API_KEY_DIEM_SPEND_LIMIT_EXCEEDED';
}

function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

function atLeastZero(nano: bigint): bigint {
  return nano > 0n ? nano : 0n;
}

/** A key's spending according to the books, as of a version of its account. */
export interface KeySpent {
  readonly version: bigint;
  /** The UTC hour read, such as `2026-11-21T13`. */
  readonly readIn: string;
  /** Of that hour, if it was asked for. */
  readonly hour?: Balances;
  readonly epoch: Balances;
  readonly week: Balances;
  readonly month: Balances;
  readonly lifetime: Balances;
}

/** Spending since a period began. */
interface Period {
  readonly start: string;
  readonly spent: Balances;
}

/** Postings that may be missing before a counted one; beyond that the spending is read again. */
const MAX_AHEAD = 16;

/** More than any account has. */
const NO_LIMIT = 2n ** 64n;

/** What a key or an end user with a limit has spent, and what its requests hold. */
export class KeyBudget {
  /** True if the spending must be read before it can be used. */
  isStale = true;
  /** When a request of the key last took a hold, on the book's clock. */
  takenAtMs = -Infinity;
  /** The holds that count against the limit. */
  holds = 0;
  private held = NO_MONEY;
  /** All postings up to this version are counted. */
  private version = -1n;
  /** Later versions already counted: postings of several ledgers arrive in any order. */
  private readonly ahead = new Set<bigint>();
  /** Undefined if it was not read: only limits of an hour need it. */
  private hour: Period | undefined;
  private epoch: Period = { start: '', spent: NO_MONEY };
  private week: Period = { start: '', spent: NO_MONEY };
  private month: Period = { start: '', spent: NO_MONEY };
  private lifetime = NO_MONEY;

  constructor(readonly keyId: string) {}

  set(spent: KeySpent): void {
    this.version = spent.version;
    // A read includes every posting reported before it.
    this.ahead.clear();
    const day = dayOf(spent.readIn);
    this.hour = spent.hour && { start: spent.readIn, spent: spent.hour };
    this.epoch = { start: day, spent: spent.epoch };
    this.week = { start: weekOf(day), spent: spent.week };
    this.month = { start: monthOf(day), spent: spent.month };
    this.lifetime = spent.lifetime;
    this.isStale = false;
  }

  /**
   * Counts a posting of its account, whatever the order of arrival: the charges of a missing one are still
   * held. A posting without its spending ends such holds, so the spending has to be read again.
   */
  post({ version, spends }: AccountPosting): void {
    if (this.isStale || version <= this.version) return;
    if (!spends) {
      this.isStale = true;
      return;
    }
    if (this.ahead.has(version)) return;
    this.ahead.add(version);
    while (this.ahead.delete(this.version + 1n)) this.version += 1n;
    this.isStale = this.ahead.size > MAX_AHEAD;
    for (const spending of spends) {
      if (spending.keyId !== this.keyId) continue;
      this.lifetime = plus(this.lifetime, spending);
      const day = dayOf(spending.hour);
      this.week = later(this.week, { start: weekOf(day), spent: spending });
      this.month = later(this.month, { start: monthOf(day), spent: spending });
      this.epoch = later(this.epoch, { start: day, spent: spending });
      this.hour &&= later(this.hour, { start: spending.hour, spent: spending });
    }
  }

  /** Whether the spending in the period of a limit is known. */
  isReadFor({ period }: SpendingLimit): boolean {
    return !this.isStale && (period !== 'HOUR' || this.hour !== undefined);
  }

  /** Replaces an amount that is held. */
  hold(from: Balances, to: Balances): void {
    this.held = replaced(this.held, from, to);
  }

  /** What the key may take of the account's remaining balance. `now` is a UTC hour. */
  left(account: Balances, limit: SpendingLimit, now: string): Balances {
    const allowed = { usdNano: limit.usdNano ?? NO_LIMIT, diemNano: limit.diemNano ?? NO_LIMIT };
    const gone = plus(this.spent(limit.period, now), this.held);
    return least(account, remaining(allowed, gone));
  }

  private spent(period: LimitPeriod, now: string): Balances {
    const today = dayOf(now);
    switch (period) {
      case 'HOUR':
        return this.hour && now <= this.hour.start ? this.hour.spent : NO_MONEY;
      case 'EPOCH':
        return today > this.epoch.start ? NO_MONEY : this.epoch.spent;
      case 'WEEK':
        return weekOf(today) > this.week.start ? NO_MONEY : this.week.spent;
      case 'MONTH':
        return monthOf(today) > this.month.start ? NO_MONEY : this.month.spent;
      case 'LIFETIME':
        return this.lifetime;
    }
  }
}

/** Adds to a period, or starts the next one. Late spending of an earlier period is ignored. */
function later(known: Period, more: Period): Period {
  if (more.start > known.start) return { start: more.start, spent: plus(NO_MONEY, more.spent) };
  return more.start === known.start ? { start: known.start, spent: plus(known.spent, more.spent) } : known;
}

function dayOf(hour: string): string {
  return hour.slice(0, 10);
}

function monthOf(day: string): string {
  return day.slice(0, 7);
}
