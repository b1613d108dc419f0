export { AccountLimitsStore } from './account-limits.store.js';
export { AccountStore } from './account.store.js';
export { DevelopmentAccount, type FirstAccount } from './development-account.js';
export { KeyListStore, type ListedKey } from './key-list.store.js';
export { endpointOf, needsKey } from './key-use.js';
export { raisesLimits, widensUse } from './key-allowance.js';
export { inPeriod, type KeyTerms, type StoredKey } from './key-rows.js';
export type { UseLimits } from './use-limits.js';
export { tierName } from './tier-name.js';
export { type AddressRange, contains, networkIn } from './networks.js';
export {
  ACTIVE_KEYS_MAX,
  type KeyAuthor,
  type KeyLabel,
  type KeyRevoker,
  KeyStore,
  type MadeKey,
} from './key.store.js';
