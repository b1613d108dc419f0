import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import { type AddressInfo, type Socket, connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { UnreadResponses } from './open-requests.js';

interface Times {
  readonly unreadMs: number;
  /** When the response ends. */
  readonly endMs: number;
}

/** More than a kernel buffers for a connection. */
const ANSWER = Buffer.alloc(32 * 1024 * 1024, 'a');

let server: Server;
let socket: Socket;
let ended: Promise<unknown[]>;

async function open({ unreadMs, endMs }: Times): Promise<void> {
  const closed = Promise.withResolvers<unknown[]>();
  ended = closed.promise;
  const unread = new UnreadResponses(unreadMs);
  server = createServer((_request, response) => {
    unread.begin(response);
    response.on('close', () => closed.resolve([response.writableFinished]));
    setTimeout(() => response.end(ANSWER), endMs);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.pause();
  socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
}

afterEach(() => {
  socket.destroy();
  server.closeAllConnections();
  server.close();
});

it('disconnects a client that does not read its response', async () => {
  // Late, like the response of a slow model.
  await open({ unreadMs: 1_000, endMs: 2_000 });
  expect(await ended).toEqual([false]);
});

it('waits for a client that reads slowly', async () => {
  // A busy machine may stop it for a second. It reads for twice as long as a client may stop.
  await open({ unreadMs: 4_000, endMs: 100 });
  let bytes = 0;
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    socket.pause();
  });
  socket.resume();
  const reading = setInterval(() => socket.resume(), 16);
  try {
    expect(await ended).toEqual([true]);
    while (bytes < ANSWER.length) await sleep(5);
  } finally {
    clearInterval(reading);
  }
});
