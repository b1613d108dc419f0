import { once } from 'node:events';
import { type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { InternalClient } from './internal-client.js';
import { PodAddresses } from './pod-addresses.js';
import { Replicas } from './replicas.js';

const KEYS = Array.from({ length: 300 }, (_, at) => `account ${at}`);
const LOOKUP_MS = 5;
const WAIT = { timeout: 20_000, interval: 5 };

describe('a name with several addresses', () => {
  let server: Server;
  let addresses: string[];
  let error: Error | undefined;
  let held: ServerResponse[];
  /** The addresses at which calls have arrived. */
  let called: (string | undefined)[];
  let replicas: Replicas;

  const port = (): number => (server.address() as AddressInfo).port;
  const pods = (): PodAddresses =>
    new PodAddresses(() => (error ? Promise.reject(error) : Promise.resolve(addresses)), LOOKUP_MS);
  const found = (): string[] => replicas.every.map(({ address }) => address.replace(/:\d+$/, ''));
  const chosen = (): string[] =>
    KEYS.map((key) => replicas.next(new Set(), key)?.address.replace(/:\d+$/, '') ?? '');

  beforeEach(async () => {
    [addresses, error, held, called] = [['127.0.0.1', '127.0.0.2', '127.0.0.3'], undefined, [], []];
    server = createServer((request, response) => {
      if (request.url === '/healthz') return void response.end();
      called.push(request.socket.localAddress);
      held.push(response);
    });
    server.listen(0, '0.0.0.0');
    await once(server, 'listening');
    replicas = new Replicas(`http://routers:${port()}`, { eachAddress: true, pods: pods() });
  });
  afterEach(async () => {
    await replicas.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it('is as many replicas, and one that goes or comes moves only its share of the keys', async () => {
    await expect.poll(found, WAIT).toEqual(['127.0.0.1', '127.0.0.2', '127.0.0.3']);
    const before = chosen();
    for (const address of addresses)
      expect(before.filter((one) => one === address).length).toBeGreaterThan(KEYS.length / 6);
    addresses = ['127.0.0.3', '127.0.0.1'];
    await expect.poll(found, WAIT).toHaveLength(2);
    const without = chosen();
    expect(without.filter((one, at) => one !== before[at] && before[at] !== '127.0.0.2')).toEqual([]);
    addresses = ['127.0.0.4', '127.0.0.1', '127.0.0.3'];
    await expect.poll(found, WAIT).toHaveLength(3);
    const moved = chosen().filter((one, at) => one !== without[at]);
    expect(new Set(moved)).toEqual(new Set(['127.0.0.4']));
    expect(moved.length).toBeLessThan(KEYS.length / 2);
  });

  it('keeps those that it had while a lookup fails or finds none', async () => {
    await expect.poll(found, WAIT).toHaveLength(3);
    for (const code of ['EAI_AGAIN', 'ENOTFOUND']) {
      error = Object.assign(new Error(code), { code });
      await new Promise((resolve) => setTimeout(resolve, 10 * LOOKUP_MS));
      expect(found()).toHaveLength(3);
    }
  });

  it('counts the addresses of one family, at most 64, and is called by its name with one', async () => {
    addresses = ['::1', '127.0.0.9', '::2', '127.0.0.8'];
    await expect.poll(found, WAIT).toEqual(['127.0.0.8', '127.0.0.9']);
    addresses = ['::1', '::2'];
    await expect.poll(found, WAIT).toEqual(['[::1]', '[::2]']);
    addresses = ['::1', '127.0.0.9'];
    await expect.poll(found, WAIT).toEqual(['routers']);
    addresses = Array.from({ length: 100 }, (_, at) => `127.0.1.${at}`);
    await expect.poll(found, WAIT).toHaveLength(64);
  });

  it.each([
    ['without `eachAddress`', 'http', false],
    ['over HTTPS, since pods have no certificates', 'https', true],
  ])('is one address %s', async (_, protocol, eachAddress) => {
    await replicas.close();
    replicas = new Replicas(`${protocol}://routers:${port()}`, { eachAddress, pods: pods() });
    await new Promise((resolve) => setTimeout(resolve, 10 * LOOKUP_MS));
    expect(found()).toEqual(['routers']);
  });

  it('has a bound of connections for each, and calls that wait for one of an address that is gone end', async () => {
    addresses = ['127.0.0.1', '127.0.0.2'];
    const url = `http://routers:${port()}`;
    const client = new InternalClient({ url, token: 't', eachAddress: true, pods: pods(), connections: 2 });
    const ask = () => client.ask({ path: '/x', deadlineMs: 60_000 });
    const listed = () => client.askAll({ path: '/healthz', deadlineMs: 60_000 }).catch(() => []);
    await expect.poll(listed, WAIT).toHaveLength(2);
    const calls = Array.from({ length: 8 }, ask);
    await expect.poll(() => called.length, WAIT).toBe(4);
    expect(called.filter((address) => address === '127.0.0.2')).toHaveLength(2);
    addresses = ['127.0.0.1', '127.0.0.3'];
    const reachesNew = (): boolean => {
      calls.push(ask());
      return called.includes('127.0.0.3');
    };
    await expect.poll(reachesNew, WAIT).toBe(true);
    for (let at = 0; at < calls.length; at += 1) {
      await expect.poll(() => held.length, WAIT).toBeGreaterThan(at);
      held[at]?.end('done');
    }
    expect((await Promise.all(calls)).map(({ text }) => text)).toEqual(calls.map(() => 'done'));
    await client.close();
  });

  it('lets the calls of an address that is gone end, and calls it no more', async () => {
    const url = `http://routers:${port()}`;
    const client = new InternalClient({ url, token: 't', eachAddress: true, pods: pods() });
    const ask = (key: string) => client.ask({ path: '/x', deadlineMs: 60_000, key });
    const listed = (): Promise<number> =>
      client.askAll({ path: '/healthz', deadlineMs: 60_000 }).then(
        (all) => all.length,
        () => 0,
      );
    await expect.poll(listed, WAIT).toBe(3);
    const first = ask('account');
    await expect.poll(() => called.length, WAIT).toBe(1);
    const [gone] = called;
    addresses = addresses.filter((address) => address !== gone);
    await expect.poll(listed, WAIT).toBe(2);
    const second = ask('account');
    await expect.poll(() => called.length, WAIT).toBe(2);
    expect(called[1]).not.toBe(gone);
    for (const response of held) response.end('done');
    expect([(await first).text, (await second).text]).toEqual(['done', 'done']);
    await client.close();
  });
});
