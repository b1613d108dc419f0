import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import { type AddressInfo, type Socket, connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { UnreadResponses } from './open-requests.js';

const UNREAD_MS = 1_000;
/** More than a kernel buffers for a connection. */
const ANSWER = Buffer.alloc(32 * 1024 * 1024, 'a');

let server: Server;
let socket: Socket;
let ended: Promise<unknown[]>;

beforeEach(async () => {
  const closed = Promise.withResolvers<unknown[]>();
  ended = closed.promise;
  const unread = new UnreadResponses(UNREAD_MS);
  server = createServer((_request, response) => {
    unread.begin(response);
    response.on('close', () => closed.resolve([response.writableFinished]));
    // Late, like the response of a slow model.
    setTimeout(() => response.end(ANSWER), 2 * UNREAD_MS);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.pause();
  socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
});

afterEach(() => {
  socket.destroy();
  server.closeAllConnections();
  server.close();
});

it('disconnects a client that does not read its response', async () => {
  expect(await ended).toEqual([false]);
});

it('waits for a client that reads slowly', async () => {
  let bytes = 0;
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    socket.pause();
  });
  socket.resume();
  const reading = setInterval(() => socket.resume(), 5);
  try {
    expect(await ended).toEqual([true]);
    while (bytes < ANSWER.length) await sleep(5);
  } finally {
    clearInterval(reading);
  }
});
