// The CPU time of the ledger's process and its PostgreSQL. Linux only; elsewhere there is no figure.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { childrenCpuMs, cpuMs } from '../cpu.mjs';

const TICKS_PER_SECOND = Number(spawnSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }).stdout) || 100;

/**
 * Starts measuring. The returned function gives microseconds of CPU per charge, of this process and of
 * PostgreSQL.
 */
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

/** The CPU time of the server and its processes, including exited ones, such as those of idle connections. */
function postgresMs(pid) {
  const own = cpuMs(pid);
  if (own === undefined) return undefined;
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(' ');
  const endedTicks = Number(fields[15]) + Number(fields[16]);
  return own + childrenCpuMs(pid) + (endedTicks * 1_000) / TICKS_PER_SECOND;
}
