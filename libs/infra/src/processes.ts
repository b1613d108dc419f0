import { execFile } from 'node:child_process';
import { readFile, readdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
const PS_MS = 5_000;
const POLL_MS = 20;

/** Whether no thread of a paused process runs any more. Only Linux says so of each. */
export async function hasStopped(pid: number): Promise<boolean> {
  if (process.platform !== 'linux') return true;
  try {
    const threads = await readdir(`/proc/${pid}/task`);
    const states = await Promise.all(
      threads.map(async (thread) => {
        const stat = await readFile(`/proc/${pid}/task/${thread}/stat`, 'utf8');
        return stat.charAt(stat.lastIndexOf(')') + 2);
      }),
    );
    return states.every((state) => state === 'T');
  } catch {
    // It has ended, or one of its threads has just now.
    return (await birthOf(pid)) === undefined;
  }
}

/**
 * The start time of a process, which distinguishes it from a later one with the same id. `undefined` if there
 * is none, or if it is a zombie.
 */
export async function birthOf(pid: number): Promise<string | undefined> {
  try {
    if (process.platform === 'linux') {
      const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
      // The name in parentheses may contain anything. After it come the state, 17 fields later the number of
      // threads, and 19 later the start time. Other threads may outlive the first one, and keep its sockets
      // open.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return fields[0] === 'Z' && Number(fields[17]) <= 1 ? undefined : fields[19];
    }
    const { stdout } = await run('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { timeout: PS_MS });
    const [state, ...began] = stdout.trim().split(/\s+/);
    return state === undefined || state.startsWith('Z') ? undefined : began.join(' ');
  } catch {
    return undefined;
  }
}

/** The process and all of its descendants, itself first. */
export async function processTreeOf(pid: number): Promise<number[]> {
  const { stdout } = await run('ps', ['-A', '-o', 'pid=,ppid='], { timeout: PS_MS });
  const pairs = stdout
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number));
  const tree = [pid];
  for (const member of tree) {
    for (const [child, parent] of pairs) if (parent === member && child !== undefined) tree.push(child);
  }
  return tree;
}

export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Polls a condition; false if it does not hold by the deadline. */
export async function until(holds: () => Promise<boolean>, deadlineMs: number): Promise<boolean> {
  const deadline = Date.now() + deadlineMs;
  while (!(await holds())) {
    if (Date.now() > deadline) return false;
    await sleep(POLL_MS);
  }
  return true;
}
