import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

/** The machine of the run, and its utilisation before the run: 0 to 1 of all cores. */
export async function describeMachine(cores) {
  const before = times();
  await sleep(1_000);
  const after = times();
  return {
    cores: cpus().length,
    cpu: cpus()[0]?.model ?? 'unknown CPU',
    node: process.versions.node,
    pinned: cores,
    otherWork: 1 - (after.idle - before.idle) / Math.max(1, after.all - before.all),
  };
}

function times() {
  const all = cpus().map((core) => core.times);
  const total = (names) =>
    all.reduce((sum, core) => sum + names.reduce((part, name) => part + core[name], 0), 0);
  return { idle: total(['idle']), all: total(['user', 'nice', 'sys', 'idle', 'irq']) };
}
