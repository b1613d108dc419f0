import type { Balances } from '@svc/contracts/money';
import { type Extension, type Hold, type HoldRequest, Holds, type OpenHold } from '@svc/contracts/ports';

/** An account's balances in the database. Each change of an account increments its version, starting at 1. */
export interface PostedBalances {
  readonly accountId: string;
  readonly balances: Balances;
  readonly version: bigint;
}

/** A key or an end user with a limit. */
export interface BudgetOwner {
  readonly id: string;
  /** Whether its limit is for an hour. */
  readonly isHourly: boolean;
}

/** What a posting adds to a key's spending in an hour. */
export interface KeySpending {
  readonly keyId: string;
  /** In UTC, such as `2026-11-21T13`. */
  readonly hour: string;
  readonly usdNano: bigint;
  readonly diemNano: bigint;
}

/** An account's new balances, and what its keys spent in the change. */
export interface AccountChange extends PostedBalances {
  /**
   * Spending by key in this version; empty for a credit, a refund or a stake; undefined if the cause is
   * unknown.
   */
  readonly spends?: readonly KeySpending[];
}

/** An account's balances after the charges of these requests were posted. */
export interface AccountPosting extends AccountChange {
  /** All requests, including those posted before. */
  readonly requestIds: readonly string[];
}

/**
 * What each account may still spend: its posted balance less its holds. Every operation is atomic. A hold
 * lapses when its lease ends, unless it was renewed, extended or settled.
 */
export abstract class HoldBook extends Holds {
  /**
   * Takes DIEM first, then USD: the whole amount, or all that is left if that is enough, or nothing. A
   * request that already has a hold keeps it. Rejects: INSUFFICIENT_BALANCE; the two codes of a key's limit;
   * UNAVAILABLE if the balance can't be read or the book is full.
   */
  abstract override hold(request: HoldRequest): Hold | Promise<Hold>;

  /** What an account can spend now. Rejects: UNAVAILABLE. */
  abstract override available(accountId: string): Promise<Balances>;

  /** The holds of requests under way: not settled, the latest renewed first, at most `limit`. */
  abstract open(accountId: string, limit: number): Promise<readonly OpenHold[]>;

  /**
   * Sets aside all DIEM that no request holds, under the caller's request id, and returns the amount. Other
   * holds of the account wait until that id is posted or released, or its lease ends.
   */
  abstract holdRest(accountId: string, requestId: string): Promise<bigint>;

  /**
   * Grows a hold by the extension and renews it. Rejects as `hold` does, and then leaves the hold unchanged.
   */
  abstract override extend(hold: Hold, extension: Extension): Promise<Hold>;

  /**
   * Shrinks a hold to its cost. From then on only `post` ends it. No effect if the cost is already posted.
   */
  abstract override settle(hold: Hold, cost: Balances): Promise<void> | undefined;

  /** Ends a hold that is not settled. No error if the hold is gone. */
  abstract override release(hold: Hold): Promise<void> | undefined;

  /** Restarts the leases of live holds. A lapsed hold is taken again if the money is still available. */
  abstract override renew(holds: readonly Hold[]): Promise<void>;

  /** Sets balances whose version is newer than the known one, and ends the holds of posted requests. */
  abstract post(postings: readonly AccountPosting[]): Promise<void>;
}
