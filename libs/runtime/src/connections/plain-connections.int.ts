import { type AddressInfo, type Server, type Socket, createServer } from 'node:net';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Connections, connections } from '../calls/connections.js';
import { Exchange, type ExchangeRequest, ExchangeTimedOut } from '../calls/exchange.js';

/** Longer than any machine takes. */
const WAIT = 20_000;

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

/** Blocks this process, so that all that was sent has arrived, and none of it is read. */
const block = (ms: number): unknown => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

async function replaceBy(options: Partial<Parameters<typeof connections>[0]>): Promise<void> {
  await pool.close();
  pool = connections({ connectTimeoutMs: 10_000, keepAliveMs: 60_000, ...options });
}

async function ask(request: Partial<ExchangeRequest> = {}, signal?: AbortSignal): Promise<string> {
  const whole = {
    origin,
    path: '/',
    headers: {},
    body: 'hi',
    pauseMs: 60_000,
    deadlineMs: 60_000,
    ...request,
  };
  const exchange = await Exchange.start(pool.kept, whole, { signal, onEnd: () => undefined });
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
    await vi.waitFor(() => expect(sockets[0]?.socket.destroyed).toBe(true), WAIT);
    expect(await ask()).toBe('ok');
    expect(sockets.length).toBe(2);
  });

  it('ends when it was free for as long as it may be', async () => {
    await replaceBy({ keepAliveMs: 1 });
    await ask();
    await vi.waitFor(() => expect(sockets[0]?.socket.destroyed).toBe(true), WAIT);
  });

  it('ends with its response when it is as old as it may be, even if it is used all the time', async () => {
    await replaceBy({ longestMs: 1 });
    reply = (socket) => void setTimeout(() => socket.write(OK), 5);
    await ask();
    await ask();
    expect(sockets.length).toBe(2);
    await vi.waitFor(() => expect(sockets.every(({ socket }) => socket.destroyed)).toBe(true), WAIT);
  });

  it('ends when it is as old as it may be and has no request', async () => {
    await replaceBy({ longestMs: 500 });
    await ask();
    await vi.waitFor(() => expect(sockets[0]?.socket.destroyed).toBe(true), WAIT);
  });

  it('ends with all others, also one that was made after those before were free for too long', async () => {
    await replaceBy({ keepAliveMs: 20 });
    await ask();
    block(40);
    await ask();
    expect(sockets.length).toBe(2);
    await pool.close();
    await vi.waitFor(() => expect(sockets.every(({ socket }) => socket.destroyed)).toBe(true), WAIT);
  });

  it('has its time to connect in turns of the event loop, so a busy process does not miss it', async () => {
    await replaceBy({ connectTimeoutMs: 20 });
    const results = ask();
    block(40);
    expect(await results).toBe('ok');
  });
});

describe('a connection that ends before the request on it is sent', () => {
  const ends: Record<string, (socket: Socket) => void> = {
    'is closed': (socket) => void socket.destroy(),
    'is reset': (socket) => void socket.resetAndDestroy(),
    'gets a response that nobody wants': (socket) =>
      void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil'),
  };

  it.each(Object.entries(ends))(
    'and %s leaves it to another one, even if it must not run twice',
    async (_, end) => {
      await ask();
      // From here to the next turn nothing is written.
      await turn();
      const [first] = sockets;
      if (first) end(first.socket);
      const results = ask({ path: '/second' });
      block(20);
      expect(await results).toBe('ok');
      expect(first?.received).not.toContain('/second');
      expect(sockets.map(({ received }) => received.includes('/second'))).toEqual([false, true]);
    },
  );

  it('and then all connections are closed fails', async () => {
    await ask();
    await turn();
    const results = ask();
    void pool.close();
    await expect(results).rejects.toThrow('closed');
  });
});

describe('a bound of two connections', () => {
  let held: Socket[];
  let paths: (string | undefined)[];

  beforeEach(async () => {
    [held, paths] = [[], []];
    await replaceBy({ most: 2 });
    reply = (socket, received) => {
      held.push(socket);
      paths.push(received.slice(received.lastIndexOf('POST ')).split(' ')[1]);
    };
  });

  const arrived = (count: number): Promise<unknown> =>
    vi.waitFor(() => expect(paths.length).toBe(count), WAIT);
  const askAll = (count: number): Promise<string>[] =>
    Array.from({ length: count }, (_, at) => ask({ path: `/${at}` }));

  it('lets further requests wait, and sends them in their order', async () => {
    const results = askAll(6);
    expect(pool.waiting()).toBe(4);
    for (let at = 0; at < 6; at += 1) {
      await arrived(Math.min(at + 2, 6));
      held[at]?.write(OK);
    }
    expect(await Promise.all(results)).toEqual(Array.from({ length: 6 }, () => 'ok'));
    expect(paths.slice(2)).toEqual(['/2', '/3', '/4', '/5']);
    expect(sockets.length).toBe(2);
    expect(pool.waiting()).toBe(0);
  });

  it('sends no request that was aborted, or met its deadline, while it waited', async () => {
    const results = askAll(2);
    await arrived(2);
    const leaving = new AbortController();
    const aborted = ask({ path: '/aborted' }, leaving.signal);
    const late = ask({ path: '/late', deadlineMs: 1 });
    const last = ask({ path: '/last' });
    expect(pool.waiting()).toBe(3);
    leaving.abort();
    expect(pool.waiting()).toBe(2);
    await expect(aborted).rejects.toThrow('aborted');
    await expect(late).rejects.toThrow(ExchangeTimedOut);
    expect(pool.waiting()).toBe(1);
    for (const socket of held) socket.write(OK);
    await arrived(3);
    held[2]?.write(OK);
    expect(await Promise.all([...results, last])).toEqual(['ok', 'ok', 'ok']);
    expect(paths).toEqual(['/0', '/1', '/last']);
  });

  it.each<[string, (socket: Socket) => void]>([
    ['is closed', (socket) => void socket.destroy()],
    ['ends with its response', (socket) => void socket.end('HTTP/1.1 200 OK\r\n\r\nok')],
  ])('opens another one for a request that waits when one %s', async (_, end) => {
    const results = askAll(4).map((each) => each.catch(() => 'failed'));
    await arrived(2);
    reply = (socket) => void socket.write(OK);
    for (const socket of held) end(socket);
    expect((await Promise.all(results)).slice(2)).toEqual(['ok', 'ok']);
    expect(sockets.length).toBe(4);
    expect(pool.waiting()).toBe(0);
  });

  it('opens another one for a request that waits when one is aborted', async () => {
    const leaving = new AbortController();
    const aborted = Promise.allSettled([ask({}, leaving.signal), ask({}, leaving.signal)]);
    const waiting = ask({ path: '/waiting' });
    await arrived(2);
    reply = (socket) => void socket.write(OK);
    leaving.abort();
    expect(await waiting).toBe('ok');
    expect((await aborted).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });

  it('renews a connection that is as old as it may be before the next request that waits', async () => {
    await replaceBy({ most: 1, longestMs: 1 });
    reply = (socket) => void setTimeout(() => socket.write(OK), 5);
    expect(await Promise.all(askAll(4))).toEqual(['ok', 'ok', 'ok', 'ok']);
    expect(sockets.length).toBe(4);
  });

  it('fails each request if nothing can be connected, whether it waits or not', async () => {
    const requests = Array.from({ length: 6 }, () => ask({ origin: 'http://127.0.0.1:1' }));
    const results = await Promise.allSettled(requests);
    const refused = { status: 'rejected', reason: { code: 'ECONNREFUSED' } };
    expect(results).toMatchObject(Array.from({ length: 6 }, () => refused));
  });

  it('refuses further requests while 20,000 wait', async () => {
    const { kept } = pool;
    const request = { origin, path: '/', method: 'POST', headers: {} };
    for (let at = 0; at < 20_002; at += 1) kept.dispatch(request, {});
    await expect(ask()).rejects.toMatchObject({ code: 'ERR_TOO_MANY_WAIT' });
    expect(pool.waiting()).toBe(20_000);
  });

  it('is left by all requests when the connections are closed', async () => {
    const results = Promise.allSettled(askAll(5));
    await arrived(2);
    await pool.close();
    expect((await results).map(({ status }) => status)).toEqual(Array.from({ length: 5 }, () => 'rejected'));
    expect(pool.waiting()).toBe(0);
    expect(sockets.length).toBe(2);
    await expect(ask()).rejects.toThrow('closed');
  });

  it('counts requests with streamed bodies that wait, too', async () => {
    reply = () => undefined;
    const body = [Buffer.alloc(40_000), Buffer.alloc(40_000)];
    const results = Promise.allSettled(Array.from({ length: 5 }, () => ask({ body })));
    await vi.waitFor(() => expect(sockets.length).toBe(2), WAIT);
    expect(pool.waiting()).toBe(3);
    await pool.close();
    expect((await results).every(({ status }) => status === 'rejected')).toBe(true);
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
      await replaceBy({});
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

  it.each(['', 'ascii', 'ä', 'a🙂\ud800', 'x'.repeat(100_000), 'é'.repeat(100_000)])(
    'may have a text as its body',
    async (body) => {
      const bytes = Buffer.from(body);
      reply = (socket, received) => {
        if (received.endsWith(`\r\n\r\n${bytes.toString('latin1')}`)) socket.write(OK);
      };
      expect(await ask({ body })).toBe('ok');
      expect(sockets[0]?.received).toContain(`content-length: ${bytes.length}\r\n\r\n`);
    },
  );

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

  it.each([
    ['chunks', '200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n'],
    ['others before it', `100 Continue\r\n\r\nHTTP/1.1 103 X\r\nx: y\r\n\r\n${OK}`],
  ])('gets a response with %s', async (_, response) => {
    reply = (socket) => void socket.write(`HTTP/1.1 ${response}`);
    expect([await ask(), await ask()]).toEqual(['ok', 'ok']);
    expect(sockets.length).toBe(1);
  });

  it('gets a response without a length up to the end of the connection', async () => {
    reply = (socket) => void socket.end('HTTP/1.1 200 OK\r\n\r\nok');
    expect([await ask(), await ask()]).toEqual(['ok', 'ok']);
    expect(sockets.length).toBe(2);
  });

  it('gets 204 and 304 without a body', async () => {
    for (const status of [204, 304]) {
      reply = (socket) => void socket.write(`HTTP/1.1 ${status} X\r\ncontent-length: 5\r\n\r\n`);
      expect(await ask()).toBe('');
    }
    expect(sockets.length).toBe(1);
  });

  it.each(['', 'HTTP/1.1 200 OK\r\n', 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhe'])(
    'fails if the connection ends after this part of a response: %j',
    async (part) => {
      reply = (socket) => void socket.end(part);
      await expect(ask()).rejects.toMatchObject({ code: 'UND_ERR_SOCKET' });
      expect(sockets.length).toBe(1);
    },
  );

  it('fails when its connections are closed', async () => {
    reply = () => void pool.close();
    await expect(ask()).rejects.toThrow('closed');
  });

  it('fails when nothing can be connected', async () => {
    await expect(ask({ origin: 'http://127.0.0.1:1' })).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });
});
