import { randomUUID } from 'node:crypto';
import { chmod, cp, mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './server/embedded-postgres.js';
import { migrate } from './sql/migrate.js';
import { findPostmaster, isAlive, stopPostmaster } from './server/postmaster.js';
import { isRedisInstalled } from './redis-server.js';

export { type TestRedis, startTestRedis } from './redis-server.js';

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
  /** Removes the database, and the server with the last one. */
  stop(): Promise<void>;
}

interface Server {
  readonly url: string;
  stop(): Promise<void>;
}

/** Bumped by whatever makes an older template useless. */
const TEMPLATE_VERSION = 'pg18-1';
const MIGRATED = 'migrated';
/** Followed by the number of the process that it is for. */
const FOLDER_PREFIX = 'svc-test-postgres-';

let users = 0;
let shared: Promise<Server> | undefined;

/**
 * Creates a database for a test: on the server of `TEST_DATABASE_URL`, or on one that is started in a temporary
 * folder for this test file.
 */
export async function startTestDatabase(): Promise<TestDatabase> {
  users += 1;
  try {
    const server = await (shared ??= startServer());
    const name = `test_${randomUUID().replaceAll('-', '')}`;
    await onServer(server.url, `CREATE DATABASE ${name} TEMPLATE ${templateOf(server.url)}`);
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

const templates = new Map<string, string>();
const templateOf = (url: string): string => templates.get(url) ?? 'template1';

async function leave(): Promise<void> {
  users -= 1;
  if (users > 0) return;
  const starting = shared;
  shared = undefined;
  // A server that did not start has told so to those who waited for it.
  const server = await starting?.catch(() => undefined);
  await server?.stop();
}

async function startServer(): Promise<Server> {
  const given = process.env['TEST_DATABASE_URL'];
  const server =
    given === undefined ? await startTemporaryServer() : { url: given, stop: async () => undefined };
  const name = given === undefined ? MIGRATED : `${MIGRATED}_${randomUUID().replaceAll('-', '')}`;
  await onServer(server.url, `CREATE DATABASE ${name}`);
  await migrate(withDatabase(server.url, name));
  templates.set(server.url, name);
  return {
    url: server.url,
    stop: async () => {
      if (given !== undefined) await onServer(server.url, `DROP DATABASE ${name} WITH (FORCE)`);
      await server.stop();
    },
  };
}

async function startTemporaryServer(): Promise<Server> {
  await removeLeftBehind();
  const dataDir = await mkdtemp(join(tmpdir(), `${FOLDER_PREFIX}${process.pid}-`));
  let server: EmbeddedPostgres;
  try {
    // Root's server runs as another user, who has to get in.
    await chmod(dataDir, 0o711);
    await layServerData(dataDir);
    server = await startEmbeddedPostgres({ dataDir });
  } catch (error) {
    await rm(dataDir, { recursive: true, force: true });
    throw error;
  }
  // A test runner that gives up calls no hooks; what is left is to take the server down with the process.
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
    stop: async () => {
      process.off('exit', abandon);
      await server.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Removes the servers of test processes that were killed before they could. */
async function removeLeftBehind(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const owner = Number(new RegExp(`^${FOLDER_PREFIX}(\\d+)-`).exec(name)?.[1]);
    const folder = join(tmpdir(), name);
    if (!owner || isAlive(owner) || !(await isOurs(folder))) continue;
    const left = await findPostmaster(join(folder, 'postgres'));
    if (left) await stopPostmaster(join(folder, 'postgres'), left.pid);
    // Another test process may be at it too.
    await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  }
}

/** Fills a folder with what the first start of a server leaves in it, which is a second of work less for that start. */
export async function layServerData(dataDir: string): Promise<void> {
  await mkdir(dataDir, { recursive: true });
  await cp(await findTemplate(), dataDir, { recursive: true });
}

/** Creating a data folder takes a second, copying one does not. */
async function findTemplate(): Promise<string> {
  const template = join(tmpdir(), `svc-postgres-template-${TEMPLATE_VERSION}-${process.getuid?.() ?? 0}`);
  if (await isOurs(template)) return template;
  const aside = await mkdtemp(`${template}.`);
  try {
    const server = await startEmbeddedPostgres({ dataDir: aside });
    await server.stop();
    await rename(aside, template);
  } catch (error) {
    await rm(aside, { recursive: true, force: true });
    // Another test file may have been quicker.
    if (!(await isOurs(template))) throw error;
  }
  return template;
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
