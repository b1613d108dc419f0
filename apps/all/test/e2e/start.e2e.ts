import { spawn } from 'node:child_process';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { RunningProcess } from '@svc/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { chunksOf, eventually } from '../answers.js';
import { MAIN, Platform } from '../platform.js';

const REPOSITORY = fileURLToPath(new URL('../../../..', import.meta.url));

const MESSAGES = [{ role: 'user', content: 'hi' }];

const platforms: Platform[] = [];

async function start(...options: Parameters<typeof Platform.start>): Promise<Platform> {
  const platform = await Platform.start(...options);
  platforms.push(platform);
  return platform;
}

afterEach(async () => {
  for (const platform of platforms.splice(0)) await platform.stop();
});

/** The key that the first start prints. */
function printedKey(platform: Platform): string {
  return /API key +(SVC_INFERENCE_KEY_\S+)/.exec(platform.service.output)?.[1] ?? '';
}

describe('the first start', () => {
  it('prints a key that works and has 10 USD; later starts keep everything and print no secret', async () => {
    const platform = await start({ isFirstStart: true });
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
  });

  it('makes an operator token that only its owner can read', async () => {
    const platform = await start({ env: { SVC_OPERATOR_TOKEN: '' } });
    const path = join(platform.dataDir, 'operator-token');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const headers = { authorization: `Bearer ${(await readFile(path, 'utf8')).trim()}` };
    expect((await fetch(`${platform.operatorUrl}/ledger/audit`, { headers })).status).toBe(200);
  });

  it('has the simulator answer for a catalogue that counts on it', async () => {
    const platform = await start({
      models: [{ id: 'simulated', backends: [{ kind: 'simulator', model: 'm' }] }],
    });
    const response = await platform.chat(printedKey(platform), { model: 'simulated', messages: MESSAGES });
    expect(response.status).toBe(200);
  });
});

describe('npm start', () => {
  it('is stopped by the SIGTERM that its npm gets, and leaves nothing behind', async () => {
    const platform = await start();
    const env = { ...process.env, ...platform.env, SVC_DATA_DIR: join(platform.dataDir, '..', 'npm') };
    const npm = spawn('npm', ['start'], {
      cwd: REPOSITORY,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    let output = '';
    for (const stream of [npm.stdout, npm.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    const ended = once(npm, 'close');
    try {
      await expect.poll(() => output, { timeout: 110_000 }).toMatch(/API {2,}http/);
      const url = /API {2,}(http:\S+)/.exec(output)?.[1] ?? '';
      npm.kill('SIGTERM');
      await ended;
      await expect(fetch(`${url}/models`)).rejects.toThrow('fetch failed');
    } finally {
      // Nothing of its group is left where all went well.
      try {
        if (npm.pid) process.kill(-npm.pid, 'SIGKILL');
      } catch {
        // As it should be.
      }
    }
  }, 180_000);
});

describe('a start that can not be', () => {
  it('says in one line that Node is too old', async () => {
    const script = "Object.defineProperty(process.versions, 'node', { value: '20.20.2' })";
    const old = `--import=data:text/javascript,${encodeURIComponent(script)}`;
    const service = RunningProcess.spawn({ main: MAIN, env: { NODE_OPTIONS: old } });
    await eventually('it has ended', () => service.exitCode !== null);
    expect([service.exitCode, service.output]).toEqual([
      1,
      expect.stringMatching(/^This needs Node 26[^\n]+\n$/),
    ]);
  });

  it('says in one line that a port is taken', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const fault = await start({ env: { PORT: String(port) } }).catch(String);
    server.close();
    expect(fault).toMatch(new RegExp(`it ended with 1:\\s+Port ${port} is taken\\.[^\\n]*\\n$`));
  });

  it('names every fault of the catalogue', async () => {
    const catalogText =
      'models: [{ id: a, name: A, contextTokens: -1, maxCompletionTokens: 1, pricing: { input: 1 } }]\ntiers: {}\n';
    const fault = await start({ catalogText }).catch(String);
    expect(fault).toMatch(/it ended with 1:/);
    expect(fault).toContain('models.0.contextTokens');
    expect(fault).toContain('models.0.pricing.output');
  });

  it('refuses an operator token file that was cut short', { timeout: 120_000 }, async () => {
    const platform = await start({ env: { SVC_OPERATOR_TOKEN: '' } });
    expect(await platform.service.stop()).toBe(0);
    await writeFile(join(platform.dataDir, 'operator-token'), '\n');
    const fault = await platform.restart().then(() => 'it started', String);
    expect(fault).toMatch(/operator-token holds fewer than 32 characters/);
  });

  it('names every fault of the environment', async () => {
    const fault = await start({ env: { PORT: 'many', SVC_LOG_LEVEL: 'loud' } }).catch(String);
    expect(fault).toMatch(/it ended with 1:/);
    expect(fault).toContain('PORT:');
    expect(fault).toContain('SVC_LOG_LEVEL:');
  });

  it('says in one line that its folder can not be written to', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'svc-closed-'));
    await chmod(dir, 0o555);
    // Root may write anywhere.
    const uid = process.getuid?.() === 0 ? 65_534 : undefined;
    const env = { SVC_DATA_DIR: join(dir, 'data'), PORT: '0', OPERATOR_PORT: '0' };
    const service = RunningProcess.spawn({ main: MAIN, env, ...(uid !== undefined && { uid }) });
    expect(await service.ended()).toBe(1);
    expect(service.output).toBe(`No permission for ${join(dir, 'data')}\n`);
    await rm(dir, { recursive: true });
  });

  it('says in one line that its database can not be reached', async () => {
    const fault = await start({ env: { DATABASE_URL: 'postgres://svc:secret@127.0.0.1:1/svc' } }).catch(
      String,
    );
    expect(fault).toMatch(/it ended with 1:\s+The database at 127\.0\.0\.1:1 can not be used: [^\n]*\n$/);
    expect(fault).not.toContain('secret');
  });

  it('leaves a running instance on the same data alone', async () => {
    const platform = await start();
    const fault = await start({ env: { SVC_DATA_DIR: platform.dataDir } }).catch(String);
    expect(fault).toMatch(/it ended with 1:/);
    expect(fault).toContain(platform.dataDir);
    const response = await platform.chat(printedKey(platform), { model: 'test-model', messages: MESSAGES });
    expect(response.status).toBe(200);
  });
});

describe('SIGTERM', () => {
  it('lets streams finish, refuses what is new, and ends with 0', async () => {
    const platform = await start();
    const { apiKey } = await platform.account();
    const messages = [{ role: 'user', content: 'go [[sim tokens=100 itl-ms=10]]' }];
    const response = await platform.chat(apiKey, { model: 'test-model', messages, stream: true });
    const stopped = platform.service.stop();
    await eventually('new requests are refused', async () => {
      const refused = await platform
        .chat(apiKey, { model: 'test-model', messages: MESSAGES })
        .catch(() => undefined);
      return refused === undefined || refused.status === 503;
    });
    const { chunks, done } = await chunksOf(response);
    expect(done).toBe(true);
    expect(chunks.at(-1)?.usage?.completion_tokens).toBe(100);
    expect(await stopped).toBe(0);
  });

  it('cuts streams at its deadline, and bills what they delivered', async () => {
    const platform = await start({ env: { SVC_DRAIN_MS: '300' } });
    const { id, apiKey } = await platform.account();
    const messages = [{ role: 'user', content: 'go [[sim tokens=8000 itl-ms=10]]' }];
    const response = await platform.chat(apiKey, { model: 'test-model', messages, stream: true });
    const text = response.text().catch(() => '');
    expect(await platform.service.stop()).toBe(0);
    await text;
    await platform.restart();
    expect(Number((await platform.balances(id)).usd)).toBeLessThan(10);
    expect(await platform.audit()).toMatchObject({ body: { ok: true } });
  });
});
