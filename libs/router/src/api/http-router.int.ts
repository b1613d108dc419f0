import type { ServerResponse } from 'node:http';
import { Catalog, CatalogModule } from '@svc/catalog';
import { PROBLEM_TRAILER, encodeServedBy } from '@svc/contracts/inference';
import type { Problem } from '@svc/contracts/problems';
import { routes } from '@svc/api';
import { InternalToken, type Running, createLogger, serve } from '@svc/runtime';
import { TestServer } from '@svc/testing';
import { Module, type DynamicModule } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TestBackend, replying, silent } from '../../test/backend.js';
import { routerConformance } from '../../test/inference-router.conformance.js';
import { backendJobConformance } from '../../test/backend-jobs.conformance.js';
import { comfyConformance } from '../../test/comfyui.conformance.js';
import { imageConformance } from '../../test/images.conformance.js';
import type { StartRouter } from '../../test/router-fixture.js';
import { speechConformance } from '../../test/speech.conformance.js';
import { transcriptionConformance } from '../../test/transcription.conformance.js';
import { catalogOf, deadUrl, eventually, quickSettings } from '../../test/routing.js';
import { RouterApiModule } from '../router-api.module.js';
import { HttpRouter } from './http-router.js';

const ANSWER = '{"choices":[{}]}';
const TOKEN = 'internal-token-of-the-tests-of-the-router';

/** A router as a separate process serves it. */
async function served(catalog: Catalog): Promise<Running> {
  class Root {}
  Module({})(Root);
  const module: DynamicModule = {
    module: Root,
    imports: [
      CatalogModule.of(catalog),
      RouterApiModule.with(quickSettings(), new InternalToken(TOKEN), { url: undefined, token: '' }),
    ],
  };
  return serve({
    module,
    logger: createLogger('silent'),
    api: { host: '127.0.0.1', port: 0 },
    drainMs: 5_000,
  });
}

const clientOf = (url: string): HttpRouter =>
  new HttpRouter({ ...quickSettings(), ROUTER_URL: url, token: TOKEN });

const start: StartRouter = async (catalog) => {
  const running = await served(catalog);
  const router = clientOf(running.apiUrl);
  return {
    router,
    stop: async () => {
      await router.close();
      await running.stop();
    },
  };
};

routerConformance('HttpRouter', start);
imageConformance('HttpRouter', start);
comfyConformance('HttpRouter', start);
backendJobConformance('HttpRouter', start);
speechConformance('HttpRouter', start);
transcriptionConformance('HttpRouter', start);

describe('a router in another process', () => {
  const call = { requestId: 'r-1', accountId: 'a', model: 'm', body: [Buffer.from('{}')] };
  const never = new AbortController().signal;
  let backend: TestBackend;
  let running: Running[];
  let router: HttpRouter;

  beforeEach(async () => {
    backend = await TestBackend.start(replying({ choices: [{}] }));
    running = [await served(catalogOf([backend.url])), await served(catalogOf([backend.url]))];
    router = clientOf(running.map(({ apiUrl }) => apiUrl).join(','));
  });
  afterEach(async () => {
    await router.close();
    for (const each of running) await each.stop();
    await backend.close();
  });

  it('rejects callers without the internal token', async () => {
    const response = await fetch(`${running[0]?.apiUrl}${routes.infer.path}`, {
      method: 'POST',
      headers: { 'content-type': routes.infer.bodyType, authorization: `Bearer ${TOKEN}x` },
      body: '{}',
    });
    expect(response.status).toBe(401);
    expect(backend.requests).toEqual([]);
  });

  it('rejects an invalid call without calling a backend', async () => {
    const headers = { 'content-type': routes.infer.bodyType, authorization: `Bearer ${TOKEN}` };
    const ask = (more: Record<string, string>): Promise<Response> =>
      fetch(`${running[0]?.apiUrl}${routes.infer.path}`, {
        method: 'POST',
        headers: { ...headers, ...more },
        body: '{}',
      });
    expect((await ask({})).status).toBe(400);
    expect((await ask({ 'x-svc-model': '%', 'x-svc-stream': 'true', 'x-request-id': 'r' })).status).toBe(400);
    expect((await ask({ 'content-type': 'application/json' })).status).toBe(415);
    expect(backend.requests).toEqual([]);
  });

  it('is called elsewhere while one process stops, and finishes its open calls', async () => {
    const goOn: (() => void)[] = [];
    backend.reply = (response) => {
      goOn.push(() => void response.end(ANSWER));
    };
    const underWay = Promise.all([router.complete(call, never), router.complete(call, never)]);
    await eventually('both are asked', () => backend.requests.length === 2);
    const stopped = running[0]?.stop();
    backend.reply = replying({ choices: [{}] });
    for (let round = 0; round < 10; round += 1)
      expect(await router.complete(call, never)).toMatchObject({ retries: 0 });
    for (const end of goOn) end();
    expect(await underWay).toMatchObject([{ body: ANSWER }, { body: ANSWER }]);
    await stopped;
  });

  it('has the calls of all processes in its report of the backends, and why one is called last', async () => {
    const goOn: (() => void)[] = [];
    backend.reply = (response) => {
      goOn.push(() => void response.end(ANSWER));
    };
    const underWay = Promise.all([router.complete(call, never), router.complete(call, never)]);
    await eventually('both are asked', () => backend.requests.length === 2);
    const [row] = (await router.states.report()).backends;
    expect(row).toMatchObject({ model: 'm', state: 'up', reason: null, inFlight: 2, waiting: 0 });
    for (const end of goOn) end();
    await underWay;
    await backend.close();
    await expect(router.complete(call, never)).rejects.toMatchObject({ code: 'MODEL_OFFLINE' });
    const { routers, backends } = await router.states.report();
    expect(routers).toBe(2);
    expect(backends).toMatchObject([{ state: 'cooling', inFlight: 0 }]);
    expect(backends[0]?.reason).toMatch(/^Called last for \d+ s more: .*ECONNREFUSED/);
  });

  it('reports the backends of the processes that respond, and fails with UNAVAILABLE if none does', async () => {
    await running[0]?.stop();
    expect(await router.states.report()).toMatchObject({ routers: 1, backends: [{ name: 'backend-1' }] });
    await running[1]?.stop();
    await expect(router.states.report()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });

  it('fails with MODEL_OFFLINE when no process is reachable', async () => {
    const { origin } = new URL(await deadUrl());
    const lost = clientOf(origin);
    await expect(lost.complete(call, never)).rejects.toMatchObject({ code: 'MODEL_OFFLINE' });
    await lost.close();
  });

  it('closes the backend call through both processes when its caller disconnects', async () => {
    backend.reply = silent;
    const leaving = new AbortController();
    const completion = router.complete(call, leaving.signal);
    await eventually('the backend is asked', () => backend.requests.length === 1);
    leaving.abort();
    await expect(completion).rejects.toMatchObject({ code: 'INFERENCE_FAILED' });
    await eventually('the backend is let go', () => backend.cut === 1);
  });
});

describe('a router that fails after its response has begun', () => {
  const CHUNK = 'data: {"choices":[{"index":0,"delta":{"content":"hi"}}]}\n\n';
  const call = { requestId: 'r-1', accountId: 'a', model: 'm', body: [Buffer.from('{}')] };
  const never = new AbortController().signal;

  /**
   * The text that a client receives if the router does this after the first chunk, and the resulting error.
   */
  async function streamed(
    fail: (response: ServerResponse) => void,
  ): Promise<{ text: string; code?: string }> {
    let calls = 0;
    const server = await TestServer.start((request, response) => {
      if (request.url !== routes.infer.path) {
        response.end();
        return;
      }
      calls += 1;
      response.writeHead(200, { ...encodeServedBy({ backend: 'b', retries: 0 }), trailer: PROBLEM_TRAILER });
      response.write(CHUNK, () => fail(response));
    });
    // Two addresses, so that a retry would be possible.
    const router = clientOf(`${server.url},${server.url.replace('127.0.0.1', 'localhost')}`);
    let text = '';
    try {
      const { bytes } = await router.stream(call, never);
      for await (const parts of bytes) text += Buffer.concat(parts).toString();
      return { text };
    } catch (error) {
      return { text, code: (error as Problem).code };
    } finally {
      expect(calls).toBe(1);
      await router.close();
      await server.close();
    }
  }

  it('fails after delivering the chunks when the connection ends, without a retry', async () => {
    const cut = { text: CHUNK, code: 'INFERENCE_FAILED' };
    expect(await streamed((response) => void response.destroy())).toEqual(cut);
    expect(await streamed((response) => void response.socket?.resetAndDestroy())).toEqual(cut);
  });

  it('fails after delivering the chunks when it goes silent, without a retry', async () => {
    expect(await streamed(() => undefined)).toEqual({ text: CHUNK, code: 'REQUEST_TIMEOUT' });
  });

  it('leaves it to the reader to detect a stream that ends cleanly but too early', async () => {
    expect(await streamed((response) => void response.end())).toEqual({ text: CHUNK });
  });
});
