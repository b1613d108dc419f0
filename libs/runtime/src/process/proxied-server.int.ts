import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type NetConnectOpts, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Controller, Module, Req } from '@nestjs/common';
import type { RouteDefinition } from '@svc/api/route';
import type { FastifyRequest } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { AccessGates } from '../http/access.js';
import { Serves } from '../http/route.js';
import { createLogger } from '../logging/logging.js';
import { type Running, serve } from './serve.js';

const ROUTE = {
  method: 'GET',
  path: '/client',
  operationId: 'x',
  tag: 'Models',
  summary: 'x',
  access: 'public',
  status: 200,
  reply: z.unknown(),
  refusals: [],
} as const satisfies RouteDefinition;

@Controller()
class Client {
  @Serves(ROUTE)
  show(@Req() { ip }: FastifyRequest): object {
    return { ip };
  }
}

class Gates implements AccessGates {
  enter(): boolean {
    return true;
  }
}

@Module({ controllers: [Client], providers: [{ provide: AccessGates, useClass: Gates }] })
class Process {}

let folder: string;
let path: string;
let running: Running;

const start = (): Promise<Running> =>
  serve({
    module: Process,
    logger: createLogger('silent'),
    api: { host: '127.0.0.1', port: 0 },
    operator: { host: '127.0.0.1', port: 0 },
    proxyListen: path,
  });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-proxied-'));
  path = join(folder, 'api.sock');
  running = await start();
});

afterAll(async () => {
  await running.stop();
  await rm(folder, { recursive: true });
});

/** Its default, and what it adds to it before it closes. */
const NODE_CLOSES_AFTER_MS = 7_000;

const REQUEST = 'GET /client HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n';

/** Sends the parts one after the other, and returns all that is received until the connection ends. */
async function exchange(to: NetConnectOpts, ...parts: readonly (string | Buffer)[]): Promise<string> {
  const socket = connect(to).setNoDelay();
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  let received = '';
  socket.on('data', (bytes) => (received += bytes.toString()));
  for (const part of parts) await new Promise((resolve) => socket.write(part, resolve));
  await once(socket, 'close');
  return received;
}

const ipOf = (response: string): unknown =>
  (JSON.parse(response.split('\r\n\r\n')[1] ?? '{}') as { ip: string }).ip;
const proxied = (...parts: readonly (string | Buffer)[]): Promise<string> => exchange({ path }, ...parts);

function v2(family: number, addresses: readonly number[], command = 0x21): Buffer {
  const head = Buffer.from('\r\n\r\n\0\r\nQUIT\n\0\0\0\0', 'latin1');
  head.set([command, family], 12);
  head.writeUInt16BE(addresses.length, 14);
  return Buffer.concat([head, Buffer.from(addresses)]);
}
const V6 = [0x20, 0x01, 0x0d, 0xb8, ...Array.from({ length: 11 }, () => 0), 7];
const EXTENSION = [0x04, 0, 2, 1, 2];

it('keeps idle connections on every port for longer than Node does by itself', async () => {
  const portOf = (url: string | undefined) => ({ host: '127.0.0.1', port: Number(new URL(url ?? '').port) });
  const ways: readonly (readonly [NetConnectOpts, string])[] = [
    [portOf(running.apiUrl), ''],
    [portOf(running.operatorUrl), ''],
    [{ path }, 'PROXY TCP4 192.0.2.7 127.0.0.1 50000 3000\r\n'],
  ];
  const sockets = ways.map(([to, header]) => {
    const socket = connect(to);
    socket.write(header + REQUEST.replace('connection: close', 'connection: keep-alive'));
    return socket;
  });
  await Promise.all(sockets.map((socket) => once(socket, 'data')));
  await sleep(NODE_CLOSES_AFTER_MS);
  expect(sockets.map(({ readyState }) => readyState)).toEqual(sockets.map(() => 'open'));
  for (const socket of sockets) socket.destroy();
});

describe('a place for balancers', () => {
  it.each([
    ['version 1', 'PROXY TCP4 192.0.2.7 127.0.0.1 50000 3000\r\n', '192.0.2.7'],
    ['version 1, IPv6', 'PROXY TCP6 2001:db8::7 ::1 50000 3000\r\n', '2001:db8::7'],
    ['version 2', v2(0x11, [192, 0, 2, 7, 127, 0, 0, 1, 1, 1, 2, 2]), '192.0.2.7'],
    [
      'version 2, with an extension',
      v2(0x11, [192, 0, 2, 7, 127, 0, 0, 1, 1, 1, 2, 2, ...EXTENSION]),
      '192.0.2.7',
    ],
    ['version 2, IPv6', v2(0x21, [...V6, ...V6, 1, 1, 2, 2]), '2001:db8:0:0:0:0:0:7'],
    ['a health check of version 1', 'PROXY UNKNOWN\r\n', 'unknown'],
    ['a health check of version 2', v2(0, [], 0x20), 'unknown'],
  ])("takes the client's address from the header: %s", async (_, header, ip) => {
    expect(ipOf(await proxied(header, REQUEST))).toBe(ip);
    const bytes = Buffer.concat([Buffer.from(header), Buffer.from(REQUEST)]);
    expect(ipOf(await proxied(bytes))).toBe(ip);
    expect(ipOf(await proxied(...Array.from(bytes, (_byte, at) => bytes.subarray(at, at + 1))))).toBe(ip);
  });

  it.each([
    ['no header', REQUEST],
    ['an unknown family', 'PROXY TCP5 192.0.2.7 127.0.0.1 50000 3000\r\n'],
    ['no address', 'PROXY TCP4 x 127.0.0.1 50000 3000\r\n'],
    ['a port out of range', 'PROXY TCP4 192.0.2.7 127.0.0.1 70000 3000\r\n'],
    ['no end', `PROXY TCP4 ${'1'.repeat(200)}`],
    ['version 2 of a Unix socket', v2(0x31, [])],
    [
      'version 2 that is too long',
      v2(
        0x11,
        Array.from({ length: 3_000 }, () => 0),
      ),
    ],
    ['version 2 without addresses', v2(0x11, [])],
  ])('closes a connection with %s, without a response', async (_, header) => {
    expect(await proxied(header, REQUEST)).toBe('');
  });

  it('closes a connection that sends nothing within 5 s', async () => {
    expect(await proxied()).toBe('');
  });

  it('rejects a second header, which comes from the client', async () => {
    const header = 'PROXY TCP4 192.0.2.7 127.0.0.1 50000 3000\r\n';
    expect(await proxied(header, header, REQUEST)).toMatch(/^HTTP\/1.1 400 /);
  });

  it('reopens at a socket file that a killed process left behind', async () => {
    const second = await start();
    expect(ipOf(await proxied('PROXY TCP4 192.0.2.7 127.0.0.1 1 2\r\n', REQUEST))).toBe('192.0.2.7');
    await Promise.all([running.stop(), second.stop()]);
    running = await start();
  });

  it.each([
    ['before it was accepted', 0],
    ['before its header came', 20],
  ])('answers on every connection that was open when it was stopped, even %s', async (_, laterMs) => {
    const header = 'PROXY TCP4 192.0.2.7 127.0.0.1 1 2\r\n';
    const sockets = Array.from({ length: 100 }, () => connect({ path }));
    await sleep(laterMs);
    const stopped = running.stop();
    const responses = sockets.map(async (socket) => {
      let received = '';
      socket.on('data', (bytes) => (received += bytes.toString()));
      socket.write(header);
      await sleep(laterMs);
      socket.write(REQUEST);
      await once(socket, 'close');
      return ipOf(received);
    });
    expect(await Promise.all(responses)).toEqual(sockets.map(() => '192.0.2.7'));
    await stopped;
    running = await start();
  });
});

it('a header is not trusted on the ordinary listener', async () => {
  const to = { host: '127.0.0.1', port: Number(new URL(running.apiUrl).port) };
  expect(await exchange(to, 'PROXY TCP4 192.0.2.7 127.0.0.1 1 2\r\n', REQUEST)).toMatch(/^HTTP\/1.1 400 /);
  expect(ipOf(await exchange(to, REQUEST))).toBe('127.0.0.1');
});
