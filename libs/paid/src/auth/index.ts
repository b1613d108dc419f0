export { CallerOf, OperatorOf } from './access.js';
export { BatchedLookups } from './batched-lookups.js';
export { subjectOf } from './failure-gate.js';
export { KeyCache } from './key-cache.js';
