import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chown, link, mkdir, open, readFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StartFault } from '@svc/runtime';
import { type PostgresUser, giveToOwnerOf } from './postgres-user.js';

const INIT_PREFIX = 'postgres.init-';
const INIT_MS = 120_000;
const LEFT_BEHIND_MS = 10 * 60_000;

/** The role that owns everything in the embedded server. */
export const ROLE = 'svc';

/** The data folder of a server, and its password. */
export interface PostgresData {
  readonly folder: string;
  readonly password: string;
}

/**
 * Finds the data below `dataDir`, or creates it: first in a temporary folder, so that a partial one is never
 * used.
 */
export async function preparePostgresData(
  dataDir: string,
  initdb: string,
  user: PostgresUser,
): Promise<PostgresData> {
  const folder = join(dataDir, 'postgres');
  const password = await readOrCreatePassword(dataDir);
  if (!(await exists(folder))) {
    await removeLeftBehind(dataDir);
    const aside = join(dataDir, INIT_PREFIX + randomUUID());
    try {
      await initialise({ aside, initdb, user, password });
      await rename(join(aside, 'data'), folder);
    } catch (error) {
      // Another process may have been quicker; then its folder is used.
      if (!(await exists(folder))) throw error;
    } finally {
      await rm(aside, { recursive: true, force: true });
    }
  }
  return { folder, password };
}

interface Initialisation {
  readonly aside: string;
  readonly initdb: string;
  readonly user: PostgresUser;
  readonly password: string;
}

async function initialise({ aside, initdb, user, password }: Initialisation): Promise<void> {
  const passwordFile = join(aside, 'password');
  await mkdir(aside, { mode: 0o700 });
  await writeFile(passwordFile, password, { mode: 0o600 });
  if (user.owner) {
    await chown(passwordFile, user.owner.uid, user.owner.gid);
    await chown(aside, user.owner.uid, user.owner.gid);
  }
  const log = await open(join(aside, 'log'), 'w', 0o600);
  try {
    const child = user.spawn(
      initdb,
      [
        `--pgdata=${join(aside, 'data')}`,
        `--username=${ROLE}`,
        `--pwfile=${passwordFile}`,
        '--auth=scram-sha-256',
        '--encoding=UTF8',
        '--no-locale',
        '--locale-provider=builtin',
        '--builtin-locale=C.UTF-8',
        '--no-instructions',
      ],
      log.fd,
    );
    const [code] = (await once(child, 'exit', { signal: AbortSignal.timeout(INIT_MS) })) as [number | null];
    if (code !== 0)
      throw new StartFault(`initdb failed (${code}): ${await readFile(join(aside, 'log'), 'utf8')}`);
  } finally {
    await log.close();
  }
}

/** Linking fails if the file exists, so two processes starting at once agree on one password. */
async function readOrCreatePassword(dataDir: string): Promise<string> {
  const path = join(dataDir, 'postgres-password');
  if (!(await exists(path))) {
    const aside = `${path}.${randomUUID()}`;
    await writeFile(aside, randomBytes(24).toString('hex'), { mode: 0o600, flush: true });
    await giveToOwnerOf(dataDir, aside);
    try {
      await link(aside, path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    } finally {
      await rm(aside);
    }
  }
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    throw new StartFault(`${path} cannot be read: another user created this database`, { cause: error });
  }
}

async function removeLeftBehind(dataDir: string): Promise<void> {
  for (const name of await readdir(dataDir)) {
    if (!name.startsWith(INIT_PREFIX)) continue;
    const path = join(dataDir, name);
    // A younger one may belong to a running process.
    if (Date.now() - (await stat(path)).mtimeMs > LEFT_BEHIND_MS)
      await rm(path, { recursive: true, force: true });
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
