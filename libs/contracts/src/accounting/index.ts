export { ACCOUNTING_WIRE } from './accounting-wire.js';
export {
  type AccountBalances,
  Accounting,
  type AccountingEntry,
  type MonthEntry,
  type Spender,
  type SpendingPeriod,
  STATEMENT_ENTRIES,
  type StatementEntry,
} from './accounting.js';
