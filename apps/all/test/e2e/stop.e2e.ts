import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type IncomingMessage, get } from 'node:http';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { layServerData } from '@svc/storage/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { chunksOf, eventually } from '../response-bodies.js';
import { ownPlatform } from '../own-platform.js';
import { OPERATOR_TOKEN, type Platform } from '../platform.js';

const REPOSITORY = fileURLToPath(new URL('../../../..', import.meta.url));

const MESSAGES = [{ role: 'user', content: 'hi' }];

describe('npm start', () => {
  it('stops on the SIGTERM that npm receives, and leaves no process behind', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'svc-npm-start-'));
    onTestFinished(() => rm(dir, { recursive: true, force: true }));
    const env = { ...process.env, PORT: '0', OPERATOR_PORT: '0', SVC_DATA_DIR: join(dir, 'data') };
    await layServerData(env.SVC_DATA_DIR);
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
      // If all went well, its group is empty.
      try {
        if (npm.pid) process.kill(-npm.pid, 'SIGKILL');
      } catch {
        // Expected.
      }
    }
  }, 180_000);
});

/** On a connection of its own, as probes have. */
async function statusOf(url: string): Promise<number | undefined> {
  const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` };
  const [response] = (await once(get(url, { agent: false, headers }), 'response')) as [IncomingMessage];
  response.resume();
  return response.statusCode;
}

/**
 * The statuses that probes get until the process ends. Its ports vanish a moment before its end is seen, so
 * failures that no response follows do not count.
 */
async function probesUntil(platform: Platform, stopped: Promise<unknown>): Promise<object> {
  const { rootUrl, operatorUrl } = platform;
  const urls = { healthz: rootUrl, readyz: rootUrl, metrics: new URL(operatorUrl).origin };
  const statuses = { healthz: new Set<unknown>(), readyz: new Set<unknown>(), metrics: new Set<unknown>() };
  const process = { hasEnded: false };
  const end = stopped.finally(() => (process.hasEnded = true));
  let failures: [keyof typeof urls, string][] = [];
  // It is stopping once it is not ready.
  await eventually('it is not ready', async () => (await statusOf(`${rootUrl}/readyz`)) === 503);
  while (!process.hasEnded) {
    for (const name of ['healthz', 'readyz', 'metrics'] as const) {
      try {
        const status = await statusOf(`${urls[name]}/${name}`);
        for (const [earlier, failure] of failures) statuses[earlier].add(failure);
        failures = [];
        statuses[name].add(status);
      } catch (error) {
        failures.push([name, String(error)]);
      }
      await Promise.race([end, sleep(50)]);
    }
  }
  return Object.fromEntries(Object.entries(statuses).map(([name, found]) => [name, [...found]]));
}

describe('SIGTERM', () => {
  it('lets streams finish, refuses new requests, and exits with 0', async () => {
    const platform = await ownPlatform();
    const { apiKey } = await platform.account();
    // Long enough for each probe to be answered meanwhile, also on a busy machine.
    const messages = [{ role: 'user', content: 'go [[sim tokens=1500 itl-ms=10]]' }];
    const response = await platform.chat(apiKey, { model: 'test-model', messages, stream: true });
    const stopped = platform.service.stop();
    const probes = probesUntil(platform, stopped);
    await eventually('new requests are refused', async () => {
      const refused = await platform
        .chat(apiKey, { model: 'test-model', messages: MESSAGES })
        .catch(() => undefined);
      return refused === undefined || refused.status === 503;
    });
    const { chunks, done } = await chunksOf(response);
    expect(done).toBe(true);
    expect(chunks.at(-1)?.usage?.completion_tokens).toBe(1_500);
    expect(await stopped).toBe(0);
    expect(await probes).toEqual({ healthz: [200], readyz: [503], metrics: [200] });
  });

  it('cuts streams off at its deadline, and bills what they delivered', async () => {
    const platform = await ownPlatform({ env: { SVC_DRAIN_MS: '300' } });
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
