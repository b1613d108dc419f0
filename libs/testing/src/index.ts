export { overWire } from './over-wire.js';
export { RunningProcess, type ProcessOptions } from './running-process.js';
