export { FetchRefused, type RefusalReason } from './fetch-refused.js';
export {
  type FetchedFile,
  GuardedFetcher,
  type GuardedFetchOptions,
  type GuardedFetchSettings,
} from './guarded-fetch.js';
export { GuardedFetchModule } from './guarded-fetch.module.js';
export { type Connection, type NameQuestion, Network, SystemNetwork } from './network.js';
