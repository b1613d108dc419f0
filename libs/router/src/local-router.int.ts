import { Catalog } from '@svc/catalog';
import type { ChunkStream } from '@svc/contracts/inference';
import { scrapedMetrics } from '@svc/telemetry';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type BackendRequest, type Reply, TestBackend, replying } from '../test/backend.js';
import { routerConformance } from '../test/inference-router.conformance.js';
import { backendJobConformance } from '../test/backend-jobs.conformance.js';
import { comfyConformance } from '../test/comfyui.conformance.js';
import { imageConformance } from '../test/images.conformance.js';
import { RouterFixture } from '../test/router-fixture.js';
import { speechConformance } from '../test/speech.conformance.js';
import { transcriptionConformance } from '../test/transcription.conformance.js';
import { catalogFile, catalogOf, collect, eventually, quickRouter } from '../test/routing.js';
import { SerialisedRouter } from '../test/serialised-router.js';
import type { RouterPorts } from './api/router-ports.js';

routerConformance('LocalRouter', (catalog) => quickRouter(catalog));

routerConformance('LocalRouter behind a wire', (catalog) => {
  const { router, stop } = quickRouter(catalog);
  return { router: new SerialisedRouter(router), stop };
});

imageConformance('LocalRouter', (catalog) => quickRouter(catalog));
comfyConformance('LocalRouter', (catalog) => quickRouter(catalog));
backendJobConformance('LocalRouter', (catalog) => quickRouter(catalog));
speechConformance('LocalRouter', (catalog) => quickRouter(catalog));
transcriptionConformance('LocalRouter', (catalog) => quickRouter(catalog));

describe('the slots of a backend', () => {
  let backend: TestBackend;
  let catalog: Catalog;
  let router: RouterPorts;
  let stop: () => Promise<void>;

  const entry = (members: object): object => ({ url: backend.url, model: 'x', ...members });

  const offer = (...models: readonly { id: string; backends: readonly object[] }[]): void =>
    catalog.replace(catalogFile(...models));

  const ask = (model = 'm', accountId = 'a', signal = new AbortController().signal): Promise<ChunkStream> =>
    router.stream({ requestId: 'r', accountId, model, body: [Buffer.from('{"n":1}')] }, signal);

  const close = async ({ bytes }: ChunkStream): Promise<void> => {
    await bytes[Symbol.asyncIterator]().return?.();
  };

  const FULL = { code: 'MODEL_AT_CAPACITY' };

  beforeEach(async () => {
    backend = await TestBackend.start((response) => void response.write('data: {}\n\n'));
    catalog = new Catalog(catalogFile({ id: 'm', backends: [entry({ maxInFlight: 1 })] }));
    ({ router, stop } = quickRouter(catalog, {
      ROUTER_STREAM_IDLE_TIMEOUT_MS: 60_000,
      secret: (name) => (name === 'NO_HEADER' ? 'a line\r\nbreak' : `secret of ${name}`),
    }));
  });

  afterEach(async () => {
    await stop();
    await backend.close();
  });

  it('are as many as its entry says, and become free when a call ends', async () => {
    for (let round = 0; round < 3; round += 1) {
      const stream = await ask();
      await expect(ask()).rejects.toMatchObject(FULL);
      await close(stream);
    }
    expect(backend.requests.length).toBe(3);
  });

  it('become free even if the catalogue was reloaded meanwhile, and new limits apply at once', async () => {
    const before = await ask();
    offer({ id: 'm', backends: [entry({ maxInFlight: 2 })] });
    const second = await ask();
    await expect(ask()).rejects.toMatchObject(FULL);
    await close(before);
    await close(second);
    const both = [await ask(), await ask()];
    await expect(ask()).rejects.toMatchObject(FULL);
    offer({ id: 'm', backends: [entry({ maxInFlight: 3 })] });
    for (const stream of [...both, await ask()]) await close(stream);
    await eventually('all are let go', () => backend.cut === 5);
  });

  it('are shared by all models with the same URL and model, each within its own limit', async () => {
    const backends = (maxInFlight: number): object[] => [entry({ maxInFlight })];
    offer({ id: 'small', backends: backends(1) }, { id: 'large', backends: backends(3) });
    for (let round = 0; round < 3; round += 1) {
      const first = await ask('small');
      const second = await ask('large');
      await expect(ask('small')).rejects.toMatchObject(FULL);
      const third = await ask('large');
      await expect(ask('large')).rejects.toMatchObject(FULL);
      for (const stream of [first, second, third]) await close(stream);
    }
  });

  it('are separate for every model at a URL', async () => {
    offer({
      id: 'm',
      backends: [entry({ model: 'a', maxInFlight: 1 }), entry({ model: 'b', maxInFlight: 1 })],
    });
    const streams = [await ask(), await ask()];
    await expect(ask()).rejects.toMatchObject(FULL);
    expect(backend.requests.map(({ body }) => body).toSorted()).toEqual([
      '{"model":"a","n":1}',
      '{"model":"b","n":1}',
    ]);
    for (const stream of streams) await close(stream);
  });

  it('are freed by a call that could not be made', async () => {
    for (let round = 0; round < 3; round += 1) {
      offer({ id: 'm', backends: [entry({ maxInFlight: 1, apiKeyEnv: 'NO_HEADER' })] });
      await expect(ask()).rejects.toMatchObject({ code: 'INFERENCE_FAILED' });
    }
    offer({ id: 'm', backends: [entry({ maxInFlight: 1 })] });
    await close(await ask());
  });

  it('go to the waiting account with the fewest calls, at whichever backend one becomes free', async () => {
    await stop();
    const backends = [entry({ model: 'x', maxInFlight: 2 }), entry({ model: 'y', maxInFlight: 2 })];
    catalog = new Catalog(catalogFile({ id: 'm', backends }));
    const patient = { ROUTER_STREAM_IDLE_TIMEOUT_MS: 60_000, ROUTER_QUEUE_TIMEOUT_MS: 60_000 };
    ({ router, stop } = quickRouter(catalog, patient));
    const flood = await Promise.all([1, 2, 3, 4].map(() => ask('m', 'flood')));
    const order: string[] = [];
    const waiting = ['flood', 'flood', 'flood', 'newcomer'].map(async (accountId) => {
      const stream = await ask('m', accountId);
      order.push(accountId);
      return stream;
    });
    const gone = new AbortController();
    const left = ask('m', 'gone', gone.signal).catch((error: unknown) => error);
    gone.abort();
    expect(await left).toMatchObject({ code: 'INFERENCE_FAILED', cause: { name: 'ExchangeAborted' } });
    for (const stream of flood) await close(stream);
    for (const stream of await Promise.all(waiting)) await close(stream);
    expect(order[0]).toBe('newcomer');
    // All slots are free again.
    for (const stream of await Promise.all([1, 2, 3, 4].map(() => ask()))) await close(stream);
  });

  it('are used with the key and weight that the catalogue has at the time', async () => {
    const other = await TestBackend.start((response) => void response.write('data: {}\n\n'));
    const authorizationWith = async (
      weights: readonly number[],
      apiKeyEnv: string,
    ): Promise<string | undefined> => {
      const [weight, otherWeight] = weights;
      offer({
        id: 'm',
        backends: [
          entry({ weight, apiKeyEnv }),
          { url: other.url, model: 'x', weight: otherWeight, apiKeyEnv },
        ],
      });
      await close(await ask());
      return backend.requests.at(-1)?.headers.authorization;
    };
    try {
      expect(await authorizationWith([1, 1e-9], 'KEY_A')).toBe('Bearer secret of KEY_A');
      expect(await authorizationWith([1e-9, 1], 'KEY_A')).toBe('Bearer secret of KEY_A');
      expect(other.requests.length).toBe(1);
      expect(await authorizationWith([1, 1e-9], 'KEY_B')).toBe('Bearer secret of KEY_B');
    } finally {
      await other.close();
    }
  });
});

it('counts error responses by model, backend and status, and unusual statuses together', async () => {
  const backend = await TestBackend.start(replying({}, 400));
  const { router, stop } = quickRouter(catalogOf([backend.url]));
  const call = { requestId: 'r', accountId: 'a', model: 'm', body: [Buffer.from('{"n":1}')] };
  const errors = (status: string): number => {
    const labels = `gen_ai_request_model="m",svc_backend="backend-1",http_response_status_code="${status}"`;
    const line = scrapedMetrics()
      .text.split('\n')
      .find((each) => each.startsWith(`svc_router_errors_total{${labels}}`));
    return Number(line?.split(' ').at(-1) ?? 0);
  };
  const before = [errors('400'), errors('401'), errors('_OTHER')];
  for (const status of [400, 400, 401, 499, 418]) {
    backend.reply = replying({}, status);
    await router.complete(call, new AbortController().signal).catch(() => undefined);
  }
  const after = [errors('400'), errors('401'), errors('_OTHER')];
  expect(after.map((count, at) => count - (before[at] ?? 0))).toEqual([2, 1, 2]);
  await stop();
  await backend.close();
});

describe('a backend that fails cools down', () => {
  const fixture = new RouterFixture((catalog) => quickRouter(catalog));

  const isStrange = ({ body }: BackendRequest): boolean => body.includes('"strange"');
  const answer = replying({ choices: [{ index: 0 }] });

  /** Makes the preferred backend fail for matching requests. */
  const failing = (reply: Reply, when: (request: BackendRequest) => boolean): Reply => {
    return (response, request) => (when(request) ? reply : answer)(response, request);
  };

  const given = (first: Reply) => fixture.given(first, answer);

  /** The name of the backend that responded, and the number of failed calls before. */
  async function ask(accountId: string, field = 'plain'): Promise<[string, number]> {
    const call = { requestId: 'r', accountId, model: 'm', body: [Buffer.from(`{"${field}":1}`)] };
    const { backend, retries } = await fixture.router.complete(call, new AbortController().signal);
    return [backend, retries];
  }

  const breakOff: Reply = (response) => void response.writeHead(200).destroy();
  const invalid = replying({ error: { message: '1 validation error', type: 'internal_server_error' } }, 500);

  it.each([
    ['an error 500', invalid],
    ['an error in place of an answer', replying({ error: { message: 'no such grammar' } })],
    ['the end of the connection', breakOff],
  ])('only for the account whose requests alone cause %s', async (_, reply) => {
    await given(failing(reply, isStrange));
    expect(await ask('strange', 'strange')).toEqual(['backend-2', 1]);
    expect(await ask('strange', 'strange')).toEqual(['backend-2', 0]);
    for (let round = 0; round < 3; round += 1) {
      expect(await ask('other')).toEqual(['backend-1', 0]);
      expect(await ask('strange', 'strange')).toEqual(['backend-2', 1]);
    }
    expect(await ask('another')).toEqual(['backend-1', 0]);
  });

  it('for everyone once two accounts in a row get an error 500', async () => {
    await given(failing(invalid, () => true));
    expect(await ask('first')).toEqual(['backend-2', 1]);
    expect(await ask('first')).toEqual(['backend-2', 0]);
    expect(await ask('second')).toEqual(['backend-2', 1]);
    for (const accountId of ['first', 'second', 'third', 'fourth'])
      expect(await ask(accountId)).toEqual(['backend-2', 0]);
    expect(fixture.backends[0]?.requests.length).toBe(2);
  });

  it('for everyone at once when its proxy reports that it is gone', async () => {
    await given(replying({}, 502));
    expect(await ask('first')).toEqual(['backend-2', 1]);
    expect(await ask('second')).toEqual(['backend-2', 0]);
  });
});

describe('a call within one process', () => {
  let backend: TestBackend;
  afterEach(() => backend.close());

  const origin = { requestId: 'r', accountId: 'a', model: 'm' };
  const { signal } = new AbortController();
  /** The same value, which cannot be written as JSON. */
  const unwritable = <Value extends object>(value: Value): Value =>
    Object.assign(value, {
      toJSON: () => {
        throw new Error('written as JSON');
      },
    });

  it('takes what a port takes to the dialect of the backend as it is, not as JSON', async () => {
    const vector = Buffer.from(new Float32Array([1, 0]).buffer).toString('base64');
    const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(100)]).toString('base64');
    backend = await TestBackend.start(replying({ data: [{ embedding: vector, b64_json: png }] }));
    const { router, stop } = quickRouter(catalogOf([backend.url]));
    const texts = unwritable({ inputs: ['a'], dimensions: 2, isCustom: false, others: {} });
    expect((await router.embeddings.vectors({ ...origin, texts }, signal)).result.vectors).toEqual([vector]);
    const order = unwritable({ prompt: 'a', count: 1, width: 64, height: 64, others: {} });
    const call = { ...origin, kind: 'image', order } as const;
    expect((await router.images.make(call, signal)).result.images).toEqual([png]);
    backend.reply = replying({ id: 'job-1', status: 'queued' });
    const job = unwritable({ prompt: 'a', seconds: 4, fields: {}, others: {} });
    expect((await router.jobs.submit({ ...origin, order: job }, signal)).result).toEqual({ job: 'job-1' });
    backend.reply = (response) => void response.end(Buffer.from('ID3 and the rest'));
    const spoken = unwritable({
      input: 'a',
      voice: 'v',
      format: 'mp3',
      isStreamed: false,
      others: {},
    } as const);
    expect(await collect(await router.speech.speak({ ...origin, text: spoken }, signal))).toMatch(/^ID3/);
    await stop();
  });
});
