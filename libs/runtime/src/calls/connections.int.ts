import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { setImmediate as turn } from 'node:timers/promises';
import { TestServer } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Connections, connections } from './connections.js';
import { Exchange, ExchangeAborted } from './exchange.js';

/** What the server does with each request, in order. The last one is for all that follow. */
type Reply = (response: ServerResponse, request: IncomingMessage) => void;

const answer: Reply = (response) => void response.end('ok');

const RESETS: Readonly<Record<string, Reply>> = {
  'closes it': (response) => void response.socket?.destroy(),
  'resets it': (response) => void response.socket?.resetAndDestroy(),
  'ends it': (response) => void response.socket?.end(),
};

let replies: Reply[];
/** The bodies that arrived, and on which connection. */
let requests: { readonly body: string; readonly port: number | undefined }[];
let server: TestServer;
let pool: Connections;
let ended: (Error | undefined)[];

beforeEach(async () => {
  requests = [];
  ended = [];
  server = await TestServer.start((request, response) => {
    void text(request)
      .catch(() => '')
      .then((body) => {
        requests.push({ body, port: request.socket.remotePort });
        (replies[requests.length - 1] ?? replies.at(-1))?.(response, request);
      });
  });
  pool = connections({ connectTimeoutMs: 10_000, keepAliveMs: 60_000 });
});

afterEach(async () => {
  await pool.close();
  await server.close();
});

async function ask(
  body: string | readonly Uint8Array[] = 'hi',
  { repeats = true, signal }: { repeats?: boolean; signal?: AbortSignal } = {},
): Promise<string> {
  const request = { origin: server.url, path: '/', headers: {}, body, pauseMs: 60_000, deadlineMs: 60_000 };
  const exchange = await Exchange.start(pool.kept, request, {
    signal,
    onEnd: (failure) => void ended.push(failure),
    fresh: repeats ? pool.fresh : undefined,
  });
  const reply = await exchange.text(1_000);
  // The connection is free for the next request after this turn.
  await turn();
  return reply;
}

it('a response that was cut off before it is read is no whole one', async () => {
  replies = [
    (response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('the beginning', () => response.socket?.destroy());
    },
  ];
  const request = { origin: server.url, path: '/', headers: {}, pauseMs: 60_000, deadlineMs: 60_000 };
  const onEnd = (failure: Error | undefined): void => void ended.push(failure);
  const exchange = await Exchange.start(pool.kept, request, { signal: undefined, onEnd });
  await vi.waitFor(() => expect(ended).toEqual([expect.any(Error)]));
  await expect(Promise.resolve().then(() => exchange.text(1_000))).rejects.toBe(ended[0]);
});

describe('a request on a connection that was used before', () => {
  const long = Array.from({ length: 64 }, (_, at) => Buffer.alloc(65_536, `${at % 10}`));

  it.each(Object.entries(RESETS))(
    'is sent once more if the server %s before its first byte',
    async (_, reset) => {
      replies = [answer, reset, answer];
      expect(await ask('one')).toBe('ok');
      expect(await ask('two')).toBe('ok');
      expect(requests.map(({ body }) => body)).toEqual(['one', 'two', 'two']);
      expect(requests[1]?.port).toBe(requests[0]?.port);
      expect(requests[2]?.port).not.toBe(requests[0]?.port);
      expect(ended).toEqual([undefined, undefined]);
    },
  );

  it('is sent whole again if its body is long', async () => {
    replies = [answer, ...Object.values(RESETS).slice(0, 1), answer];
    await ask(long);
    expect(await ask(long)).toBe('ok');
    expect(requests.at(-1)?.body === Buffer.concat(long).toString()).toBe(true);
  });

  it('fails if its new connection is closed, too', async () => {
    for (const reset of Object.values(RESETS)) {
      replies = [answer, reset];
      requests.length = 0;
      ended.length = 0;
      await ask();
      await expect(ask()).rejects.toThrow(Error);
      expect(requests.length).toBe(3);
      expect(ended).toEqual([undefined, expect.any(Error)]);
    }
  });

  it('is not sent again once a byte of its response has arrived', async () => {
    const beginnings: Reply[] = [
      (response) => void response.socket?.end('H'),
      (response) => void response.socket?.end('HTTP/1.1 200 OK\r\n'),
      (response) => void response.socket?.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\no'),
    ];
    for (const begin of beginnings) {
      replies = [answer, begin, answer];
      requests.length = 0;
      await ask();
      await expect(ask()).rejects.toThrow(Error);
      expect(requests.length).toBe(2);
    }
  });

  it('is not sent again if it must not run twice', async () => {
    for (const reset of Object.values(RESETS)) {
      replies = [answer, reset, answer];
      requests.length = 0;
      await ask();
      await expect(ask('hi', { repeats: false })).rejects.toThrow(Error);
      expect(requests.length).toBe(2);
    }
  });

  it('ends when its caller leaves during the second attempt', async () => {
    const caller = new AbortController();
    const leave: Reply = () => caller.abort();
    replies = [answer, RESETS['closes it'] ?? answer, leave];
    await ask();
    await expect(ask('hi', { signal: caller.signal })).rejects.toThrow(ExchangeAborted);
    expect(requests.length).toBe(3);
  });
});

describe('a request on a new connection', () => {
  it.each(Object.entries(RESETS))(
    'is not sent again if the server %s, which may be its fault',
    async (_, reset) => {
      replies = [reset, answer];
      await expect(ask()).rejects.toThrow(Error);
      expect(requests.length).toBe(1);
    },
  );
});

it('a HEAD has a length and no body', async () => {
  replies = [(response) => void response.writeHead(200, { 'content-length': '2' }).end()];
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  pool.kept.dispatch(
    { origin: server.url, path: '/', method: 'HEAD' },
    {
      onRequestStart: () => undefined,
      onResponseStart: () => undefined,
      onResponseData: () => reject(new Error('it has no body')),
      onResponseEnd: () => resolve(),
      onResponseError: (_, error) => reject(error),
    },
  );
  await expect(promise).resolves.toBeUndefined();
});
