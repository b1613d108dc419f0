import type { ChildProcess } from 'node:child_process';
import { type FileHandle, mkdir, open, readFile, realpath } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, DatabaseError } from 'pg';
import { type StorageLogger, silent } from '../logger.js';
import { findPostgresBinaries } from './postgres-binaries.js';
import { type PostgresData, ROLE, preparePostgresData } from './postgres-data.js';
import { type PostgresUser, choosePostgresUser, giveTo, giveToOwnerOf } from './postgres-user.js';
import { findPostmaster, isPostmaster, stopPostmaster } from './postmaster.js';

const ATTEMPTS = 6;
const POLL_MS = 15;
/** Long enough for a crash recovery of `max_wal_size`. */
const READY_MS = 120_000;
const LOG_BYTES_MAX = 8 * 1024 * 1024;
const LOG_TAIL_CHARS = 2_000;

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  // A path of a socket may have 107 bytes only, and a data folder may lie deeper.
  unix_socket_directories: '',
  max_connections: 60,
  shared_buffers: '128MB',
  max_wal_size: '1GB',
  // This is where the money is: a commit that was told is on the disk.
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

export interface EmbeddedPostgresOptions {
  /** Holds the database, its password and its log. Created when it is not there. */
  readonly dataDir: string;
  readonly logger?: StorageLogger;
}

/** A running PostgreSQL server. */
export interface EmbeddedPostgres {
  /** Connection string with password. */
  readonly url: string;
  readonly pid: number;
  /** True when the server was found running, left behind by a process that was killed, or another's. */
  readonly adopted: boolean;
  /** Stops the server, whoever started it. Safe to call twice. */
  stop(): Promise<void>;
}

/**
 * Starts the PostgreSQL that comes with npm on `dataDir`, or takes over the one that already runs there. It listens on
 * a free port of 127.0.0.1 and outlives a killed parent. Who may use the database is not decided here: hold the
 * instance lock, and do not stop a server whose lock another process has.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const logger = options.logger ?? silent;
  await mkdir(options.dataDir, { recursive: true });
  const dataDir = await realpath(options.dataDir);
  const binaries = await findPostgresBinaries();
  const user = await choosePostgresUser(binaries, dataDir);
  const data = await preparePostgresData(dataDir, binaries.initdb, user);
  const logPath = join(dataDir, 'postgres.log');

  for (let attempt = 1; ; attempt += 1) {
    const found = await adopt(data, logger);
    if (found) return found;
    const started = await launch({ data, user, binary: binaries.postgres, logPath });
    if (started) return started;
    if (attempt === ATTEMPTS) {
      throw new Error(`PostgreSQL does not start on ${data.folder}:\n${await tail(logPath)}`);
    }
    // Another process may be starting or stopping it, or the port was taken.
    await sleep(50 * 2 ** attempt);
  }
}

async function adopt(data: PostgresData, logger: StorageLogger): Promise<EmbeddedPostgres | undefined> {
  const running = await findPostmaster(data.folder);
  if (!running) return undefined;
  const isGone = async (): Promise<boolean> => !(await isPostmaster(data.folder, running.pid));
  if (!(await becomesReady(data, running.pid, isGone))) return undefined;
  logger.info(`Took over the PostgreSQL server that runs on ${data.folder} (process ${running.pid})`);
  return serverOf(data, { ...running, adopted: true });
}

interface Launch {
  readonly data: PostgresData;
  readonly user: PostgresUser;
  readonly binary: string;
  readonly logPath: string;
}

async function launch({ data, user, binary, logPath }: Launch): Promise<EmbeddedPostgres | undefined> {
  await giveTo(user, data.folder);
  const port = await freePort();
  const settings = Object.entries({ port, ...SETTINGS }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ]);
  const log = await openLog(logPath);
  await giveToOwnerOf(dirname(logPath), logPath);
  let child: ChildProcess;
  try {
    child = user.spawn(binary, ['-D', data.folder, ...settings], log.fd);
  } finally {
    await log.close();
  }
  let ended = false;
  child.once('exit', () => (ended = true));
  child.once('error', () => (ended = true));
  child.unref();
  const { pid } = child;
  if (pid === undefined || !(await becomesReady(data, pid, () => ended))) return undefined;
  return serverOf(data, { pid, port, adopted: false });
}

/** Waits until the server with this pid answers; false when it ended instead. */
async function becomesReady(
  data: PostgresData,
  pid: number,
  isGone: () => boolean | Promise<boolean>,
): Promise<boolean> {
  const deadline = Date.now() + READY_MS;
  while (Date.now() < deadline) {
    const postmaster = await findPostmaster(data.folder);
    if (postmaster?.pid === pid && postmaster.ready && (await answers(urlOf(data, postmaster.port))))
      return true;
    if (await isGone()) return false;
    await sleep(POLL_MS);
  }
  throw new Error(`PostgreSQL (process ${pid}) was not ready within ${READY_MS / 1000} s`);
}

async function answers(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 3_000, query_timeout: 3_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('SELECT 1');
    return true;
  } catch (error) {
    if (error instanceof DatabaseError && error.code === '28P01') {
      throw new Error('The file postgres-password does not fit the database beside it', { cause: error });
    }
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}

function serverOf(
  data: PostgresData,
  { pid, port, adopted }: { pid: number; port: number; adopted: boolean },
): EmbeddedPostgres {
  let stopped: Promise<void> | undefined;
  return {
    url: urlOf(data, port),
    pid,
    adopted,
    stop: () => (stopped ??= stopPostmaster(data.folder, pid)),
  };
}

const urlOf = ({ password }: PostgresData, port: number): string =>
  `postgres://${ROLE}:${password}@127.0.0.1:${port}/postgres`;

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function openLog(path: string): Promise<FileHandle> {
  const log = await open(path, 'a', 0o600);
  if ((await log.stat()).size > LOG_BYTES_MAX) await log.truncate();
  return log;
}

async function tail(path: string): Promise<string> {
  return (await readFile(path, 'utf8')).slice(-LOG_TAIL_CHARS);
}
