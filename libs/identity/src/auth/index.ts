export { CallerOf, OperatorOf } from './access.js';
export { BatchedLookups } from './batched-lookups.js';
export { KeyCache } from './key-cache.js';
export { OperatorTokens } from './operator-tokens.js';
