import { runSimulator } from '@svc/simulator';

await runSimulator(process.argv.slice(2));
