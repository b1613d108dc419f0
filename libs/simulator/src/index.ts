export { runSimulator } from './run-simulator.js';
export { type Simulator, startSimulator } from './start-simulator.js';
