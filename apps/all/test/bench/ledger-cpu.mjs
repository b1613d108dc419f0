// What the ledger's process and its PostgreSQL have used of the CPU. Linux only; elsewhere there is no figure.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { childrenCpuMs, cpuMs } from './cpu.mjs';

const TICKS_PER_SECOND = Number(spawnSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }).stdout) || 100;

/** Begins to measure. What it returns gives microseconds of CPU per charge, of this process and of PostgreSQL. */
export function cpuMeter(postgresPid) {
  const read = () => ({ node: cpuMs(process.pid), postgres: postgresMs(postgresPid) });
  const before = read();
  return (charges) => {
    const after = read();
    const perCharge = (name) =>
      before[name] === undefined ? undefined : ((after[name] - before[name]) * 1_000) / charges;
    return { nodeMicros: perCharge('node'), postgresMicros: perCharge('postgres') };
  };
}

/** Of the server, its processes, and those of them that have ended, such as those of idle connections. */
function postgresMs(pid) {
  const own = cpuMs(pid);
  if (own === undefined) return undefined;
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(' ');
  const endedTicks = Number(fields[15]) + Number(fields[16]);
  return own + childrenCpuMs(pid) + (endedTicks * 1_000) / TICKS_PER_SECOND;
}
