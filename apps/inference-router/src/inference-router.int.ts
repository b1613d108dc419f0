import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HttpRouter, routerClientConfig } from '@svc/router';
import { RunningProcess } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const TOKEN = 'internal-token-of-the-tests-of-the-router';

const CATALOG = `
models:
  - id: m
    name: m
    contextTokens: 1000
    maxCompletionTokens: 100
    pricing: { input: 1, output: 1 }
    backends: [{ url: "http://127.0.0.1:9/v1", model: m }]
tiers: { L: { standard: { requestsPerMinute: 1, tokensPerMinute: 1 } } }
`;

describe('inference-router', () => {
  let folder: string;
  let service: RunningProcess;
  let url: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-router-'));
    await writeFile(join(folder, 'catalog.yaml'), CATALOG);
    const env = { PORT: '0', ROUTER_TOKEN: TOKEN, SVC_CATALOG: join(folder, 'catalog.yaml') };
    const { service: started, match } = await RunningProcess.start(
      { main: MAIN, env },
      /listening on (http:\S+)/,
    );
    service = started;
    url = match[1] ?? '';
  });
  afterAll(async () => {
    assert.equal(await service.stop(), 0);
    await rm(folder, { recursive: true });
  });

  it('is live and ready', async () => {
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
  });

  it('calls the backends of its catalogue for callers with the token', async () => {
    const settings = z.object(routerClientConfig).parse({ ROUTER_URL: url });
    const signal = new AbortController().signal;
    const call = { requestId: 'r', accountId: 'a', model: 'm', body: [Buffer.from('{}')] };
    const ask = async (token: string): Promise<unknown> => {
      const router = new HttpRouter({ ...settings, token });
      const failure: unknown = await router.complete(call, signal).catch((error: unknown) => error);
      await router.close();
      return failure;
    };
    expect(await ask(TOKEN)).toMatchObject({ code: 'MODEL_OFFLINE' });
    expect(await ask(`${TOKEN}x`)).toMatchObject({ code: 'INFERENCE_FAILED' });
  });

  it('reports all invalid settings at once', async () => {
    const faulty = RunningProcess.spawn({ main: MAIN, env: { PORT: 'x', ROUTER_TOKEN: 'short' } });
    expect(await faulty.ended()).toBe(1);
    expect(faulty.output).toMatch(/PORT/);
    expect(faulty.output).toMatch(/ROUTER_TOKEN/);
  });
});
