export { type LedgerConfig, ledgerConfig } from './ledger.config.js';
export { LedgerModule } from './ledger.module.js';
