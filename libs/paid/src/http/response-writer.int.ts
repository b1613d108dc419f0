import { setImmediate as turn } from 'node:timers/promises';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, expect, it } from 'vitest';
import { ResponseWriter } from './response-writer.js';

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

/** A server that responds by this function. */
async function serve(respond: (writer: ResponseWriter) => Promise<void>): Promise<string> {
  server = Fastify({ forceCloseConnections: true });
  server.decorateRequest('record');
  server.get('/', async (request, reply) => {
    Object.assign(request, { record: { startedMs: performance.now() } });
    const writer = new ResponseWriter(request, reply, BOUNDS);
    await respond(writer);
    writer.close();
  });
  return server.listen({ port: 0, host: '127.0.0.1' });
}

/** A client's response with these frames. */
async function responseWith(frames: readonly string[]): Promise<Response> {
  const url = await serve(async (writer) => {
    writer.begin();
    for (const frame of frames) {
      if (frame === PAUSE) await turn();
      else void writer.write(frame);
    }
    writer.end('last');
  });
  return fetch(url);
}

it.each([
  { frames: ['one', 'two'], title: 'in the tick of the head' },
  {
    frames: ['one', 'zwölf', 'two', PAUSE, 'three', 'vier – 四'],
    title: 'in the tick of the head and later',
  },
  { frames: ['one', PAUSE, 'two', 'three'], title: 'after the tick of the head' },
])('the head and the frames are sent in their order: $title', async ({ frames }) => {
  const response = await responseWith(frames);
  expect(response.status).toBe(200);
  expect(await response.text()).toBe(`${frames.filter((frame) => frame !== PAUSE).join('')}last`);
});

it('a file that is broken off in the tick of its head is seen to be broken, with what it had', async () => {
  const url = await serve(async (writer) => {
    writer.beginFile({ 'content-type': 'audio/mpeg' });
    void writer.writeBytes([Buffer.from('begun')]);
    writer.breakOff();
  });
  const response = await fetch(url);
  expect(response.status).toBe(200);
  const reader = response.body?.getReader();
  expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('begun');
  await expect(reader?.read()).rejects.toThrow('terminated');
});
