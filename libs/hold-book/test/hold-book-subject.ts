import { NO_MONEY } from '@svc/contracts/money';
import type { BookReads } from '../src/hold-accounts.js';
import type { HoldBook } from '../src/hold-book.js';

export interface TestedBookOptions {
  readonly leaseMs: number;
  readonly maxHolds: number;
  readonly nowMs?: () => number;
  readonly readMs?: number;
  readonly hour?: () => string;
}

/** Creates hold books that share no state. */
export interface HoldBookSubject {
  readonly name: string;
  readonly make: (reads: BookReads, options: TestedBookOptions) => HoldBook;
  /** The number of holds in a book: live ones, and settled ones whose charge is not posted yet. */
  readonly size: (book: HoldBook) => Promise<number>;
}

/** Reads of the books for a hold book without books: the given balances, and keys that have spent nothing. */
export function readsOf(
  balances: BookReads['balances'],
  spentOf: BookReads['spentOf'] = (_accountId, { isHourly }, readIn) =>
    Promise.resolve({ ...NOTHING_SPENT, readIn, ...(isHourly && { hour: NO_MONEY }) }),
): BookReads {
  return { balances, spentOf };
}

const NOTHING_SPENT = {
  version: 2n ** 62n,
  epoch: NO_MONEY,
  week: NO_MONEY,
  month: NO_MONEY,
  lifetime: NO_MONEY,
};
