// Run by vitest before and after all tests.
import { chmod, glob, mkdtemp, readdir, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findPostmaster, isAlive, stopPostmaster } from '../src/server/postmaster.js';

const PREFIX = 'svc-test-run-';
const MEMORY_DISK = '/dev/shm';
/** Node's compile cache, so that the hundred processes of a run need not compile the modules again. */
const COMPILED = fileURLToPath(new URL('../../../node_modules/.cache/compiled', import.meta.url));
/** Space for the data of several servers, in addition to the service and its tests. */
const ROOM_BYTES = 6 * 1024 ** 3;

let folder: string | undefined;

/**
 * Creates a folder for the files of this run, in memory if there is space, and uses it for temporary files.
 * The thousands of files of many databases are then created and removed without a disk.
 */
export async function setup(): Promise<void> {
  // The end-to-end tests on clusters call this as a project of their own, before the run does.
  if (process.env['SVC_TEST_FOLDER'] !== undefined) return;
  const disk = tmpdir();
  const place = (await hasRoom(MEMORY_DISK)) ? MEMORY_DISK : disk;
  for (const left of new Set([place, disk])) await removeLeftBehind(left);
  folder = await mkdtemp(join(place, `${PREFIX}${process.pid}-`));
  // Some programs started by tests run as another user.
  await chmod(folder, 0o711);
  Object.assign(process.env, {
    SVC_TEST_FOLDER: folder,
    SVC_TEST_CACHE: disk,
    TMPDIR: folder,
    NODE_COMPILE_CACHE: COMPILED,
  });
}

export async function teardown(): Promise<void> {
  if (folder !== undefined) await remove(folder);
}

async function hasRoom(disk: string): Promise<boolean> {
  const found = await statfs(disk).catch(() => undefined);
  return found !== undefined && Math.min(found.bavail * found.bsize, process.availableMemory()) > ROOM_BYTES;
}

/** Removes the folders of runs that were killed. */
async function removeLeftBehind(place: string): Promise<void> {
  for (const name of await readdir(place)) {
    const owner = Number(new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1]);
    // It may belong to another user, or another run may be removing it too.
    if (owner && !isAlive(owner)) await remove(join(place, name)).catch(() => undefined);
  }
}

/** Stops the PostgreSQL servers with data in a folder, and removes it. */
async function remove(path: string): Promise<void> {
  for await (const data of glob(['*/postgres', '*/data/postgres'], { cwd: path })) {
    const server = await findPostmaster(join(path, data));
    if (server) await stopPostmaster(join(path, data), server.pid);
  }
  await rm(path, { recursive: true, force: true });
}
