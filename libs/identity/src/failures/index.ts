export { FailedRequestStore } from './failed-request.store.js';
export { FailureBlocks, blockedProblem, keySubject } from './failure-blocks.js';
export { subjectOf } from './failure-gate.js';
export { LimitReports } from './limit-reports.js';
