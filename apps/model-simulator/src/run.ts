import { runSimulator } from '@svc/simulator';

/** The simulator, with the options of the command line. */
export const run = (): Promise<void> => runSimulator(process.argv.slice(2));
