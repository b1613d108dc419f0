import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readFile, readdir, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../src/server/embedded-postgres.js';
import { MIGRATIONS_DIR, migrate } from '../src/sql/migrate.js';
import { isRedisInstalled } from './redis-server.js';

export { type TestRedis, startTestRedis, startTestRedisCluster } from './redis-server.js';

/**
 * How to declare a suite that needs `redis-server`: if it is not on the PATH, skip the suite, with the note
 * in its name.
 */
export function withRedis(): { readonly skipped: boolean; readonly note: string } {
  if (isRedisInstalled()) return { skipped: false, note: '' };
  process.stderr.write('Tests are SKIPPED: there is no redis-server on the PATH.\n');
  return { skipped: true, note: ' (SKIPPED: no redis-server on the PATH)' };
}

/** A fresh database with every migration applied. */
export interface TestDatabase {
  readonly url: string;
  /** Drops the database, and with the last one the server, unless that belongs to the worker. */
  stop(): Promise<void>;
}

interface Server {
  readonly url: string;
  /** The database that others are copied from. */
  readonly template: string;
  stop(): Promise<void>;
}

/** Increase this when an older template becomes useless for reasons other than migrations. */
const TEMPLATE_VERSION = 'pg18-2';
/** The template's database that others are copied from. */
const MIGRATED = 'migrated';
const COPY_MS = 60_000;
/** A platform in one process takes about 30 connections, and the tests of a file share a server. */
const FOR_MANY = { max_connections: '200' };

let users = 0;
let shared: Promise<Server> | undefined;

/**
 * Creates a database for a test: on the server of `TEST_DATABASE_URL`; in a test run, on the server that its
 * worker shares among its files; else on one in a temporary folder.
 */
export async function startTestDatabase(): Promise<TestDatabase> {
  users += 1;
  try {
    const server = await (shared ??= startServer());
    const name = `test_${randomUUID().replaceAll('-', '')}`;
    await onServer(server.url, `CREATE DATABASE ${name} TEMPLATE ${server.template}`);
    let stopped = false;
    return {
      url: withDatabase(server.url, name),
      stop: async () => {
        if (stopped) return;
        stopped = true;
        try {
          await onServer(server.url, `DROP DATABASE ${name} WITH (FORCE)`);
        } finally {
          await leave();
        }
      },
    };
  } catch (error) {
    await leave();
    throw error;
  }
}

async function leave(): Promise<void> {
  users -= 1;
  if (users > 0) return;
  const starting = shared;
  shared = undefined;
  // A server that failed to start has already rejected the callers that waited for it.
  const server = await starting?.catch(() => undefined);
  await server?.stop();
}

function startServer(): Promise<Server> {
  const given = process.env['TEST_DATABASE_URL'];
  if (given !== undefined) return useServer(given);
  const run = process.env['SVC_TEST_FOLDER'];
  if (run === undefined) return startTemporaryServer();
  return startWorkersServer(join(run, `worker-${process.env['VITEST_POOL_ID'] ?? 0}`));
}

async function useServer(url: string): Promise<Server> {
  const template = `${MIGRATED}_${randomUUID().replaceAll('-', '')}`;
  await onServer(url, `CREATE DATABASE ${template}`);
  await migrate(withDatabase(url, template));
  return { url, template, stop: () => onServer(url, `DROP DATABASE ${template} WITH (FORCE)`) };
}

/** Starts the worker's server, or takes over the one started for an earlier file. The run stops it. */
async function startWorkersServer(dataDir: string): Promise<Server> {
  if (!(await isOurs(dataDir))) {
    const aside = `${dataDir}.${process.pid}`;
    await layServerData(aside);
    await rename(aside, dataDir);
  }
  const { url } = await startEmbeddedPostgres({ dataDir, settings: FOR_MANY });
  return { url, template: MIGRATED, stop: async () => undefined };
}

async function startTemporaryServer(): Promise<Server> {
  const dataDir = await mkdtemp(join(tmpdir(), 'svc-test-postgres-'));
  let server: EmbeddedPostgres;
  try {
    await layServerData(dataDir);
    server = await startEmbeddedPostgres({ dataDir, settings: FOR_MANY });
  } catch (error) {
    await rm(dataDir, { recursive: true, force: true });
    throw error;
  }
  // An aborted run calls no hooks, so the server is stopped when the process exits.
  const abandon = (): void => {
    try {
      process.kill(server.pid, 'SIGQUIT');
    } catch {
      // It has already ended.
    }
  };
  process.once('exit', abandon);
  return {
    url: server.url,
    template: MIGRATED,
    stop: async () => {
      process.off('exit', abandon);
      await server.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/**
 * Fills a folder with the data of a server that has been started once, which saves each test the seconds of a
 * first start. The migrations are applied to its database, and to one that others can be copied from.
 */
export async function layServerData(dataDir: string): Promise<void> {
  await mkdir(dataDir, { recursive: true });
  // `cp` copies the thousand files in a quarter of the time of Node's `cp`.
  await promisify(execFile)('cp', ['-Rp', `${await findTemplate()}/.`, dataDir], { timeout: COPY_MS });
}

/** The template is kept between runs while the migrations are unchanged. */
async function findTemplate(): Promise<string> {
  const version = `${TEMPLATE_VERSION}-${await migrationsDigest()}-${process.getuid?.() ?? 0}`;
  const template = join(process.env['SVC_TEST_CACHE'] ?? tmpdir(), `svc-postgres-template-${version}`);
  if (await isOurs(template)) return template;
  const aside = await mkdtemp(`${template}.`);
  try {
    const server = await startEmbeddedPostgres({ dataDir: aside });
    try {
      await migrate(server.url);
      await onServer(withDatabase(server.url, 'template1'), `CREATE DATABASE ${MIGRATED} TEMPLATE postgres`);
    } finally {
      await server.stop();
    }
    await rename(aside, template);
  } catch (error) {
    await rm(aside, { recursive: true, force: true });
    // Another test file may have been quicker.
    if (!(await isOurs(template))) throw error;
  }
  return template;
}

async function migrationsDigest(): Promise<string> {
  const digest = createHash('sha256');
  const files = await readdir(MIGRATIONS_DIR, { recursive: true, withFileTypes: true });
  const paths = files.filter((file) => file.isFile()).map((file) => join(file.parentPath, file.name));
  for (const path of paths.toSorted()) digest.update(await readFile(path));
  return digest.digest('hex').slice(0, 12);
}

async function isOurs(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found !== undefined && found.uid === (process.getuid?.() ?? found.uid);
}

async function onServer(url: string, sql: string): Promise<void> {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: 10_000,
    query_timeout: 60_000,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query(sql);
  } finally {
    await client.end();
  }
}

function withDatabase(url: string, name: string): string {
  const copy = new URL(url);
  copy.pathname = `/${name}`;
  return copy.href;
}
