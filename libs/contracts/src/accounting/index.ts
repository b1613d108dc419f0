export { ACCOUNTING_WIRE } from './accounting-wire.js';
export {
  type AccountBalances,
  Accounting,
  type AccountingEntry,
  type Spender,
  type SpendingPeriod,
  STATEMENT_ENTRIES,
  type StatementEntry,
} from './accounting.js';
