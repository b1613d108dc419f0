import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readFile, readdir, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './server/embedded-postgres.js';
import { MIGRATIONS_DIR, migrate } from './sql/migrate.js';
import { isRedisInstalled } from './redis-server.js';

export { type TestRedis, startTestRedis, startTestRedisCluster } from './redis-server.js';

/**
 * How to declare a suite that needs `redis-server`: where there is none on the PATH it is to be skipped, with the note
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
  /** Removes the database, and with the last one the server, unless that is the worker's. */
  stop(): Promise<void>;
}

interface Server {
  readonly url: string;
  /** The database that others are copied from. */
  readonly template: string;
  stop(): Promise<void>;
}

/** Bumped by whatever makes an older template useless, beside the migrations. */
const TEMPLATE_VERSION = 'pg18-2';
/** The database of the template that others are copied from. */
const MIGRATED = 'migrated';
const COPY_MS = 60_000;

let users = 0;
let shared: Promise<Server> | undefined;

/**
 * Creates a database for a test: on the server of `TEST_DATABASE_URL`; in a run of tests, on the server that its worker
 * has for all its files; else on one in a temporary folder.
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
  // A server that did not start has told so to those who waited for it.
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

/** Starts the worker's server, or takes over what an earlier file of the worker has started. The run stops it. */
async function startWorkersServer(dataDir: string): Promise<Server> {
  if (!(await isOurs(dataDir))) {
    const aside = `${dataDir}.${process.pid}`;
    await layServerData(aside);
    await rename(aside, dataDir);
  }
  const { url } = await startEmbeddedPostgres({ dataDir });
  return { url, template: MIGRATED, stop: async () => undefined };
}

async function startTemporaryServer(): Promise<Server> {
  const dataDir = await mkdtemp(join(tmpdir(), 'svc-test-postgres-'));
  let server: EmbeddedPostgres;
  try {
    await layServerData(dataDir);
    server = await startEmbeddedPostgres({ dataDir });
  } catch (error) {
    await rm(dataDir, { recursive: true, force: true });
    throw error;
  }
  // Whoever gives up calls no hooks; what is left is to take the server down with the process.
  const abandon = (): void => {
    try {
      process.kill(server.pid, 'SIGQUIT');
    } catch {
      // It has ended already.
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
 * Fills a folder with a server's data as they are after a start: the first start's seconds are spent once for all tests.
 * The migrations are applied to its database, and to one that others can be copied from.
 */
export async function layServerData(dataDir: string): Promise<void> {
  await mkdir(dataDir, { recursive: true });
  // A thousand files: a quarter of the time that `cp` of Node takes.
  await promisify(execFile)('cp', ['-Rp', `${await findTemplate()}/.`, dataDir], { timeout: COPY_MS });
}

/** The template is kept between runs, for as long as the migrations are the same. */
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
