import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type PostgresTools, findPostgresTools } from '@svc/infra';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@svc/storage';
import { isLong } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Platform, type TestAccount } from '../platform.js';

const run = promisify(execFile);

let folder: string;
let tools: PostgresTools;
let server: EmbeddedPostgres;
let restored: EmbeddedPostgres | undefined;
let platform: Platform;

const serveOn = ({ url }: EmbeddedPostgres): Promise<Platform> =>
  Platform.start({ env: { DATABASE_URL: url }, isFirstStart: true });

const ask = ({ openai }: TestAccount): Promise<unknown> =>
  openai.chat.completions.create({ model: 'test-model', messages: [{ role: 'user', content: 'hi' }] });

async function askTimes(account: TestAccount, count: number): Promise<void> {
  for (let sent = 0; sent < count; sent += 1) await ask(account);
}

/** Sends requests until it is stopped; returns the number of responses. */
async function askOn(account: TestAccount, signal: AbortSignal): Promise<number> {
  let answered = 0;
  for (; !signal.aborted; answered += 1) await ask(account);
  return answered;
}

describe.runIf(isLong)('books in a dump', () => {
  beforeAll(async () => {
    tools = await findPostgresTools(process.env);
    folder = await mkdtemp(join(tmpdir(), 'svc-dump-'));
    await chmod(folder, 0o711);
    server = await startEmbeddedPostgres({ dataDir: join(folder, 'server') });
    platform = await serveOn(server);
  }, 300_000);

  afterAll(async () => {
    await platform.stop();
    await Promise.all([server.stop(), restored?.stop()]);
    await rm(folder, { recursive: true, force: true });
  });

  it('taken under load are complete on another server, to the nano-dollar, and usable there', async () => {
    const [quiet, busy] = [await platform.account('5.00'), await platform.account('5.00')];
    await askTimes(quiet, 5);
    await askTimes(busy, 5);
    const before = (await platform.audit()).body;
    expect(before).toMatchObject({ ok: true });
    const balances = await platform.balances(quiet.id);

    const stop = new AbortController();
    const asking = askOn(busy, stop.signal);
    const file = join(folder, 'nightly.dump');
    await run(tools.dump, ['--format=custom', `--file=${file}`, server.url]);
    stop.abort();
    expect(await asking).toBeGreaterThan(0);
    const after = (await platform.audit()).body;
    await platform.stop();

    restored = await startEmbeddedPostgres({ dataDir: join(folder, 'other') });
    await run(tools.restore, ['--exit-on-error', '--no-owner', `--dbname=${restored.url}`, file]);
    platform = await serveOn(restored);
    const { body } = await platform.audit();
    expect(body).toMatchObject({ ok: true, mismatches: [] });
    expect(Number(body['charges'])).toBeGreaterThanOrEqual(Number(before['charges']));
    expect(Number(body['charges'])).toBeLessThanOrEqual(Number(after['charges']));
    expect(await platform.balances(quiet.id)).toEqual(balances);

    const again = await platform.account('1.00');
    await askTimes(again, 2);
    expect((await platform.audit()).body).toMatchObject({ ok: true, mismatches: [] });
  }, 300_000);
});
