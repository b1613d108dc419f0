// The CPU time and memory of processes, and the cores that they may use. Linux only; elsewhere there is no
// figure.
import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { versionOf } from './installed.mjs';

const TASKSET = 'taskset';

const TICKS_PER_SECOND = Number(spawnSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }).stdout) || 100;

/** Milliseconds of CPU time (user and system, all threads) of a process so far; undefined if unknown. */
export function cpuMs(pid) {
  const stat = statOf(pid);
  return stat && ((stat.userTicks + stat.systemTicks) * 1000) / TICKS_PER_SECOND;
}

/** The resident memory of a process in MB; undefined if unknown. */
export function residentMb(pid) {
  try {
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;
  } catch {
    return undefined;
  }
}

/** Milliseconds of CPU time of all running descendants of the process. */
export function childrenCpuMs(pid) {
  const children = childrenPids(pid);
  return children && allCpuMs(children);
}

/** All running descendants of a process; undefined if unknown. */
export function childrenPids(pid) {
  const all = allStats();
  if (all.length === 0) return undefined;
  const family = new Set([pid]);
  // Parents may come after their children in the list.
  for (let before = 0; before < family.size;) {
    before = family.size;
    for (const { pid: child, parent } of all) if (family.has(parent)) family.add(child);
  }
  family.delete(pid);
  return [...family];
}

/** The sum for several processes, without those that have exited. */
function allCpuMs(pids) {
  return sum(pids.map((pid) => cpuMs(pid) ?? 0));
}

/** Milliseconds of CPU of each other part of a gateway so far. */
export async function partsCpuMs({ parts = {} }) {
  const pids = await Promise.all(Object.values(parts).map((find) => find()));
  return Object.fromEntries(Object.keys(parts).map((name, at) => [name, allCpuMs(pids[at])]));
}

/** The difference of each figure. */
export function minus(now, start) {
  return mapped(now, (figure, name) => figure - start[name]);
}

/** Each figure, changed. */
export function mapped(figures, change) {
  return Object.fromEntries(Object.entries(figures).map(([name, figure]) => [name, change(figure, name)]));
}

/** Milliseconds that cores were busy so far, for any process; time stolen by the hypervisor counts too. */
export function coresMs(cores) {
  try {
    const wanted = new Set(cores.map((core) => `cpu${core}`));
    const lines = readFileSync('/proc/stat', 'latin1').split('\n');
    const ticks = lines
      .map((line) => line.split(' '))
      .filter(([name]) => wanted.has(name))
      .flatMap(([, user, nice, system, , , irq, softIrq, steal]) => [
        user,
        nice,
        system,
        irq,
        softIrq,
        steal,
      ]);
    return (sum(ticks.map(Number)) * 1000) / TICKS_PER_SECOND;
  } catch {
    return undefined;
  }
}

/** Waits until a process is nearly idle, at most `deadlineMs`. */
export async function untilQuiet(pid, deadlineMs) {
  const stepMs = 200;
  for (let waitedMs = 0; waitedMs < deadlineMs; waitedMs += stepMs) {
    const before = cpuMs(pid);
    await sleep(stepMs);
    // Also if the process has exited: then there is no figure, and nothing to wait for.
    if (!(cpuMs(pid) - before > stepMs * 0.15)) return;
  }
}

/** The measured process gets one core, everything else the others; undefined if that is not possible. */
export function splitCores() {
  const cores = allowedCores();
  if (cores.length < 2 || versionOf(TASKSET, '--version') === undefined) return undefined;
  return { measured: cores.slice(-1), others: cores.slice(0, -1) };
}

/** Binds all threads of a process to cores. Its later children inherit that. */
export function pin(pid, cores) {
  const { status, stderr } = spawnSync(TASKSET, ['-a', '-p', '-c', cores.join(','), String(pid)], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`taskset: ${stderr}`);
}

function allowedCores() {
  try {
    const list = /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '';
    return list.split(',').flatMap((range) => {
      const [first, last = first] = range.split('-').map(Number);
      return Array.from({ length: last - first + 1 }, (_, index) => first + index);
    });
  } catch {
    return Array.from({ length: availableParallelism() }, (_, index) => index);
  }
}

function allStats() {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((name) => statOf(Number(name)))
      .filter((stat) => stat !== undefined);
  } catch {
    return [];
  }
}

function statOf(pid) {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name in parentheses may contain spaces and parentheses; numbers begin after the last one.
    const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
    return {
      pid,
      parent: Number(fields[1]),
      userTicks: Number(fields[11]),
      systemTicks: Number(fields[12]),
    };
  } catch {
    return undefined;
  }
}

function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}
