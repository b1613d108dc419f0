import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { StartFault, type StartingProcess, within } from '@svc/runtime';

const MAIN = fileURLToPath(new URL('../../model-simulator/dist/main.js', import.meta.url));

/** Time limit for the simulator's start, even on a machine that has little time for it. */
const START_MS = 60_000;
/** Time limit for the simulator's end. */
const STOP_MS = 10_000;

export interface SimulatorProcess {
  /** Base URL of its OpenAI-compatible API. */
  readonly url: string;
  /** Base URL of its search engine. */
  readonly searchUrl: string;
}

/**
 * Starts the model simulator as a child process, which ends with this process even if this one is killed.
 * Throws StartFault if it does not start.
 */
export async function startSimulatorProcess(
  { undo }: Pick<StartingProcess, 'undo'>,
  startMs = START_MS,
): Promise<SimulatorProcess> {
  const child = fork(MAIN, ['--port', '0'], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    detached: true,
  });
  const exited = once(child, 'exit');
  undo(async () => {
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
    await exited;
    clearTimeout(timer);
  });
  const ended = exited.then(([code, signal]: unknown[]) => {
    throw new StartFault(`The model simulator ended with ${String(signal ?? code)} during its start.`);
  });
  const started = Promise.race([once(child, 'message'), ended]);
  const late = (): Error => new StartFault(`The model simulator did not start within ${startMs / 1_000} s.`);
  const [message] = (await within(startMs, started, late)) as [unknown];
  if (typeof message !== 'object' || message === null || !('url' in message)) {
    throw new Error('the model simulator did not report its address');
  }
  return { url: `${String(message.url)}/v1`, searchUrl: String(message.url) };
}
