export type { RequestLease } from './repeated-request.store.js';
export { RepeatHooks } from './repeat-hooks.js';
export { type ClaimedRequest, RepeatedRequests } from './repeated-requests.js';
export { digestOf } from './sealed-answer.js';
