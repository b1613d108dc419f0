import { execFile } from 'node:child_process';
import { readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
const PID_FILE = 'postmaster.pid';
const POLL_MS = 15;
const FAST_STOP_MS = 10_000;
const HARD_STOP_MS = 5_000;

/** A PostgreSQL server running on a data folder, according to its pid file. */
export interface Postmaster {
  readonly pid: number;
  readonly port: number;
  readonly ready: boolean;
}

/** The server running on `folder`, if any. Removes a pid file whose pid now belongs to another program. */
export async function findPostmaster(folder: string): Promise<Postmaster | undefined> {
  const text = await readPidFile(folder);
  if (text === undefined) return undefined;
  const lines = text.split('\n');
  const pid = Number(lines[0]);
  const port = Number(lines[3]);
  if (!Number.isInteger(pid) || pid <= 1 || !isAlive(pid)) return undefined;
  const ours = await runsOn(folder, pid);
  if (ours === false) await removeStale(folder, text);
  if (ours !== true || !Number.isInteger(port) || port === 0) return undefined;
  return { pid, port, ready: lines[7]?.trim() === 'ready' };
}

/** Stops a server: first with rollback and a checkpoint, then immediately, then by killing it. */
export async function stopPostmaster(folder: string, pid: number): Promise<void> {
  for (const [signal, deadlineMs] of [
    ['SIGINT', FAST_STOP_MS],
    ['SIGQUIT', HARD_STOP_MS],
    ['SIGKILL', HARD_STOP_MS],
  ] as const) {
    const deadline = Date.now() + deadlineMs;
    if (!(await isPostmaster(folder, pid))) return;
    signalTo(pid, signal);
    while (Date.now() < deadline) {
      if (!(await isPostmaster(folder, pid))) return;
      await sleep(POLL_MS);
    }
  }
  throw new Error(`PostgreSQL (process ${pid}) does not stop`);
}

/** True while process `pid` is the server of `folder`, or if that can't be determined. */
export async function isPostmaster(folder: string, pid: number): Promise<boolean> {
  return isAlive(pid) && (await runsOn(folder, pid)) !== false;
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function signalTo(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Whether the process is a server of this folder; undefined if its arguments can't be read. */
async function runsOn(folder: string, pid: number): Promise<boolean | undefined> {
  try {
    if (process.platform === 'linux') {
      // Empty for a process that has ended but was not reaped.
      const args = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0');
      return args[args.indexOf('-D') + 1] === folder;
    }
    const { stdout } = await run('ps', ['-o', 'args=', '-p', String(pid)], { timeout: 5_000 });
    return stdout.includes(`-D ${folder} `);
  } catch {
    return isAlive(pid) ? undefined : false;
  }
}

/**
 * PostgreSQL itself detects a stale pid file, unless its pid now belongs to a process of the same user. The
 * file is moved away and compared again, because a server may just have started and written a new one.
 */
async function removeStale(folder: string, text: string): Promise<void> {
  const aside = join(folder, `${PID_FILE}.${process.pid}`);
  try {
    await rename(join(folder, PID_FILE), aside);
    if ((await readFile(aside, 'utf8')) === text) await rm(aside);
    else await rename(aside, join(folder, PID_FILE));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

async function readPidFile(folder: string): Promise<string | undefined> {
  try {
    return await readFile(join(folder, PID_FILE), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
