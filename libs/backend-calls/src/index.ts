export { BackendCalls } from './backend-calls.js';
export { BackendError } from './backend-error.js';
export { BackendLoad } from './backend-load.js';
export { BackendPool, LiveBackend } from './backend-pool.js';
export { isImageCall, refusalOf } from './backend-refusal.js';
export type { CallMode, CallPlan, Candidate, RoutedCall } from './call-mode.js';
export {
  type CallHead,
  type PlannedRequest,
  type UnauthorizedCall,
  hasParts,
  jsonHeaders,
} from './planned-request.js';
export { DrainBook } from './health/drain-book.js';
export { HealthWatch } from './health-watch.js';
export { refuseFailure } from './refuse-failure.js';
export { type ByteSource, ResponseBytes } from './response-bytes.js';
export { begins, errorStatus, readError } from './upstream-errors.js';
