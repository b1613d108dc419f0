export { nextEpochBegins } from './epoch.js';
export { LimitGate } from './limit-gate.js';
export { limitsOf } from './limits-of.js';
export { NetworkLimit } from './network-limit.js';
