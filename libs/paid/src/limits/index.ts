export { nextEpochBegins } from './epoch.js';
export { LimitGate, limitsOf } from './limit-gate.js';
export { NetworkLimit } from './network-limit.js';
