import type { ChunkStream, InferenceRouter } from '@svc/contracts';
import { Catalog } from '@svc/runtime';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TestBackend } from '../test/backend.js';
import { routerConformance } from '../test/inference-router.conformance.js';
import { catalogFile, eventually, quickRouter } from '../test/routing.js';
import { SerialisedRouter } from '../test/serialised-router.js';

routerConformance('LocalRouter', (catalog) => Promise.resolve(quickRouter(catalog)));

routerConformance('LocalRouter behind a wire', (catalog) => {
  const { router, stop } = quickRouter(catalog);
  return Promise.resolve({ router: new SerialisedRouter(router), stop });
});

describe('the room at a backend', () => {
  let backend: TestBackend;
  let catalog: Catalog;
  let router: InferenceRouter;
  let stop: () => Promise<void>;

  const entry = (members: object): object => ({ url: backend.url, model: 'x', ...members });

  const offer = (...models: readonly { id: string; backends: readonly object[] }[]): void =>
    catalog.replace(catalogFile(...models));

  const ask = (model = 'm'): Promise<ChunkStream> =>
    router.stream({ requestId: 'r', model, body: [Buffer.from('{"n":1}')] }, new AbortController().signal);

  const close = async ({ bytes }: ChunkStream): Promise<void> => {
    await bytes[Symbol.asyncIterator]().return?.();
  };

  const FULL = { code: 'MODEL_AT_CAPACITY' };

  beforeEach(async () => {
    backend = await TestBackend.start((response) => void response.write('data: {}\n\n'));
    catalog = new Catalog(catalogFile({ id: 'm', backends: [entry({ maxInFlight: 1 })] }));
    ({ router, stop } = quickRouter(catalog, {
      ROUTER_STALL_TIMEOUT_MS: 60_000,
      secret: (name) => `secret of ${name}`,
    }));
  });

  afterEach(async () => {
    await stop();
    await backend.close();
  });

  it('is what its entry says, and comes back when a call ends', async () => {
    for (let round = 0; round < 3; round += 1) {
      const stream = await ask();
      await expect(ask()).rejects.toMatchObject(FULL);
      await close(stream);
    }
    expect(backend.asked.length).toBe(3);
  });

  it('comes back though the catalogue was read anew meanwhile, and what is new holds at once', async () => {
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

  it('is counted over all models that share its URL and model, each within its own bound', async () => {
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

  it('is its own for every model there', async () => {
    offer({
      id: 'm',
      backends: [entry({ model: 'a', maxInFlight: 1 }), entry({ model: 'b', maxInFlight: 1 })],
    });
    const streams = [await ask(), await ask()];
    await expect(ask()).rejects.toMatchObject(FULL);
    expect(backend.asked.map(({ body }) => body).toSorted()).toEqual([
      '{"model":"a","n":1}',
      '{"model":"b","n":1}',
    ]);
    for (const stream of streams) await close(stream);
  });

  it('is given back by a call that could not be made', async () => {
    for (let round = 0; round < 3; round += 1) {
      const bad = { requestId: 'not\r\na header', model: 'm', body: [Buffer.from('{"n":1}')] };
      await expect(router.stream(bad, new AbortController().signal)).rejects.toMatchObject({
        code: 'INFERENCE_FAILED',
      });
    }
    await close(await ask());
  });

  it('is asked for with the key and the weight that the catalogue names at the time', async () => {
    const other = await TestBackend.start((response) => void response.write('data: {}\n\n'));
    const asked = async (weights: readonly number[], apiKeyEnv: string): Promise<string | undefined> => {
      const [weight, otherWeight] = weights;
      offer({
        id: 'm',
        backends: [
          entry({ weight, apiKeyEnv }),
          { url: other.url, model: 'x', weight: otherWeight, apiKeyEnv },
        ],
      });
      await close(await ask());
      return backend.asked.at(-1)?.headers.authorization;
    };
    try {
      expect(await asked([1, 1e-9], 'KEY_A')).toBe('Bearer secret of KEY_A');
      expect(await asked([1e-9, 1], 'KEY_A')).toBe('Bearer secret of KEY_A');
      expect(other.asked.length).toBe(1);
      expect(await asked([1, 1e-9], 'KEY_B')).toBe('Bearer secret of KEY_B');
    } finally {
      await other.close();
    }
  });
});
