import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import type { SimulatorOptions } from './engine/options.js';
import { type Simulator, startSimulator } from './start-simulator.js';

let simulator: Simulator | undefined;
afterEach(() => simulator?.close());

async function start(options: Partial<SimulatorOptions>): Promise<Simulator> {
  simulator = await startSimulator(options);
  return simulator;
}

function post(url: string, body: object, signal?: AbortSignal): Promise<Response> {
  const messages = [{ role: 'user', content: 'Tell me a story' }];
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: 'm', messages, ...body }),
    ...(signal && { signal }),
  });
}

/** Polls, since the server notices a closed connection a little later. */
async function until(isTrue: () => boolean): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!isTrue()) {
    if (Date.now() > deadline) throw new Error('did not happen within 10 s');
    await sleep(5);
  }
}

test('a client that leaves a stream is logged with the number of tokens it received', async () => {
  const { url, cancellations, requests, stats } = await start({ itlMs: 60_000 });
  const abort = new AbortController();
  const response = await post(url, { stream: true, n: 2 }, abort.signal);
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  while ((text.match(/"content":"[^"]/g) ?? []).length < 2) text += (await reader?.read())?.value ?? '';
  abort.abort();
  await until(() => cancellations().length === 1);
  expect(cancellations()[0]).toMatchObject({ model: 'm', stream: true, phase: 'decode', tokensDelivered: 2 });
  await until(() => stats().inFlight === 0);
  expect(requests()[0]).toMatchObject({ outcome: 'cancelled', id: cancellations()[0]?.id });
  expect(stats()).toMatchObject({ cancelled: 1, served: 0 });
});

test('a client that leaves before the first token is logged in prefill', async () => {
  for (const stream of [true, false]) {
    const { url, cancellations, stats } = await start({ ttftMs: 60_000 });
    const abort = new AbortController();
    const response = post(url, { stream }, abort.signal).then((answer) => answer.text());
    await until(() => stats().inFlight === 1);
    abort.abort();
    await expect(response).rejects.toThrow('aborted');
    await until(() => cancellations().length === 1);
    expect(cancellations()[0]).toMatchObject({ stream, phase: 'prefill', tokensDelivered: 0 });
    await simulator?.close();
  }
});

test('a client that leaves a request without a stream is logged with the tokens decoded so far', async () => {
  const { url, cancellations, stats } = await start({ itlMs: 60_000 });
  const abort = new AbortController();
  const response = post(url, { stream: false }, abort.signal);
  await until(() => stats().inFlight === 1);
  abort.abort();
  await expect(response).rejects.toThrow('aborted');
  await until(() => cancellations().length === 1);
  expect(cancellations()[0]).toMatchObject({ stream: false, phase: 'decode', tokensDelivered: 1 });
});

test('a client that leaves the queue is logged as queued and frees its place', async () => {
  const { url, cancellations, stats } = await start({ maxParallel: 1, maxQueue: 5 });
  const holding = new AbortController();
  const held = post(url, { sim: { ttftMs: 60_000 } }, holding.signal).catch(() => undefined);
  await until(() => stats().inFlight === 1);
  const leaving = new AbortController();
  const left = post(url, {}, leaving.signal).catch(() => undefined);
  await until(() => stats().queued === 1);
  leaving.abort();
  await until(() => stats().queued === 0);
  expect(cancellations()[0]).toMatchObject({ phase: 'queued', tokensDelivered: 0 });
  const next = post(url, {});
  await until(() => stats().queued === 1);
  holding.abort();
  expect((await next).status).toBe(200);
  expect(stats()).toMatchObject({ inFlight: 0, queued: 0, peakInFlight: 1 });
  await Promise.all([held, left]);
});

test.each([503, 429])(
  'a request that finds the queue full is rejected with %i and Retry-After',
  async (status) => {
    const { url, stats } = await start({ maxParallel: 1, maxQueue: 1, queueFullStatus: status });
    const abort = new AbortController();
    const waiting = [post(url, { sim: { ttftMs: 60_000 } }, abort.signal)];
    await until(() => stats().inFlight === 1);
    waiting.push(post(url, {}, abort.signal));
    await until(() => stats().queued === 1);
    const refused = await post(url, {});
    expect(refused.status).toBe(status);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(await refused.json()).toMatchObject({
      error: { message: expect.stringContaining('overloaded') as string },
    });
    abort.abort();
    await Promise.allSettled(waiting);
  },
);

test('a response never comes earlier than its configured times', async () => {
  const { url } = await start({ ttftMs: 30, itlMs: 5 });
  const start_ = performance.now();
  await (await post(url, { stream: true, max_tokens: 5 })).text();
  expect(performance.now() - start_).toBeGreaterThanOrEqual(50);
  const second = performance.now();
  await (await post(url, { max_tokens: 5 })).text();
  expect(performance.now() - second).toBeGreaterThanOrEqual(50);
});

test('a client that reads slowly gets a long stream completely', async () => {
  const { url, cancellations } = await start({ outputTokens: 60_000 });
  const response = await post(url, { stream: true });
  await sleep(50);
  const text = await response.text();
  expect(text.match(/^data: \{/gm)).toHaveLength(60_002);
  expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  expect(cancellations()).toEqual([]);
});

test('the log holds each request as it arrived, until it is cleared', async () => {
  const { url, requests } = await start({});
  const body = '{ "model":"m",  "messages":[{"role":"user","content":"h\\u00e9llo 日本"}] }';
  await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    body,
    headers: { authorization: 'Bearer sk-secret-9876', 'x-request-id': 'r1' },
  });
  const logged = (await (await fetch(`${url}/sim/requests`)).json()) as { data: unknown[] };
  expect(logged.data).toMatchObject([
    {
      body,
      bodyBytes: Buffer.byteLength(body),
      outcome: 'served',
      status: 200,
      headers: { authorization: '***9876', 'x-request-id': 'r1' },
    },
  ]);
  expect((await fetch(`${url}/sim/log`, { method: 'DELETE' })).status).toBe(204);
  expect(requests()).toEqual([]);
  expect(await (await fetch(`${url}/healthz`)).json()).toEqual({ status: 'ok' });
  expect(await (await fetch(`${url}/sim/stats`)).json()).toMatchObject({ served: 0, inFlight: 0, queued: 0 });
});

test('closing ends open streams without logging a cancellation', async () => {
  const { url, cancellations, close } = await start({ itlMs: 60_000 });
  const response = await post(url, { stream: true });
  const text = response.text();
  await Promise.all([close(), expect(text).rejects.toThrow('terminated')]);
  expect(cancellations()).toEqual([]);
});
