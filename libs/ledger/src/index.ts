export { BooksClientModule } from './books-client.module.js';
export {
  type LedgerClientConfig,
  type LedgerConfig,
  type SharedLedgerConfig,
  booksClientConfig,
  ledgerClientConfig,
  ledgerConfig,
  sharedLedgerConfig,
} from './ledger.config.js';
export { LedgerApiModule, type LedgerApiOptions } from './ledger-api.module.js';
export { LedgerClientModule, type LedgerClientOptions } from './ledger-client.module.js';
export { LedgerModule } from './ledger.module.js';
