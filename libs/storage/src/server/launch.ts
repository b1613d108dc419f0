import type { ChildProcess } from 'node:child_process';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, DatabaseError } from 'pg';
import { StartFault } from '@svc/runtime';
import type { StorageLogger } from '../logger.js';
import { type PostgresData, ROLE } from './postgres-data.js';
import { type PostgresUser, giveTo, giveToOwnerOf } from './postgres-user.js';
import { findPostmaster, isPostmaster } from './postmaster.js';

const POLL_MS = 15;
/** Enough for crash recovery of `max_wal_size`. */
const READY_MS = 120_000;
const LOG_EVERY_MS = 5_000;
const LOG_BYTES_MAX = 8 * 1024 * 1024;

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  // A socket path is limited to 107 bytes, and a data folder's path may be longer.
  unix_socket_directories: '',
  max_connections: 60,
  shared_buffers: '128MB',
  max_wal_size: '1GB',
  // The database holds money: a reported commit must be on disk.
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  jit: 'off',
  io_method: 'sync',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_min_messages: 'warning',
  log_checkpoints: 'off',
};

/** The parameters for starting a server on a data folder. */
export interface Launch {
  readonly data: PostgresData;
  readonly user: PostgresUser;
  readonly binary: string;
  readonly logPath: string;
  readonly logger: StorageLogger;
  readonly settings: Readonly<Record<string, string>>;
}

/** A server that accepts queries. */
export interface LaunchedServer {
  readonly pid: number;
  readonly port: number;
  /** Resolves when it has ended; absent if it was already running. */
  readonly ended?: Promise<void>;
}

/** Takes over the server running on the data, if there is one and it responds. */
export async function adopt({ data, logger }: Launch): Promise<LaunchedServer | undefined> {
  const running = await findPostmaster(data.folder);
  if (!running) return undefined;
  const isGone = async (): Promise<boolean> => !(await isPostmaster(data.folder, running.pid));
  if (!(await becomesReady({ data, logger }, running.pid, isGone))) return undefined;
  logger.info(`Took over the PostgreSQL server that runs on ${data.folder} (process ${running.pid})`);
  return { pid: running.pid, port: running.port };
}

/** Starts a server on a port, and returns it once it responds; undefined if it ended instead. */
export async function launch(
  { data, user, binary, logPath, logger, settings: own }: Launch,
  port: number,
): Promise<LaunchedServer | undefined> {
  await giveTo(user, data.folder);
  const settings = Object.entries({ port, ...SETTINGS, ...own }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ]);
  const log = await openLog(logPath);
  await giveToOwnerOf(dirname(logPath), logPath);
  let child: ChildProcess;
  let hasEnded = false;
  const ended = Promise.withResolvers<void>();
  try {
    child = user.spawn(binary, ['-D', data.folder, ...settings], log.fd);
    // Registered at once: the process may end before the log is closed below.
    for (const event of ['exit', 'error'])
      child.once(event, () => {
        hasEnded = true;
        ended.resolve();
      });
  } finally {
    await log.close();
  }
  child.unref();
  const { pid } = child;
  if (pid === undefined || !(await becomesReady({ data, logger }, pid, () => hasEnded))) return undefined;
  return { pid, port, ended: ended.promise };
}

/** Waits until the server with this pid responds; false if it ended instead. */
async function becomesReady(
  { data, logger }: Pick<Launch, 'data' | 'logger'>,
  pid: number,
  isGone: () => boolean | Promise<boolean>,
): Promise<boolean> {
  const deadline = Date.now() + READY_MS;
  let logAtMs = Date.now() + LOG_EVERY_MS;
  while (Date.now() < deadline) {
    const postmaster = await findPostmaster(data.folder);
    if (postmaster?.pid === pid && postmaster.ready && (await responses(urlOf(data, postmaster.port))))
      return true;
    if (await isGone()) return false;
    if (Date.now() >= logAtMs) {
      logger.warn(`PostgreSQL (process ${pid}) does not respond yet; it may be recovering from a crash`);
      logAtMs += LOG_EVERY_MS;
    }
    await sleep(POLL_MS);
  }
  throw new StartFault(`PostgreSQL (process ${pid}) was not ready within ${READY_MS / 1000} s`);
}

async function responses(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 3_000, query_timeout: 3_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('SELECT 1');
    return true;
  } catch (error) {
    if (error instanceof DatabaseError && error.code === '28P01') {
      throw new StartFault(
        'The password in the file postgres-password is not that of the database in the same folder',
        {
          cause: error,
        },
      );
    }
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}

export const urlOf = ({ password }: PostgresData, port: number): string =>
  `postgres://${ROLE}:${password}@127.0.0.1:${port}/postgres`;

async function openLog(path: string): Promise<FileHandle> {
  const log = await open(path, 'a', 0o600);
  if ((await log.stat()).size > LOG_BYTES_MAX) await log.truncate();
  return log;
}
