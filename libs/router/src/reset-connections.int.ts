import type { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { Catalog } from '@svc/catalog';
import { CatalogFile } from '@svc/contracts/catalog';
import type { ChatCall, Served } from '@svc/contracts/inference';
import { TunnelProxy, localIdentity } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Reply, TestBackend, replying } from '../test/backend.js';
import { catalogFile, collect, patientRouter } from '../test/routing.js';
import type { LocalRouter } from './local-router.js';

const ANSWER = { choices: [{ index: 0, message: { content: 'hi' }, finish_reason: 'stop' }] };
const close: Reply = (response) => void response.socket?.destroy();
/** Without a close of TLS or TCP. */
const hardReset: Reply = (response) => {
  const { socket } = response;
  (socket as { _parent?: Socket } | null)?._parent?.resetAndDestroy();
};

let backend: TestBackend;
let router: LocalRouter;
let stop: () => Promise<void>;

/** A router whose only backend has this kind. */
async function given(kind: string): Promise<void> {
  backend = await TestBackend.start(replying(ANSWER));
  const entry = { url: backend.url, model: 'x', kind };
  ({ router, stop } = patientRouter(new Catalog(catalogFile({ id: 'm', backends: [entry] }))));
}

const origin = { requestId: 'r', accountId: 'a', model: 'm' };
const CHAT: ChatCall = { ...origin, body: [Buffer.from('{"messages":[]}')] };

/** A router of a network with these nodes. */
function givenNodes(...nodes: readonly object[]): void {
  const file = catalogFile({ id: 'm', backends: [{ url: 'http://127.0.0.1:1', model: 'm' }] });
  const networks = { local: { family: 'evm', nodes } };
  ({ router, stop } = patientRouter(new Catalog(CatalogFile.parse({ ...file, cryptoRpc: { networks } }))));
}

const nodeCall = (isSend = false): Promise<Served<string>> => {
  const body = [Buffer.from('{"id":0,"method":"x"}')];
  return router.nodes.call({ requestId: 'r', accountId: 'a', network: 'local', body, isSend }, signal);
};
const signal = new AbortController().signal;

/** Closes the connection of the next request, and responds to all others. */
const resetOnce = (): Promise<void> => endOnce(close);

/** Ends the connection of the next request in this way, and responds to all others. */
async function endOnce(end: Reply): Promise<void> {
  // The connection of the last request is free after this turn.
  await turn();
  const { reply } = backend;
  backend.reply = (...parts) => {
    backend.reply = reply;
    return end(...parts);
  };
}

afterEach(async () => {
  await stop();
  await backend.close();
});

describe('the only backend of a model', () => {
  beforeEach(() => given('openai'));

  it('is called on a new connection if it closes the one that was kept open', async () => {
    await router.complete(CHAT, signal);
    await resetOnce();
    expect(await router.complete(CHAT, signal)).toMatchObject({ retries: 0, body: JSON.stringify(ANSWER) });
    await router.complete(CHAT, signal);
    await resetOnce();
    expect(await collect(await router.stream(CHAT, signal))).toBe(JSON.stringify(ANSWER));
    expect(backend.requests.length).toBe(6);
  });

  it('gets a job once, since it may have begun before the connection ended', async () => {
    await router.complete(CHAT, signal);
    await resetOnce();
    const order = { prompt: 'x', seconds: 4, fields: {}, others: {} };
    await expect(router.jobs.submit({ ...origin, order }, signal)).rejects.toMatchObject({
      code: 'INFERENCE_FAILED',
    });
    expect(backend.requests.length).toBe(2);
  });
});

describe('the only node of a network', () => {
  beforeEach(async () => {
    backend = await TestBackend.start(replying({ id: 0, result: 1 }));
    givenNodes({ url: backend.url });
  });

  it('gets a transaction once, and a read again', async () => {
    await nodeCall();
    await resetOnce();
    await nodeCall();
    expect(backend.requests.length).toBe(3);
    await nodeCall();
    await resetOnce();
    await expect(nodeCall(true)).rejects.toMatchObject({
      code: 'INFERENCE_FAILED',
    });
    expect(backend.requests.length).toBe(5);
  });
});

describe('two nodes of a network', () => {
  it('share a read: if one closes its connection, the other one is called', async () => {
    const other = await TestBackend.start(replying({ id: 0, result: 2 }));
    backend = await TestBackend.start(replying({ id: 0, result: 1 }));
    givenNodes({ url: backend.url, weight: 1 }, { url: other.url, weight: 1e-9 });
    try {
      await nodeCall();
      await resetOnce();
      expect(await nodeCall()).toMatchObject({
        retries: 1,
      });
      expect([backend.requests.length, other.requests.length]).toEqual([2, 1]);
    } finally {
      await other.close();
    }
  });
});

describe.each([
  ['directly', false],
  ['through a tunnel of the egress proxy', true],
])('a provider that is called over TLS, %s', (_, isProxied) => {
  let proxy: TunnelProxy;
  let distrust: () => void;

  beforeEach(async () => {
    const identity = await localIdentity();
    distrust = identity.trust();
    proxy = await TunnelProxy.start('password');
    backend = await TestBackend.start(replying(ANSWER), identity);
    const catalog = new Catalog(catalogFile({ id: 'm', backends: [{ url: backend.url, model: 'x' }] }));
    ({ router, stop } = patientRouter(catalog, isProxied ? { ROUTER_PROXY_URL: proxy.url } : {}));
  });
  afterEach(() => {
    distrust();
    proxy.close();
  });

  it.each([
    ['closes', close],
    ['resets', hardReset],
  ])('is called on a new connection if it %s the one that was kept open', async (_how, end) => {
    await router.complete(CHAT, signal);
    await endOnce(end);
    expect(await router.complete(CHAT, signal)).toMatchObject({ retries: 0, body: JSON.stringify(ANSWER) });
    expect(backend.requests.length).toBe(3);
    expect(proxy.tunnels.length).toBe(isProxied ? 2 : 0);
  });

  it.each([
    ['closes', close],
    ['resets', hardReset],
  ])('is called once if it %s a new connection, which the request may have ended', async (_how, end) => {
    await endOnce(end);
    await expect(router.complete(CHAT, signal)).rejects.toMatchObject({ code: 'INFERENCE_FAILED' });
    expect(backend.requests.length).toBe(1);
  });
});
