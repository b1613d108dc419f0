import { type Balances, type Extension, type Hold, type HoldRequest, Holds } from '@svc/contracts';
import type { PostedBalances } from '../accounts/accounts.js';

/** What a posting adds to what a key has spent on a day. */
export interface KeySpending {
  readonly keyId: string;
  /** In UTC, such as `2026-11-21`. */
  readonly day: string;
  readonly usdNano: bigint;
  readonly diemNano: bigint;
}

/** The balances of an account, and what its keys spent to make them so. */
export interface AccountChange extends PostedBalances {
  /** By what made this version; nothing for a credit, a refund or a stake. Absent where it is not known what made it. */
  readonly spends?: readonly KeySpending[];
}

/** The balances of an account once the charges of these requests were posted. */
export interface AccountPosting extends AccountChange {
  /** All of them, those that had been posted before included. */
  readonly requestIds: readonly string[];
}

/**
 * What may still be spent: for each account its posted balance less its holds. Every operation is one atomic step.
 * A hold lapses once its lease is over, unless it was renewed, extended or settled.
 */
export abstract class HoldBook extends Holds {
  /**
   * Takes DIEM first, then USD: all of the amount, or what there is where that is enough, or nothing. A request that
   * holds already keeps that hold. Refuses: INSUFFICIENT_BALANCE, the two codes of a key's limit, and UNAVAILABLE when
   * the balance can't be had or the book is full.
   */
  abstract override hold(request: HoldRequest): Promise<Hold>;

  /** What an account can spend at this moment. Refuses: UNAVAILABLE. */
  abstract override available(accountId: string): Promise<Balances>;

  /**
   * Sets all DIEM aside that no request holds, under a request id of the caller's, and says how much that was. Until
   * the posting that names this id, or the end of a lease, whoever wants to hold for the account waits.
   */
  abstract holdRest(accountId: string, requestId: string): Promise<bigint>;

  /** Grows a hold by the extension and renews it. Refuses as `hold` does; the hold then stands as it was. */
  abstract override extend(hold: Hold, extension: Extension): Promise<Hold>;

  /** Shrinks a hold to what is owed. From then on only `post` ends it. Without effect where the cost was posted already. */
  abstract override settle(hold: Hold, cost: Balances): Promise<void>;

  /** Ends a hold that is not settled. A hold that is gone is no error. */
  abstract override release(hold: Hold): Promise<void>;

  /** Starts the leases of live holds anew. One that has lapsed is taken again where the money is still there. */
  abstract override renew(holds: readonly Hold[]): Promise<void>;

  /** Sets balances, where their version is newer than the known one, and ends the holds of posted requests. */
  abstract post(postings: readonly AccountPosting[]): Promise<void>;
}
