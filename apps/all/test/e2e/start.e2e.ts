import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryInfra } from '@svc/infra';
import { startTestDatabase } from '@svc/storage/testing';
import type { RunningProcess } from '@svc/testing';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ConsoleBrowser } from '../console-browser.js';
import { DatabaseServer } from '../database-server.js';
import { ownPlatform, printedKey } from '../own-platform.js';
import { Platform } from '../platform.js';

const MESSAGES = [{ role: 'user', content: 'hi' }];
/** Enough for several starts on a busy machine. */
const WITHIN = { timeout: 120_000 };

describe('the first start', () => {
  it(
    'prints a key that works and has 10 USD; later starts keep everything and print no secret',
    WITHIN,
    async () => {
      const platform = await ownPlatform({ isFirstStart: true });
      const key = printedKey(platform);
      const first = await platform.chat(key, { model: 'test-model', messages: MESSAGES });
      expect(first.status).toBe(200);
      expect(first.headers.get('x-svc-balance-usd')).toBe('10.00');
      const { cost } = (await first.json()) as { cost: { usd: number } };
      expect(await platform.service.stop()).toBe(0);
      await platform.restart();
      expect(platform.service.output).not.toContain(key);
      expect(platform.service.output).toContain(key.slice(-6));
      const second = await platform.chat(key, { model: 'test-model', messages: MESSAGES });
      expect(Number(second.headers.get('x-svc-balance-usd'))).toBeCloseTo(10 - cost.usd, 9);
    },
  );
});

describe('the printed link to the console', () => {
  it('signs in to the first account once, and each start prints another', WITHIN, async () => {
    const platform = await ownPlatform({ isFirstStart: true });
    const printed = (): RegExpExecArray | null =>
      /Console +(http:\/\/\S+\/console)#link=([0-9a-f]{64})/.exec(platform.service.output);
    const [, address, link] = printed() ?? [];
    expect(address).toBe(`${platform.rootUrl}/console`);
    const browser = new ConsoleBrowser(platform.rootUrl);
    const { status, body } = await browser.signIn({ link });
    expect([status, body.data.kind]).toEqual([200, 'admin']);
    expect((await browser.ask('GET', '/v1/api_keys')).status).toBe(200);
    expect((await new ConsoleBrowser(platform.rootUrl).signIn({ link })).status).toBe(401);
    expect(await platform.service.stop()).toBe(0);
    await platform.restart();
    expect(printed()?.[2]).not.toBe(link);
    // The session is in the database.
    expect((await browser.ask('GET', '/session', { to: platform.rootUrl })).status).toBe(200);
  });
});

describe('a start on the tables of a newer version', () => {
  it('serves, so that a release can be rolled back', WITHIN, async () => {
    const database = await startTestDatabase();
    onTestFinished(() => database.stop());
    const client = new Client({ connectionString: database.url });
    await client.connect();
    await client.query(
      `CREATE TABLE newer (n int);
       INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at) VALUES ('n', 'c', '9999_newer', now())`,
    );
    await client.end();
    const platform = await ownPlatform({ env: { DATABASE_URL: database.url }, isFirstStart: true });
    const response = await platform.chat(printedKey(platform), { model: 'test-model', messages: MESSAGES });
    expect(response.status).toBe(200);
    await expect.poll(() => platform.service.output).toContain('migrations of a newer version, 9999_newer');
  });
});

describe('a start without an operator token, and with a simulated default model', () => {
  let platform: Platform;

  beforeAll(async () => {
    platform = await Platform.start({
      env: { SVC_OPERATOR_TOKEN: '' },
      models: [{ id: 'simulated', traits: ['default'], backends: [{ kind: 'simulator', model: 'm' }] }],
    });
  });
  afterAll(() => platform?.stop());

  it('creates an operator token that only its owner can read', async () => {
    const path = join(platform.dataDir, 'operator-token');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const headers = { authorization: `Bearer ${(await readFile(path, 'utf8')).trim()}` };
    expect((await fetch(`${platform.operatorUrl}/ledger/audit`, { headers })).status).toBe(200);
  });

  it('suggests a request to a model with a real server instead of the simulated default', () => {
    expect(platform.service.output).toContain('{"model": "test-model",');
  });

  it('starts the simulator for a catalogue that uses it', async () => {
    const response = await platform.chat(printedKey(platform), { model: 'simulated', messages: MESSAGES });
    expect(response.status).toBe(200);
  });
});

/** Longer than a single wait for the database, so that a start has to retry. */
const STILL_MS = 12_000;

// Concurrent, since each of them mostly waits.
describe.concurrent('a start beside a slow database', () => {
  it(
    'takes over the server of a killed run, even if it hangs for a while',
    WITHIN,
    async ({ onTestFinished }) => {
      const platform = await ownPlatform({}, onTestFinished);
      const key = printedKey(platform);
      await platform.kill();
      const standing = new DatabaseServer(platform.dataDir).standStill(STILL_MS);
      await Promise.all([standing, platform.restart()]);
      const response = await platform.chat(key, { model: 'test-model', messages: MESSAGES });
      expect(response.status).toBe(200);
    },
  );

  it.for(['stands still', 'comes up late'] as const)(
    'waits for a configured server that %s',
    WITHIN,
    async (how, { onTestFinished }) => {
      const infra = await temporaryInfra();
      onTestFinished(() => infra.postgres.wipe());
      const env = { DATABASE_URL: await infra.postgres.start() };
      await (how === 'stands still' ? infra.postgres.pause() : infra.postgres.kill());
      const whileStarting = async (service: RunningProcess): Promise<void> => {
        await service.matching(
          /The database at 127\.0\.0\.1:\d+ cannot be reached yet; retrying for \d+ s: /,
        );
        await (how === 'stands still' ? infra.postgres.resume() : infra.postgres.start());
      };
      const platform = await ownPlatform({ env, isFirstStart: true, whileStarting }, onTestFinished);
      expect((await fetch(`${platform.rootUrl}/readyz`)).status).toBe(200);
    },
  );
});
