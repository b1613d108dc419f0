import type { Balances, Currency } from '../money/money.js';
import type { TransferKind } from '../ports/ledger.js';

/** The most accounts in one call of `balances`. */
export const BALANCES_AT_ONCE = 1_000;

export interface AccountBalances extends Balances {
  readonly accountId: string;
}

/** The most transfers in a statement, not counting charges. */
export const STATEMENT_ENTRIES = 10_000;

export interface SpendingPeriod {
  readonly from: string;
  readonly until: string;
  readonly limit: number;
  /** `cost` by default: what was charged in both currencies together, less refunds. */
  readonly by?: 'cost' | 'tokens' | 'requests' | undefined;
  readonly accountIds?: readonly string[] | undefined;
}

/** What an account spent in a period. */
export interface Spender {
  readonly accountId: string;
  /** Undefined if they are too many to count in time. Those of closed months are not counted. */
  readonly requests?: bigint | undefined;
  readonly tokens: bigint;
  readonly charged: Balances;
  readonly refunded: Balances;
}

/** A sum of the books, or a balance of all customers or of one. */
export interface AccountingEntry {
  readonly entry: 'opening_balance' | TransferKind | 'closing_balance';
  /**
   * What the sums of an entry are divided by: the model of charges and write-offs, the source of credits and
   * deposits, and who caused a refund.
   */
  readonly detail: string;
  readonly currency: Currency;
  readonly amountNano: bigint;
  /** The change of the customers' balances; zero for balances, write-offs and what has no effect on them. */
  readonly changeNano: bigint;
}

/**
 * An entry of a month. `provider_cost` is what hosted providers take for the charged tokens of a model that
 * is sold at their price with a markup, and `margin` what customers paid for the same tokens, in both
 * currencies together, less that cost. Neither changes a balance.
 */
export interface MonthEntry extends Omit<AccountingEntry, 'entry'> {
  readonly entry: AccountingEntry['entry'] | 'provider_cost' | 'margin';
}

/** An entry of an account's statement. */
export interface StatementEntry extends AccountingEntry {
  /** Its time; for the charges of a day, the beginning of the day. */
  readonly at: Date;
  /** Empty for balances and for sums. */
  readonly reference: string;
}

/** Reads of the books over many accounts or many transfers. They include every settled charge. */
export abstract class Accounting {
  /** In the order of the ids, at most `BALANCES_AT_ONCE`. Rejects with UNAVAILABLE. */
  abstract balances(accountIds: readonly string[]): Promise<readonly AccountBalances[]>;

  /**
   * The accounts with the most of `by` from one day to another, such as `2026-11-21`, both included; or of
   * these accounts in their order, with or without spending. Rejects with UNAVAILABLE; REQUEST_TIMEOUT.
   */
  abstract spenders(period: SpendingPeriod): Promise<readonly Spender[]>;

  /**
   * The sums of a UTC month, such as `2026-11`, between the balances of all customers at its beginning and at
   * its end, or now. Computed from three separate sources, which must agree: the balances, the transfers, and
   * the charges. Rejects with UNAVAILABLE while another month is read.
   */
  abstract month(month: string): Promise<readonly MonthEntry[]>;

  /**
   * The entries of an account in a month: each transfer, and the charges of each day and model, between its
   * balances. Rejects with INVALID_REQUEST beyond `STATEMENT_ENTRIES`; UNAVAILABLE; REQUEST_TIMEOUT.
   */
  abstract statement(accountId: string, month: string): Promise<readonly StatementEntry[]>;
}
