export { CallerOf, GatewayAccess, OperatorOf } from './access.js';
export { BatchedLookups } from './batched-lookups.js';
export { Callers } from './callers.js';
export { FailedRequests } from './failed-requests.js';
export { FailureGate, subjectOf } from './failure-gate.js';
export { FailureWatch } from './failure-watch.js';
export { KeyCache } from './key-cache.js';
export { KeyUses } from './key-uses.js';
export { OperatorTokens } from './operator-tokens.js';
