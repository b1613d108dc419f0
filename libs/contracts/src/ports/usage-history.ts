import type { Balances, Currency } from '../money/money.js';

/**
 * A position of a charge in one currency. A line paid in both currencies becomes two entries, which share its
 * units.
 */
export interface UsageEntry {
  readonly at: Date;
  readonly requestId: string;
  readonly keyId: string;
  readonly model: string;
  readonly sku: string;
  readonly unit: string;
  /** An integer; the price is per million units. */
  readonly units: bigint;
  readonly priceNanoPerMillion: bigint;
  readonly amountNano: bigint;
  readonly currency: Currency;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly durationMs: number;
}

export interface UsageFilter {
  readonly accountId: string;
  /** Entries at or after this time. */
  readonly from?: Date;
  /** Entries before this time. */
  readonly until?: Date;
  readonly currency?: Currency;
  /** Entries of this key, of a wallet, or of the console. */
  readonly keyId?: string;
  readonly model?: string;
  readonly requestId?: string;
  /** Entries of this end user. */
  readonly endUser?: string;
}

/** A position among requests: just before this one. */
export interface RequestPlace {
  readonly at: Date;
  readonly requestId: string;
}

/** A position in the history: just after this entry. */
export interface UsagePlace {
  readonly at: Date;
  readonly requestId: string;
  readonly line: number;
  readonly currency: Currency;
}

export interface UsagePage {
  readonly entries: readonly UsageEntry[];
  /** The total number of entries, for a numbered page. */
  readonly total: number;
}

/** The totals of a day (UTC) for one key, model and sku. */
export interface UsageDay {
  /** Such as `2026-11-21`. */
  readonly day: string;
  readonly keyId: string;
  readonly model: string;
  readonly sku: string;
  readonly unit: string;
  readonly units: bigint;
  readonly usdNano: bigint;
  readonly diemNano: bigint;
}

/** The totals of some days for one end user. */
export interface UserUsage {
  readonly endUser: string;
  readonly requests: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly usdNano: bigint;
  readonly diemNano: bigint;
}

/** What a key has spent. */
export interface KeySpend {
  readonly keyId: string;
  /** Today (UTC) and the six days before. */
  readonly trailingSevenDays: Balances;
  /** Since the beginning of the UTC hour, of the keys for which it was asked. */
  readonly hour?: Balances;
  /** Since the beginning of the UTC day. */
  readonly epoch: Balances;
  /** Since Monday (UTC). */
  readonly week: Balances;
  /** Since the beginning of the UTC month. */
  readonly month: Balances;
  readonly lifetime: Balances;
}

/**
 * The usage of accounts. Reads include every settled charge. Each may reject with UNAVAILABLE, or with
 * REQUEST_TIMEOUT if there is too much to read.
 */
export abstract class UsageHistory {
  /** A numbered page, from 1 on, ordered by time. */
  abstract page(
    filter: UsageFilter,
    page: { readonly limit: number; readonly page: number; readonly order: 'asc' | 'desc' },
  ): Promise<UsagePage>;

  /**
   * The next entries after a position, oldest first, and the position after the last of them; none at the
   * end. There may be fewer than the limit, or none, before the end. A walk finds every entry settled before
   * it began exactly once, and those settled meanwhile if they are after its position.
   */
  abstract walk(
    filter: UsageFilter,
    step: { readonly limit: number; readonly after?: UsagePlace },
  ): Promise<{ readonly entries: readonly UsageEntry[]; readonly next?: UsagePlace }>;

  /**
   * All entries of each of the next requests, newest request first, and the position before the last of them;
   * none at the end.
   */
  abstract requests(
    filter: UsageFilter,
    step: { readonly limit: number; readonly before?: RequestPlace },
  ): Promise<{ readonly entries: readonly UsageEntry[]; readonly next?: RequestPlace }>;

  /**
   * The days from `from` to `until`, both included, such as `2026-11-21`. Rejects with INVALID_REQUEST beyond
   * 100,000 totals.
   */
  abstract days(accountId: string, from: string, until: string): Promise<readonly UsageDay[]>;

  /**
   * The end users that spent most on the days from `from` to `until`, both included, by cost, highest first;
   * only this one, if it is named.
   */
  abstract users(
    accountId: string,
    days: { readonly from: string; readonly until: string },
    wanted: { readonly limit: number; readonly endUser?: string },
  ): Promise<readonly UserUsage[]>;

  /** Forgets whose requests an end user's were. Charges stay. Returns how many requests it was. */
  abstract forgetUser(accountId: string, endUser: string): Promise<number>;

  /**
   * What each of these keys has spent; zeros for a key that spent nothing. The spending of the hour takes
   * longer to read, so only these have it.
   */
  abstract keys(
    accountId: string,
    keyIds: readonly string[],
    hourlyIds?: readonly string[],
  ): Promise<readonly KeySpend[]>;
}
