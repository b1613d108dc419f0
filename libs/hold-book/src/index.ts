export { type BookReads, HoldAccount } from './hold-accounts.js';
export {
  type AccountChange,
  type AccountPosting,
  type BudgetOwner,
  HoldBook,
  type KeySpending,
  type PostedBalances,
} from './hold-book.js';
export { HoldAddress, HoldConnection } from './hold-connection.js';
export { HoldMarks } from './hold-marks.js';
export { MemoryHoldBook } from './memory-hold-book.js';
export { RedisHoldBook } from './redis-hold-book.js';
export type { KeySpent } from './spendable.js';
