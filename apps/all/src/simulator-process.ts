import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../model-simulator/dist/main.js', import.meta.url));

/** Time limit for the simulator's start, and for its end. */
const DEADLINE_MS = 10_000;

export interface SimulatorProcess {
  /** Base URL of its OpenAI-compatible API. */
  readonly url: string;
  /** Base URL of its search engine. */
  readonly searchUrl: string;
  stop(): Promise<void>;
}

/**
 * Starts the model simulator as a child process, which exits with this process even if this one is killed.
 */
export async function startSimulatorProcess(): Promise<SimulatorProcess> {
  const child = fork(MAIN, ['--port', '0'], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    detached: true,
  });
  const [message] = (await once(child, 'message', { signal: AbortSignal.timeout(DEADLINE_MS) })) as [unknown];
  if (typeof message !== 'object' || message === null || !('url' in message)) {
    throw new Error('the model simulator did not say where it is');
  }
  return {
    url: `${String(message.url)}/v1`,
    searchUrl: String(message.url),
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), DEADLINE_MS);
      await exited;
      clearTimeout(timer);
    },
  };
}
