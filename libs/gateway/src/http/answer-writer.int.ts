import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setImmediate as turn } from 'node:timers/promises';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, expect, it } from 'vitest';
import { AnswerWriter } from './answer-writer.js';

const BOUNDS = {
  GATEWAY_RESPONSE_TIMEOUT_MS: 60_000,
  GATEWAY_FIRST_TOKEN_WAIT_MS: 60_000,
  GATEWAY_KEEP_ALIVE_MS: 60_000,
  GATEWAY_CLIENT_IDLE_TIMEOUT_MS: 60_000,
};

let server: FastifyInstance | undefined;

afterEach(() => server?.close());

/** Stands for a turn of the event loop between two frames. */
const PAUSE = 'pause';

/** All bytes of a response with these frames. */
async function bytesOf(frames: readonly string[]): Promise<string> {
  server = Fastify({ forceCloseConnections: true });
  server.decorateRequest('record');
  server.get('/', async (request, reply) => {
    Object.assign(request, { record: { startedMs: performance.now() } });
    const writer = new AnswerWriter(request, reply, BOUNDS);
    writer.begin();
    for (const frame of frames) {
      if (frame === PAUSE) await turn();
      else void writer.write(frame);
    }
    writer.end('last');
    writer.close();
  });
  await server.listen({ port: 0 });
  const socket = connect((server.server.address() as AddressInfo).port);
  await once(socket, 'connect');
  socket.end('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
  return (await buffer(socket)).toString();
}

it.each([
  { frames: ['one', 'two'], title: 'in the tick of the head' },
  {
    frames: ['one', 'zwölf', 'two', PAUSE, 'three', 'vier – 四'],
    title: 'in the tick of the head and later',
  },
  { frames: ['one', PAUSE, 'two', 'three'], title: 'after the tick of the head' },
])('the head and the frames are sent in their order: $title', async ({ frames }) => {
  const [head, ...body] = (await bytesOf(frames)).split('\r\n\r\n');
  expect(head).toMatch(/^HTTP\/1\.1 200 /);
  // Without the length of each chunk.
  const text = body.join('\r\n\r\n').replace(/(?:^|\r\n)[0-9a-f]+\r\n/g, '');
  expect(text).toMatch(new RegExp(`^${frames.filter((frame) => frame !== PAUSE).join('')}last`));
});
