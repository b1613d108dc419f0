import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { hasStopped, until } from './processes.js';

/** A process with a busy thread beside its main thread. */
const BUSY = "new (require('node:worker_threads').Worker)('for (;;);', { eval: true })";

const pidOf = ({ pid }: ChildProcess): number => pid ?? 0;

it.runIf(process.platform === 'linux')('a process has stopped once all of its threads have', async () => {
  const busy = spawn(process.execPath, ['-e', BUSY], { stdio: 'ignore' });
  onTestFinished(async () => {
    busy.kill('SIGKILL');
    await once(busy, 'exit');
    await expect(hasStopped(pidOf(busy))).resolves.toBe(true);
  });
  await once(busy, 'spawn');
  await expect(hasStopped(pidOf(busy))).resolves.toBe(false);
  busy.kill('SIGSTOP');
  await expect(until(() => hasStopped(pidOf(busy)), 10_000)).resolves.toBe(true);
  busy.kill('SIGCONT');
  await expect(until(async () => !(await hasStopped(pidOf(busy))), 10_000)).resolves.toBe(true);
});
