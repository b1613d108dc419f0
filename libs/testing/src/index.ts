export { RunningProcess, type ProcessOptions } from './running-process.js';
