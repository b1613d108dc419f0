import type { Drain } from '@svc/contracts/inference';
import { InternalClient, createLogger } from '@svc/runtime';
import { TestServer } from '@svc/testing';
import { expect, it, onTestFinished } from 'vitest';
import { RemoteDrains } from './remote-drains.js';

const DRAIN: Drain = {
  model: 'm',
  name: 'a',
  state: 'draining',
  reason: 'New driver',
  since: '2026-11-27T00:00:00.000Z',
  until: null,
};

it('are known before the first call, and keep what a gateway said while none responds', async () => {
  let reply: { status: number; body: unknown } = { status: 200, body: { data: [DRAIN] } };
  let reads = 0;
  const gateway = await TestServer.start((_, response) => {
    reads += 1;
    response.statusCode = reply.status;
    response.setHeader('content-type', 'application/json').end(JSON.stringify(reply.body));
  });
  const client = new InternalClient({ url: gateway.url, token: 'token' });
  const heard: (readonly Drain[])[] = [];
  const end = await new RemoteDrains(client, createLogger('silent'), 1).follow((all) => heard.push(all));
  onTestFinished(async () => {
    end();
    await client.close();
    await gateway.close();
  });
  expect(heard[0]).toEqual([DRAIN]);

  reply = { status: 503, body: {} };
  const before = reads;
  await expect.poll(() => reads).toBeGreaterThan(before + 2);
  expect(new Set(heard.map((all) => all.length))).toEqual(new Set([1]));

  reply = { status: 200, body: { data: [] } };
  await expect.poll(() => heard.at(-1)).toEqual([]);
});

it('do not keep a router from its start while no gateway responds', async () => {
  const client = new InternalClient({ url: 'http://127.0.0.1:9', token: 'token' });
  const heard: unknown[] = [];
  const end = await new RemoteDrains(client, createLogger('silent'), 60_000).follow((all) => heard.push(all));
  onTestFinished(async () => {
    end();
    await client.close();
  });
  expect(heard).toEqual([]);
});
