export { overWire } from './over-wire.js';
export { isLong, repeats } from './repeats.js';
export { RunningProcess, type ProcessOptions } from './running-process.js';
