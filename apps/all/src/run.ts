import { flushLog } from '@svc/runtime';
import { announce } from './announce.js';
import { Stopper } from './stopper.js';
import { startFault } from './start-fault.js';
import { start } from './start.js';

/** Starts everything and stays until a signal says otherwise. Faults of the start are told in one line each. */
export async function run(env: Readonly<Record<string, string | undefined>>): Promise<void> {
  const stopper = new Stopper();
  // A signal during the start ends it as well, once what has begun can be undone.
  const stop = (): void => void stopper.stop().then((code) => process.exit(code));
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  try {
    const all = await start(env, stopper);
    announce(all);
    process.once('uncaughtException', (error) => {
      all.logger.fatal({ err: error }, 'a bug; the process stops');
      flushLog(all.logger);
      stopper.failed();
      stop();
    });
  } catch (error) {
    process.stderr.write(`${startFault(error)}\n`);
    stopper.failed();
    stop();
  }
}
