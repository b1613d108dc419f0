import { type AddressInfo, type Server, type Socket, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Connections, connections } from '../calls/connections.js';
import { Exchange, type ExchangeRequest } from '../calls/exchange.js';

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

/** The sockets of the server, and what arrived on each. */
let sockets: { readonly socket: Socket; received: string }[];
/** What the server does when something has arrived. */
let reply: (socket: Socket, received: string) => void;
let server: Server;
let pool: Connections;
let origin: string;

beforeEach(async () => {
  sockets = [];
  reply = (socket) => void socket.write(OK);
  server = createServer((socket) => {
    const known = { socket, received: '' };
    sockets.push(known);
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      known.received += bytes.toString('latin1');
      reply(socket, known.received);
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  pool = connections({ connectTimeoutMs: 10_000, keepAliveMs: 60_000 });
});

afterEach(async () => {
  await pool.close();
  for (const { socket } of sockets) socket.destroy();
  await new Promise((resolve) => void server.close(resolve));
});

async function ask(request: Partial<ExchangeRequest> = {}): Promise<string> {
  const whole = {
    origin,
    path: '/',
    headers: {},
    body: 'hi',
    pauseMs: 60_000,
    deadlineMs: 60_000,
    ...request,
  };
  const body = typeof whole.body === 'string' ? Buffer.from(whole.body) : whole.body;
  const exchange = await Exchange.start(
    pool.kept,
    { ...whole, body },
    { signal: undefined, onEnd: () => undefined },
  );
  const text = await exchange.text(1_000_000);
  // It is free for the next request once all that has arrived is read.
  await sleep(1);
  return text;
}

describe('a connection', () => {
  it('takes one request after the other, and as many connections as there are requests at once', async () => {
    await ask();
    await ask();
    expect(sockets.length).toBe(1);
    await Promise.all([ask(), ask(), ask()]);
    expect(sockets.length).toBe(3);
  });

  it.each([
    ['says so', 'HTTP/1.1 200 OK\r\nconnection: Close\r\ncontent-length: 2\r\n\r\nok'],
    ['has HTTP/1.0', 'HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok'],
    [
      'keeps it for too short a time',
      'HTTP/1.1 200 OK\r\nkeep-alive: timeout=1\r\ncontent-length: 2\r\n\r\nok',
    ],
  ])('is not used again if the server %s', async (_, response) => {
    reply = (socket) => void socket.write(response);
    await ask();
    await ask();
    expect(sockets.length).toBe(2);
  });

  it('is not used again if its response ended before its request', async () => {
    reply = (socket) => {
      socket.pause();
      socket.write(OK);
    };
    expect(await ask({ body: Buffer.alloc(50_000_000) })).toBe('ok');
    reply = (socket) => void socket.write(OK);
    expect(await ask()).toBe('ok');
    expect(sockets.length).toBe(2);
  });

  it('is not used again after bytes that nobody whole for', async () => {
    await ask();
    sockets[0]?.socket.write(OK);
    await vi.waitFor(() => expect(sockets[0]?.socket.destroyed).toBe(true));
    expect(await ask()).toBe('ok');
    expect(sockets.length).toBe(2);
  });

  it('ends when it was free for as long as it may be', async () => {
    await pool.close();
    pool = connections({ connectTimeoutMs: 10_000, keepAliveMs: 1 });
    await ask();
    await vi.waitFor(() => expect(sockets[0]?.socket.destroyed).toBe(true), 5_000);
  });
});

describe('a request', () => {
  it('has its headers and its body, whatever its size', async () => {
    for (const size of [0, 1, 65_000, 70_000, 1_000_000]) {
      const body = Buffer.alloc(size, 'x');
      reply = (socket, received) => {
        if (received.endsWith(`\r\n\r\n${body.toString()}`)) socket.write(OK);
      };
      sockets.length = 0;
      await pool.close();
      pool = connections({ connectTimeoutMs: 10_000, keepAliveMs: 60_000 });
      expect(await ask({ path: '/v1/chat?x=1', headers: { 'x-a': 'b' }, body })).toBe('ok');
      const [head] = sockets[0]?.received.split('\r\n\r\n') ?? [];
      expect(head?.split('\r\n')).toEqual([
        'POST /v1/chat?x=1 HTTP/1.1',
        `host: ${origin.slice('http://'.length)}`,
        'connection: keep-alive',
        'x-a: b',
        `content-length: ${size}`,
      ]);
    }
  });

  it.each<Partial<ExchangeRequest>>([
    { path: '/a b' },
    { path: '/\r\nx: y' },
    { headers: { 'x-a': 'b\r\nx: y' } },
    { headers: { 'x-a': 'b\0' } },
    { headers: { 'x-a': 'ſ' } },
    { headers: { 'x a': 'b' } },
    { headers: { 'x:\r\ny': 'b' } },
  ])('that would be another one for its server is not sent: %j', async (request) => {
    await expect(ask(request)).rejects.toThrow(/invalid character/);
    expect(sockets.length).toBe(0);
  });

  it('fails when its response pauses for too long, and not before', async () => {
    reply = (socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
      let left = 4;
      const timer = setInterval(() => {
        left -= 1;
        socket.write('1\r\na\r\n');
        if (left === 0) clearInterval(timer);
      }, 200);
    };
    await expect(ask({ pauseMs: 2_000 })).rejects.toMatchObject({ code: 'UND_ERR_BODY_TIMEOUT' });
  });

  it('fails when its connections are closed', async () => {
    reply = () => void pool.close();
    await expect(ask()).rejects.toThrow('closed');
  });

  it('fails when nothing can be connected', async () => {
    await expect(ask({ origin: 'http://127.0.0.1:1' })).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });
});
