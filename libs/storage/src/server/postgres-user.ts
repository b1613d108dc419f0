import { spawn, type ChildProcess } from 'node:child_process';
import { chown, readdir, realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { StartFault } from '@svc/runtime';
import type { PostgresBinaries } from './postgres-binaries.js';

const ROOT = 0;
const NOBODY = 65_534;
const PROBE_MS = 10_000;

/** Where a PostgreSQL program writes: one file descriptor for stdout and stderr. */
type Output = number | 'ignore';

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** The user that PostgreSQL runs as, and how to start a program as that user. */
export interface PostgresUser {
  /** The required owner of the data; undefined for the user of this process. */
  readonly owner: Owner | undefined;
  spawn(binary: string, args: readonly string[], output: Output): ChildProcess;
}

/** PostgreSQL refuses to run as root, so root needs another user with access to the programs and the data. */
export async function choosePostgresUser(binaries: PostgresBinaries, dataDir: string): Promise<PostgresUser> {
  if (!isRoot()) return userOf({ owner: undefined });
  const { uid, gid } = await stat(dataDir);
  const ways: Way[] = [
    ...(uid === ROOT ? [] : [{ owner: { uid, gid }, identity: { uid, gid } }]),
    { owner: { uid: NOBODY, gid: NOBODY }, identity: { uid: NOBODY, gid: NOBODY } },
    // In a user namespace, root appears as nobody but can still enter folders reserved for root.
    {
      owner: { uid: ROOT, gid: ROOT },
      prefix: ['unshare', '--user', `--map-user=${NOBODY}`, `--map-group=${NOBODY}`],
    },
  ];
  for (const way of ways) {
    const user = userOf(way);
    if (!(await mayEnter(binaries.folder, user)) || !(await mayEnter(dataDir, user))) continue;
    if (await works(user, binaries.postgres)) return user;
  }
  throw new StartFault(
    `PostgreSQL does not run as root, and neither user ${NOBODY} nor a user namespace works here. ` +
      `Run as an ordinary user, make ${dataDir} and ${binaries.folder} accessible to all users, or set DATABASE_URL.`,
  );
}

/** Gives the data to the user. The folder itself comes last, so that an interrupted run is repeated. */
export async function giveTo({ owner }: PostgresUser, folder: string): Promise<void> {
  if (!owner || (await stat(folder)).uid === owner.uid) return;
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  for (const entry of entries) await chown(join(entry.parentPath, entry.name), owner.uid, owner.gid);
  await chown(folder, owner.uid, owner.gid);
}

/** Gives a file created by root to the owner of its folder, who may want to start the server later. */
export async function giveToOwnerOf(folder: string, path: string): Promise<void> {
  if (!isRoot()) return;
  const { uid, gid } = await stat(folder);
  await chown(path, uid, gid);
}

const isRoot = (): boolean => process.getuid?.() === ROOT;

/** A way to become the owner: by the identity of the process, or by a command prefix. */
interface Way {
  readonly owner: Owner | undefined;
  readonly identity?: Owner;
  readonly prefix?: readonly string[];
}

function userOf({ owner, identity, prefix = [] }: Way): PostgresUser {
  return {
    owner,
    spawn: (binary, args, output) => {
      const [file, ...rest] = [...prefix, binary];
      return spawn(file, [...rest, ...args], {
        // Its own session: Ctrl-C must reach only this process, which still needs its database while
        // stopping.
        detached: true,
        cwd: '/',
        // None of this process's environment, which may contain secrets.
        env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C', TZ: 'UTC' },
        stdio: ['ignore', output, output],
        ...identity,
      });
    },
  };
}

/** Tries the user with a program that only prints its version. */
function works(user: PostgresUser, binary: string): Promise<boolean> {
  return new Promise((resolve) => {
    const child = user.spawn(binary, ['--version'], 'ignore');
    const timer = setTimeout(() => child.kill('SIGKILL'), PROBE_MS);
    const done = (worked: boolean): void => {
      clearTimeout(timer);
      resolve(worked);
    };
    child.once('error', () => done(false));
    child.once('exit', (code) => done(code === 0));
  });
}

/**
 * Whether the user can enter the folder. Groups are ignored, so a folder open only to a group counts as
 * closed.
 */
async function mayEnter(folder: string, { owner }: PostgresUser): Promise<boolean> {
  for (let path = await realpath(folder); ; path = dirname(path)) {
    const { mode, uid } = await stat(path);
    if ((mode & (uid === owner?.uid ? 0o100 : 0o001)) === 0) return false;
    if (path === dirname(path)) return true;
  }
}
