import { Catalog } from '@svc/catalog';
import { PodAddresses } from '@svc/runtime';
import { TestServer } from '@svc/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { catalogFile, eventually, patientRouter } from '../test/routing.js';

describe('pods of a headless service', () => {
  /** A name whose addresses a test changes; each lookup fails while there is an error. */
  function service() {
    const found = { addresses: ['127.0.0.1'], error: undefined as Error | undefined };
    const pods = new PodAddresses(
      () => (found.error ? Promise.reject(found.error) : Promise.resolve(found.addresses)),
      5,
    );
    onTestFinished(() => pods.close());
    return { found, pods, all: () => pods.of('pods').filter((one) => one !== undefined) };
  }

  it('are found as they come and go, and remain if a lookup fails', async () => {
    const { found, all } = service();
    await eventually('one is found', () => all().length === 1);
    found.addresses = ['127.0.0.2', '127.0.0.1'];
    await eventually('two are found', () => all().length === 2);
    expect(all()).toEqual(['127.0.0.1', '127.0.0.2']);
    found.error = Object.assign(new Error('later'), { code: 'EAI_AGAIN' });
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(all()).toHaveLength(2);
    found.error = Object.assign(new Error('none'), { code: 'ENOTFOUND' });
    await eventually('none is left', () => all().length === 0);
  });

  it('are the addresses of its name', async () => {
    const pods = new PodAddresses();
    onTestFinished(() => pods.close());
    await eventually('it is found', () => pods.of('localhost').length > 0);
    expect(pods.of('localhost')).toContain('127.0.0.1');
  });

  it.skipIf(process.platform !== 'linux')(
    'are backends of their own, with their own slots; a new one is called, and one that is gone is not',
    async () => {
      const { found, pods, all } = service();
      const addresses: string[] = [];
      const held: (() => void)[] = [];
      // Every address of the loopback network reaches it.
      const server = await TestServer.start((request, response) => {
        addresses.push(request.socket.localAddress ?? '');
        response.setHeader('content-type', 'application/json');
        held.push(() =>
          response.end('{"choices":[{"index":0,"message":{"role":"assistant","content":"x"}}]}'),
        );
      }, '0.0.0.0');
      onTestFinished(() => server.close());
      const url = `http://pods:${new URL(server.url).port}/v1`;
      const entry = { name: 'vllm', url, model: 'x', eachAddress: true, maxInFlight: 1 };
      const { router, stop } = patientRouter(
        new Catalog(catalogFile({ id: 'm', backends: [entry] })),
        {},
        (name) => pods.of(name),
      );
      onTestFinished(stop);
      const ask = () =>
        router.complete(
          { requestId: 'r', accountId: `a${addresses.length}`, model: 'm', body: [Buffer.from('{}')] },
          new AbortController().signal,
        );
      const answer = (): void => {
        for (const each of held.splice(0)) each();
      };
      found.addresses = ['127.0.0.2', '127.0.0.3'];
      await eventually('both are found', () => all().length === 2);
      const two = [ask(), ask()];
      await eventually('both are called', () => held.length === 2);
      expect(addresses.splice(0).toSorted((a, b) => a.localeCompare(b))).toEqual(['127.0.0.2', '127.0.0.3']);
      await expect(ask()).rejects.toMatchObject({ code: 'MODEL_AT_CAPACITY' });
      answer();
      const names = (await Promise.all(two)).map(({ backend }) => backend);
      expect(new Set(names)).toEqual(new Set(['vllm#1', 'vllm#2']));
      found.addresses = ['127.0.0.4'];
      await eventually('they are replaced', () => all().join() === '127.0.0.4');
      const last = ask();
      await eventually('the new one is called', () => held.length === 1);
      answer();
      expect((await last).backend).toBe('vllm#1');
      expect(addresses).toEqual(['127.0.0.4']);
    },
  );
});
