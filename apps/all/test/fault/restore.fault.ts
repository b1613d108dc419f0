import { execFile } from 'node:child_process';
import { chmod, chown, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@svc/storage';
import { isLong } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withClient } from '../database-server.js';
import { Platform, type TestAccount } from '../platform.js';

const run = promisify(execFile);
const POINT = 'before the accident';

let folder: string;
let archive: string;
let server: EmbeddedPostgres;
let platform: Platform;

/** A server that archives its write-ahead log, so that it can be restored to a point in time. */
const archiving = (dataDir: string): Promise<EmbeddedPostgres> =>
  startEmbeddedPostgres({
    dataDir,
    settings: { archive_mode: 'on', archive_command: `test ! -f ${archive}/%f && cp %p ${archive}/%f` },
  });

const serveOn = ({ url }: EmbeddedPostgres): Promise<Platform> =>
  Platform.start({ env: { DATABASE_URL: url }, isFirstStart: true });

const ask = ({ openai }: TestAccount): Promise<unknown> =>
  openai.chat.completions.create({ model: 'test-model', messages: [{ role: 'user', content: 'hi' }] });

/** Sends requests until it is stopped; returns the number of responses. */
async function askOn(account: TestAccount, signal: AbortSignal): Promise<number> {
  let answered = 0;
  for (; !signal.aborted; answered += 1) await ask(account);
  return answered;
}

async function askTimes(account: TestAccount, count: number): Promise<void> {
  for (let sent = 0; sent < count; sent += 1) await ask(account);
}

/** Writes a file into the data of a server, with the server's ownership. */
async function put(dataDir: string, name: string, text: string): Promise<void> {
  const data = join(dataDir, 'postgres');
  const { uid, gid } = await stat(data);
  await writeFile(join(data, name), text, { mode: 0o600 });
  await chown(join(data, name), uid, gid);
}

/** Copies the data of a running server, like a base backup. */
async function backUp(from: string, to: string, url: string): Promise<void> {
  await withClient(url, async (client) => {
    await client.query(`SELECT pg_backup_start('nightly', true)`);
    await run('cp', ['-a', from, to]);
    const { rows } = await client.query<{ labelfile: string }>('SELECT labelfile FROM pg_backup_stop()');
    const data = join(to, 'postgres');
    await put(to, 'backup_label', rows[0]?.labelfile ?? '');
    await rm(join(data, 'postmaster.pid'), { force: true });
    // Later writes come from the archive.
    for (const name of await readdir(join(data, 'pg_wal')))
      if (/^[0-9A-F]{24}/.test(name)) await rm(join(data, 'pg_wal', name));
  });
}

/** Waits until everything written so far is in the archive. */
async function archiveAll(url: string): Promise<void> {
  await withClient(url, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      'SELECT pg_walfile_name(pg_current_wal_lsn()) AS name',
    );
    await client.query('SELECT pg_switch_wal()');
    for (let tries = 0; tries < 600; tries += 1) {
      if ((await readdir(archive)).includes(rows[0]?.name ?? '')) return;
      await sleep(100);
    }
    throw new Error('the log was not archived');
  });
}

/** Starts a server from a backup, recovered to the given point. */
async function restore(dataDir: string): Promise<EmbeddedPostgres> {
  await put(dataDir, 'recovery.signal', '');
  const restored = await startEmbeddedPostgres({
    dataDir,
    settings: {
      restore_command: `cp ${archive}/%f %p`,
      recovery_target_name: POINT,
      recovery_target_action: 'promote',
    },
  });
  await withClient(restored.url, async (client) => {
    for (let tries = 0; tries < 600; tries += 1) {
      const { rows } = await client.query<{ on: boolean }>('SELECT pg_is_in_recovery() AS on');
      if (rows[0]?.on === false) return;
      await sleep(100);
    }
    throw new Error('the server does not end its recovery');
  });
  return restored;
}

describe.runIf(isLong)('books that were restored', () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-restore-'));
    await chmod(folder, 0o711);
    archive = join(folder, 'archive');
    await mkdir(archive);
    await chmod(archive, 0o777);
    server = await archiving(join(folder, 'server'));
    platform = await serveOn(server);
  });

  afterAll(async () => {
    await platform.stop();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it('to a point in time have the exact balances of that time, to the nano-dollar, and are usable', async () => {
    const account = await platform.account('5.00');
    await askTimes(account, 5);

    const stop = new AbortController();
    const asking = askOn(account, stop.signal);
    await backUp(join(folder, 'server'), join(folder, 'backup'), server.url);
    stop.abort();
    expect(await asking).toBeGreaterThan(0);

    await askTimes(account, 5);
    const audited = await platform.audit();
    expect(audited.body).toMatchObject({ ok: true });
    const balances = await platform.balances(account.id);
    await withClient(server.url, (client) => client.query(`SELECT pg_create_restore_point('${POINT}')`));

    await askTimes(account, 3);
    expect(await platform.balances(account.id)).not.toEqual(balances);
    await platform.stop();
    await withClient(server.url, (client) => client.query('DROP SCHEMA ledger CASCADE'));
    await archiveAll(server.url);
    await server.stop();

    server = await restore(join(folder, 'backup'));
    platform = await serveOn(server);
    const { body } = await platform.audit();
    expect(body).toMatchObject({ ok: true, mismatches: [], charges: audited.body['charges'] });
    expect(await platform.balances(account.id)).toEqual(balances);

    const again = await platform.account('1.00');
    await askTimes(again, 2);
    expect((await platform.audit()).body).toMatchObject({ ok: true, mismatches: [] });
  }, 180_000);
});
