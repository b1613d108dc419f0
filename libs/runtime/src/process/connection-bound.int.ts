import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import { type AddressInfo, type Socket, connect } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { ConnectionBound, type ConnectionBounds } from './connection-bound.js';
import { requireProxyHeader } from './proxied-server.js';

const REQUEST = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n';

let server: Server;
const sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  server.close();
  await once(server, 'close');
});

async function serving(bounds: ConnectionBounds, isProxied = false): Promise<void> {
  server = createServer((_, response) => response.end('ok'));
  new ConnectionBound(bounds).watch(server);
  if (isProxied) requireProxyHeader(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
}

/** Opens a connection that stays open, and returns whether it got a response. */
async function isServed(header = ''): Promise<boolean> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  sockets.push(socket);
  socket.on('error', () => undefined);
  socket.write(header + REQUEST);
  return Promise.race([once(socket, 'data').then(() => true), once(socket, 'close').then(() => false)]);
}

const from = (address: string): string => {
  const [family, own] = address.includes(':') ? ['TCP6', '::1'] : ['TCP4', '127.0.0.1'];
  return `PROXY ${family} ${address} ${own} 50000 3000\r\n`;
};

it('closes the connections of an address beyond its bound, and accepts others once one has closed', async () => {
  await serving({ connectionsPerAddress: 2 });
  expect([await isServed(), await isServed(), await isServed()]).toEqual([true, true, false]);
  sockets[0]?.destroy();
  await expect.poll(() => isServed(), { timeout: 20_000 }).toBe(true);
  expect(await isServed()).toBe(false);
});

it('bounds each client behind a load balancer that names it, and an IPv6 network as one', async () => {
  await serving({ connectionsPerAddress: 1 }, true);
  expect(await isServed(from('192.0.2.1'))).toBe(true);
  expect(await isServed(from('192.0.2.1'))).toBe(false);
  expect(await isServed(from('192.0.2.2'))).toBe(true);
  expect(await isServed(from('2001:db8::1'))).toBe(true);
  expect(await isServed(from('2001:db8::2'))).toBe(false);
  expect(await isServed(from('2001:db8:0:1::1'))).toBe(true);
});

it.each(['loopback', '127.0.0.1', '192.0.2.0/24, 127.0.0.0/8'])(
  'does not bound a trusted proxy, which has the connections of many clients: %s',
  async (trustedProxies) => {
    await serving({ connectionsPerAddress: 1, trustedProxies });
    expect([await isServed(), await isServed()]).toEqual([true, true]);
  },
);

it('bounds nothing by default', async () => {
  await serving({ connectionsPerAddress: 0 });
  expect([await isServed(), await isServed()]).toEqual([true, true]);
});
