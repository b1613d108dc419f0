export { BooksClientModule } from './books-client.module.js';
export { closeMonth } from './closing/close-month.js';
export { ClosingFault } from './closing/closing-fault.js';
export { MonthFolder } from './closing/month-place.js';
export {
  type LedgerClientConfig,
  type LedgerConfig,
  type SharedLedgerConfig,
  booksClientConfig,
  closeMonthConfig,
  ledgerClientConfig,
  ledgerConfig,
  sharedLedgerConfig,
} from './ledger.config.js';
export { LedgerApiModule, type LedgerApiOptions } from './ledger-api.module.js';
export { LedgerClientModule, type LedgerClientOptions } from './ledger-client.module.js';
export { LedgerModule } from './ledger.module.js';
