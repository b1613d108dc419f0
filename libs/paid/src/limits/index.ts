export { nextEpochBegins } from './epoch.js';
export { FailureBlocks, keySubject } from './failure-blocks.js';
export { LimitGate } from './limit-gate.js';
export { LimitReports } from './limit-reports.js';
export { limitsOf, tierName } from './limits-of.js';
