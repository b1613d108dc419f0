import type { IncomingHttpHeaders } from 'node:http';
import { scrapedMetrics } from '@svc/telemetry';
import { TestServer } from '@svc/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { Catalog } from '@svc/catalog';
import type { BackendState } from '@svc/contracts/inference';
import { type Reply, TestBackend, replying, silent } from '../test/backend.js';
import { catalogFile, catalogOf, collect, quickRouter } from '../test/routing.js';
import type { LocalRouter } from './local-router.js';
import type { RouterSettings } from './router.config.js';

const TEST = { timeout: 60_000 };
const EVENTS =
  'data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';

let backends: TestBackend[] = [];
let router: LocalRouter;
let stop: () => Promise<void>;

afterEach(async () => {
  await stop();
  for (const backend of backends.splice(0)) await backend.close();
});

const chatsAt = (backend: TestBackend | undefined): number => backend?.requests.length ?? 0;

/** Responds like this after a time. */
const after =
  (ms: number, reply: Reply): Reply =>
  (response, request) =>
    void setTimeout(() => void reply(response, request), ms);

const works: Reply = (response) => void response.setHeader('content-type', 'text/event-stream').end(EVENTS);

interface Fleet {
  /** Whether each is as likely to be called; default: the first is preferred. */
  readonly isEven?: boolean;
  readonly settings?: Partial<RouterSettings>;
}

/** Starts a router whose model has these servers. */
async function given(
  replies: readonly Reply[],
  { isEven = false, settings = {} }: Fleet = {},
): Promise<void> {
  backends = await Promise.all(replies.map((reply) => TestBackend.start(reply)));
  const urls = backends.map(({ url }) => url);
  const even = urls.map((url) => ({ url, model: 'x' }));
  const catalog = isEven ? new Catalog(catalogFile({ id: 'm', backends: even })) : catalogOf(urls);
  ({ router, stop } = quickRouter(catalog, {
    ROUTER_FIRST_CHUNK_TIMEOUT_MS: 30_000,
    ROUTER_QUEUE_TIMEOUT_MS: 10_000,
    ROUTER_CHECK_MS: 1_000,
    ...settings,
  }));
  router.health.start();
}

/** The backend that responds to a stream. */
async function ask(accountId = 'a'): Promise<string> {
  const call = { requestId: 'r', accountId, model: 'm', body: [Buffer.from('{"n":1}')] };
  const stream = await router.stream(call, new AbortController().signal);
  await collect(stream);
  return stream.backend;
}

/** Many requests, a few at a time, by two accounts. Rejects if one fails. */
async function load(count: number, atOnce: number): Promise<string[]> {
  const names: string[] = [];
  let left = count;
  const client = async (accountId: string): Promise<void> => {
    while (left > 0) {
      left -= 1;
      names.push(await ask(accountId));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, (_, at) => client(`account-${at % 2}`)));
  return names;
}

async function rowOf(name: string): Promise<BackendState | undefined> {
  const { backends: rows } = await router.states.report();
  return rows.find((row) => row.name === name);
}

/** How often the first backend has paused for everyone. */
function pausesOfFirst(): number {
  const labels = 'svc_router_ejections_total{gen_ai_request_model="m",svc_backend="backend-1"';
  const lines = scrapedMetrics()
    .text.split('\n')
    .filter((line) => line.startsWith(labels));
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

const eight = (first: Reply): Reply[] => [first, ...Array.from({ length: 7 }, () => works)];

describe('of eight backends', () => {
  it('one that is killed fails no request', TEST, async () => {
    await given(eight(works), { isEven: true });
    await load(40, 8);
    const loading = load(400, 16);
    await backends[0]?.close();
    backends.shift();
    expect(await loading).toHaveLength(400);
    expect(await load(40, 8)).not.toContain('backend-1');
  });

  it('one that is dead is found by checks, before a request finds it', TEST, async () => {
    await given(eight(works));
    await backends[0]?.close();
    backends.shift();
    await expect.poll(async () => (await rowOf('backend-1'))?.state, { timeout: 30_000 }).toBe('cooling');
    const call = { requestId: 'r', accountId: 'a', model: 'm', body: [Buffer.from('{"n":1}')] };
    const { retries } = await router.stream(call, new AbortController().signal);
    expect(retries).toBe(0);
  });

  it('one that accepts and never answers costs only the requests that it has, once each', TEST, async () => {
    await given(eight(silent));
    for (const backend of backends.slice(0, 1)) backend.check = silent;
    const slow = await Promise.all([ask('a'), ask('b')]);
    expect(slow).not.toContain('backend-1');
    expect(await load(60, 6)).not.toContain('backend-1');
    expect(chatsAt(backends[0])).toBe(2);
    expect((await rowOf('backend-1'))?.reason).toContain('Its check gets no response');
  });

  it('one that answers its checks only is left after a while, for another one', TEST, async () => {
    const settings = { ROUTER_ATTEMPT_TIMEOUT_MS: 200 };
    await given(eight(silent), { settings });
    expect(await Promise.all([ask('a'), ask('b')])).not.toContain('backend-1');
    expect(await load(20, 4)).not.toContain('backend-1');
    expect(chatsAt(backends[0])).toBe(2);
  });

  it('one that has become ten times slower pauses, and no request fails', TEST, async () => {
    await given(
      eight(works).map((_, at) => after(at === 0 ? 1_000 : 100, works)),
      { isEven: true },
    );
    const isOut = async (): Promise<boolean> => {
      await load(40, 16);
      return (await rowOf('backend-1'))?.state === 'cooling';
    };
    await expect.poll(isOut, { timeout: 50_000 }).toBe(true);
    expect((await rowOf('backend-1'))?.reason).toContain('begins its responses in');
  });

  it('one that fails half of its requests pauses for everyone, and no request fails', TEST, async () => {
    let count = 0;
    const half: Reply = (response, request) => {
      count += 1;
      return (count % 2 === 0 ? works : replying({}, 500))(response, request);
    };
    // A short pause, so that it gets further requests, and half of them fail.
    await given(eight(half), { isEven: true, settings: { ROUTER_COOL_DOWN_MS: 1 } });
    const before = pausesOfFirst();
    const hasPaused = async (): Promise<boolean> => {
      await load(80, 4);
      return pausesOfFirst() > before;
    };
    await expect.poll(hasPaused, { timeout: 50_000 }).toBe(true);
  });
});

describe('a backend that pauses', () => {
  it('is tried by one request at a time after its pause, and is back when that succeeds', TEST, async () => {
    let reply: Reply = replying({}, 502);
    await given([(...of) => reply(...of), works], { settings: { ROUTER_COOL_DOWN_MS: 1 } });
    expect(await ask()).toBe('backend-2');
    const held: (() => void)[] = [];
    reply = (response, request) => void held.push(() => void works(response, request));
    await new Promise((resolve) => setTimeout(resolve, 20));
    const trial = ask();
    await expect.poll(() => held.length).toBe(1);
    expect(await load(10, 5)).not.toContain('backend-1');
    held[0]?.();
    expect(await trial).toBe('backend-1');
    reply = works;
    expect(new Set(await load(10, 5))).toEqual(new Set(['backend-1']));
  });

  it.each([
    ['seconds', { 'retry-after': '60' }],
    ['milliseconds', { 'retry-after-ms': '60000' }],
    ['a date', { 'retry-after': new Date(Date.now() + 3_600_000).toUTCString() }],
  ])('as long as it has asked for in %s is called last', TEST, async (_, headers) => {
    const busy: Reply = (response) => void response.writeHead(429, headers).end('{}');
    await given([busy, works], { settings: { ROUTER_COOL_DOWN_MS: 1 } });
    expect(await load(20, 1)).not.toContain('backend-1');
    expect(chatsAt(backends[0])).toBe(1);
    expect((await rowOf('backend-1'))?.reason).toContain('Retry-After');
  });

  it('is called like the others while most of them pause', TEST, async () => {
    await given([replying({}, 502), replying({}, 502), works]);
    expect(await ask()).toBe('backend-3');
    expect([chatsAt(backends[0]), chatsAt(backends[1])]).toEqual([1, 1]);
    expect(await ask()).toBe('backend-3');
    expect([chatsAt(backends[0]), chatsAt(backends[1])]).toEqual([2, 2]);
  });
});

const CHECKS = [
  ['with', {}],
  ['without', { healthPath: false }],
] as const;

it.each(CHECKS)('a full backend %s checks of its health is called last', TEST, async (_with, checks) => {
  let waiting = 5;
  const metrics = await TestServer.start((request, response) => {
    if (request.url === '/metrics') response.end(`vllm:num_requests_waiting{engine="0"} ${waiting}\n`);
    else response.setHeader('content-type', 'text/event-stream').end(EVENTS);
  });
  backends = [await TestBackend.start(works)];
  const entries = [
    { url: `${metrics.url}/v1`, model: 'x', loadPath: '/metrics', ...checks },
    { url: backends[0]?.url, model: 'x', weight: 1e-9 },
  ];
  ({ router, stop } = quickRouter(new Catalog(catalogFile({ id: 'm', backends: entries }))));
  router.health.start();
  const answeredBy = async (): Promise<string> => ask();
  await expect.poll(answeredBy, { timeout: 20_000 }).toBe('backend-2');
  expect(await rowOf('backend-1')).toMatchObject({ state: 'full' });
  waiting = 0;
  await expect.poll(answeredBy, { timeout: 20_000 }).toBe('backend-1');
  await metrics.close();
});

it('a fault of all backends adds few calls to those under way', TEST, async () => {
  const held: (() => void)[] = [];
  const fails: Reply = (response, request) => void held.push(() => void replying({}, 502)(response, request));
  await given(
    Array.from({ length: 4 }, () => fails),
    { isEven: true },
  );
  const results = Promise.allSettled(Array.from({ length: 40 }, () => ask()));
  await expect.poll(() => held.length).toBe(40);
  const answer = setInterval(() => held.splice(0).forEach((each) => each()), 20);
  await results;
  clearInterval(answer);
  const sent = backends.reduce((sum, backend) => sum + chatsAt(backend), 0);
  expect(sent).toBeLessThan(2 * 40);
});

it('a model with one backend has no checks', TEST, async () => {
  await given([works], { settings: { ROUTER_CHECK_MS: 1 } });
  for (let round = 0; round < 5; round += 1) await ask();
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(backends[0]?.checks).toBe(0);
});

describe('a check of the API of a provider', () => {
  const KEY = 'key-of-the-provider';

  /** Starts two backends of this kind whose checks are kept, with responses as of a provider. */
  async function hosted(kind: string, more: object): Promise<IncomingHttpHeaders[]> {
    const checks: IncomingHttpHeaders[] = [];
    backends = await Promise.all([works, works].map((reply) => TestBackend.start(reply)));
    for (const backend of backends)
      backend.check = (response, request) => {
        checks.push(request.headers);
        response.end('{}');
      };
    const entries = backends.map(({ url }) => ({ kind, url, model: 'x', apiKeyEnv: 'KEY', ...more }));
    const settings = { ROUTER_CHECK_MS: 1, secret: () => KEY };
    ({ router, stop } = quickRouter(new Catalog(catalogFile({ id: 'm', backends: entries })), settings));
    router.health.start();
    return checks;
  }

  it.each([
    ['anthropic', { 'x-api-key': KEY, 'anthropic-version': '2023-06-01' }],
    ['gemini', { 'x-goog-api-key': KEY }],
    ['openai', { authorization: `Bearer ${KEY}` }],
  ])('has the headers of a call of the kind %s, and no other key', TEST, async (kind, headers) => {
    const checks = await hosted(kind, { healthPath: '/v1/models' });
    await expect.poll(() => checks.length, { timeout: 20_000 }).toBeGreaterThan(0);
    expect(checks[0]).toMatchObject(headers);
    expect(JSON.stringify(checks[0]).split(KEY)).toHaveLength(2);
    expect(checks[0]).not.toHaveProperty('content-type');
  });

  it.each(['anthropic', 'gemini'])('is not made of the kind %s without a path', TEST, async (kind) => {
    const checks = await hosted(kind, {});
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    expect([checks, ...backends.map(({ requests }) => requests)]).toEqual([[], [], []]);
  });
});
