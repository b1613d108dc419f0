import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmod, chown, cp, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, type QueryResultRow } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded-postgres.js';

const isRoot = process.getuid?.() === 0;
const ORDINARY_UID = 1_000;
const NOBODY = 65_534;
/** The compiled library, for separate processes. */
const LIBRARY = new URL('../../dist/server/embedded-postgres.js', import.meta.url).href;

const folders: string[] = [];
const servers: EmbeddedPostgres[] = [];
const children: ChildProcess[] = [];
let template: string;

async function emptyFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-embedded-'));
  folders.push(folder);
  return folder;
}

/** A data folder whose server has run and stopped. */
async function usedFolder(): Promise<string> {
  const folder = await emptyFolder();
  await cp(template, folder, { recursive: true });
  return folder;
}

async function start(dataDir: string): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ dataDir });
  servers.push(server);
  return server;
}

async function query<Row extends QueryResultRow>(url: string, sql: string): Promise<Row[]> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000, query_timeout: 10_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}

/** Starts the server in a separate process, which then only waits. */
async function startElsewhere(
  dataDir: string,
  uid?: number,
): Promise<{ child: ChildProcess; url: string; pid: number }> {
  const code = `import { startEmbeddedPostgres } from ${JSON.stringify(LIBRARY)};
    const { url, pid } = await startEmbeddedPostgres({ dataDir: ${JSON.stringify(dataDir)} });
    console.log(JSON.stringify({ url, pid }));
    setInterval(() => undefined, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
    cwd: '/',
    ...(uid !== undefined && { uid, gid: uid }),
  });
  children.push(child);
  for await (const line of createInterface({ input: child.stdout })) {
    return { child, ...(JSON.parse(line) as { url: string; pid: number }) };
  }
  throw new Error('The process ended without a server');
}

async function kill(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Processes whose command line contains the folder. */
async function processesOf(folder: string): Promise<string[]> {
  const found: string[] = [];
  for (const pid of await readdir('/proc')) {
    const args = /^\d+$/.test(pid) ? await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '') : '';
    if (args.includes(folder) && Number(pid) !== process.pid)
      found.push(`${pid} ${args.replaceAll('\0', ' ')}`);
  }
  return found;
}

beforeAll(async () => {
  template = await emptyFolder();
  const server = await start(template);
  await query(server.url, 'CREATE TABLE kept (n int)');
  await query(server.url, 'INSERT INTO kept VALUES (1)');
  await server.stop();
});

afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  for (const server of servers.splice(0)) await server.stop();
});

afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

describe('startEmbeddedPostgres', () => {
  it('creates a database that requires its password and listens on 127.0.0.1 only', async () => {
    const dataDir = await usedFolder();
    const server = await start(dataDir);
    expect(server.adopted).toBe(false);
    const settings = await query(
      server.url,
      `SELECT name, setting FROM pg_settings
       WHERE name IN ('listen_addresses', 'unix_socket_directories', 'fsync', 'synchronous_commit', 'TimeZone', 'server_encoding')
       ORDER BY name COLLATE "C"`,
    );
    expect(settings).toEqual([
      { name: 'TimeZone', setting: 'UTC' },
      { name: 'fsync', setting: 'on' },
      { name: 'listen_addresses', setting: '127.0.0.1' },
      { name: 'server_encoding', setting: 'UTF8' },
      { name: 'synchronous_commit', setting: 'on' },
      { name: 'unix_socket_directories', setting: '' },
    ]);
    expect((await stat(join(dataDir, 'postgres-password'))).mode & 0o777).toBe(0o600);
    const wrong = new URL(server.url);
    wrong.password = 'wrong';
    await expect(query(wrong.href, 'SELECT 1')).rejects.toThrow('password authentication failed');
  });

  it('keeps the data across a stop and a start', async () => {
    const dataDir = await usedFolder();
    const first = await start(dataDir);
    await query(first.url, 'INSERT INTO kept VALUES (2)');
    await first.stop();
    const second = await start(dataDir);
    expect(second.adopted).toBe(false);
    expect(await query(second.url, 'SELECT n FROM kept ORDER BY n')).toEqual([{ n: 1 }, { n: 2 }]);
  });

  it('stops with clients connected and leaves no process behind', async () => {
    const dataDir = await usedFolder();
    const server = await start(dataDir);
    const client = new Client({ connectionString: server.url });
    client.on('error', () => undefined);
    await client.connect();
    await server.stop();
    await server.stop();
    expect(await processesOf(dataDir)).toEqual([]);
  });

  it.runIf(process.platform === 'linux')(
    "runs in a session that a terminal's Ctrl-C does not reach",
    async () => {
      const server = await start(await usedFolder());
      const fields = (await readFile(`/proc/${server.pid}/stat`, 'utf8')).replace(/^.*\) /, '').split(' ');
      expect({ group: Number(fields[2]), session: Number(fields[3]) }).toEqual({
        group: server.pid,
        session: server.pid,
      });
    },
  );

  it('takes over the server left by a killed process', async () => {
    const dataDir = await usedFolder();
    const { child, pid } = await startElsewhere(dataDir);
    await kill(child);
    const server = await start(dataDir);
    expect({ adopted: server.adopted, pid: server.pid }).toEqual({ adopted: true, pid });
    expect(await query(server.url, 'SELECT n FROM kept')).toEqual([{ n: 1 }]);
    await server.stop();
    expect(await processesOf(dataDir)).toEqual([]);
  });

  it('recovers every committed row after all processes were killed', async () => {
    const dataDir = await usedFolder();
    const { child, url, pid } = await startElsewhere(dataDir);
    await query(url, 'INSERT INTO kept SELECT generate_series(2, 1000)');
    await kill(child);
    process.kill(pid, 'SIGKILL');
    const server = await start(dataDir);
    expect(server.adopted).toBe(false);
    expect(await query(server.url, 'SELECT count(*)::int AS rows FROM kept')).toEqual([{ rows: 1000 }]);
  });

  it.each(['SIGINT', 'SIGKILL'] as const)(
    'restarts at the same address after %s, if it is to be kept running',
    async (signal) => {
      const dataDir = await usedFolder();
      const server = await start(dataDir);
      server.keepRunning(() => undefined);
      const { pid } = server;
      process.kill(pid, signal);
      await expect.poll(() => server.pid, { timeout: 60_000, interval: 50 }).not.toBe(pid);
      expect(await query(server.url, 'SELECT n FROM kept')).toEqual([{ n: 1 }]);
      await server.stop();
      await sleep(1_000);
      expect(await processesOf(dataDir)).toEqual([]);
    },
  );

  it('leaves the data alone if another process has started its own server on them', async () => {
    const dataDir = await usedFolder();
    const server = await start(dataDir);
    process.kill(server.pid, 'SIGINT');
    const other = await start(dataDir);
    const elsewhere = new Promise<void>((resolve) => server.keepRunning(resolve));
    await elsewhere;
    expect(await query(other.url, 'SELECT n FROM kept')).toEqual([{ n: 1 }]);
  });

  it('waits for a server that is shutting down, and then starts a new one', async () => {
    const dataDir = await usedFolder();
    const first = await start(dataDir);
    process.kill(first.pid, 'SIGINT');
    const second = await start(dataDir);
    expect(await query(second.url, 'SELECT n FROM kept')).toEqual([{ n: 1 }]);
    expect(second.pid).not.toBe(first.pid);
  });

  it('provides the same server to processes that start at the same time', async () => {
    const dataDir = await emptyFolder();
    const found = await Promise.all([start(dataDir), start(dataDir), start(dataDir)]);
    expect(new Set(found.map(({ url }) => url)).size).toBe(1);
    expect(found.filter(({ adopted }) => !adopted)).toHaveLength(1);
    expect((await readdir(dataDir)).toSorted()).toEqual(['postgres', 'postgres-password', 'postgres.log']);
  });

  it('starts even if an earlier first start was killed halfway', async () => {
    const dataDir = await emptyFolder();
    const starting = startElsewhere(dataDir).catch(() => undefined);
    while (!(await readdir(dataDir)).some((name) => name.startsWith('postgres.init-'))) await sleep(5);
    const [child] = children;
    child?.kill('SIGKILL');
    await starting;
    expect(await readdir(dataDir)).not.toContain('postgres');
    const server = await start(dataDir);
    expect(await query(server.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('is not confused by a pid file whose pid now belongs to another process', async () => {
    const dataDir = await usedFolder();
    const stranger = spawn('sleep', ['60'], isRoot ? { uid: NOBODY, gid: NOBODY } : {});
    children.push(stranger);
    const folder = join(dataDir, 'postgres');
    await chmod(dataDir, 0o711);
    await writeFile(
      join(folder, 'postmaster.pid'),
      `${stranger.pid}\n${folder}\n1\n5432\n\n127.0.0.1\n1 1\nready   \n`,
    );
    const server = await start(dataDir);
    expect(server.adopted).toBe(false);
    expect(isAlive(stranger.pid ?? 0)).toBe(true);
  });

  it('reports a wrong password file instead of waiting', async () => {
    const dataDir = await usedFolder();
    const server = await start(dataDir);
    await writeFile(join(dataDir, 'postgres-password'), 'another');
    await expect(startEmbeddedPostgres({ dataDir })).rejects.toThrow(
      'postgres-password is not that of the database',
    );
    await server.stop();
  });

  it("reports PostgreSQL's own message if it does not start", async () => {
    const dataDir = await usedFolder();
    await writeFile(join(dataDir, 'postgres', 'PG_VERSION'), '9\n');
    await expect(startEmbeddedPostgres({ dataDir })).rejects.toThrow('initialized by PostgreSQL version 9');
  });

  it('limits the size of its log', async () => {
    const dataDir = await usedFolder();
    await writeFile(join(dataDir, 'postgres.log'), 'x'.repeat(9 * 1024 * 1024));
    await start(dataDir);
    expect((await stat(join(dataDir, 'postgres.log'))).size).toBeLessThan(1024 * 1024);
  });

  // False if only root may enter the folder of this project.
  const ordinaryUserRuns =
    isRoot &&
    spawnSync(process.execPath, ['-e', `import(${JSON.stringify(LIBRARY)})`], { uid: ORDINARY_UID })
      .status === 0;

  describe.runIf(isRoot)('started by root', () => {
    it('works below a folder that only root may enter, and below one open to all, on the same data', async () => {
      const dataDir = await usedFolder();
      for (const [mode, owner] of [
        [0o700, 0],
        [0o711, ordinaryUserRuns ? NOBODY : 0],
        [0o700, 0],
      ] as const) {
        await chmod(dataDir, mode);
        const server = await start(dataDir);
        expect(await query(server.url, 'SELECT n FROM kept')).toEqual([{ n: 1 }]);
        expect((await stat(join(dataDir, 'postgres', 'base'))).uid).toBe(owner);
        await server.stop();
      }
    });
  });

  it.runIf(ordinaryUserRuns)('works for an ordinary user and for root on the same data', async () => {
    const dataDir = await emptyFolder();
    await chown(dataDir, ORDINARY_UID, ORDINARY_UID);
    for (const uid of [ORDINARY_UID, 0, ORDINARY_UID]) {
      const { child, url, pid } = await startElsewhere(dataDir, uid);
      await query(url, 'CREATE TABLE IF NOT EXISTS starts (uid int)');
      await query(url, `INSERT INTO starts VALUES (${uid})`);
      for (const name of await readdir(dataDir))
        expect((await stat(join(dataDir, name))).uid).toBe(ORDINARY_UID);
      await kill(child);
      process.kill(pid, 'SIGKILL');
    }
    const server = await start(dataDir);
    expect(await query(server.url, 'SELECT uid FROM starts')).toEqual([
      { uid: ORDINARY_UID },
      { uid: 0 },
      { uid: ORDINARY_UID },
    ]);
  });
});
