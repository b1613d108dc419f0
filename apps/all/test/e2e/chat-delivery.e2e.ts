import { EventEmitter, once } from 'node:events';
import { type IncomingMessage, type ServerResponse, request as httpRequest } from 'node:http';
import { type Socket, connect } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { TestServer } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Chunk, type Cost, chunksOf, errorOf, eventually } from '../response-bodies.js';
import { Platform, type TestAccount } from '../platform.js';

const model = 'test-model';
const ask = (content: string, rest: object = {}) => ({
  model,
  messages: [{ role: 'user', content }],
  ...rest,
});

const KEEP_ALIVE = ': keep-alive\n\n';
const TURNS = 30;

/** A model server that sends each token when it is this token's turn. */
const turns = new EventEmitter();
let backend: TestServer;
let platform: Platform;
let account: TestAccount;

async function sendInTurn(response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (delta: object, reason: string | null): void => {
    const choices = [{ index: 0, delta, finish_reason: reason }];
    response.write(`data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', choices })}\n\n`);
  };
  for (let turn = 0; turn < TURNS; turn += 1) {
    const next = once(turns, 'next');
    send({ content: `${turn} ` }, null);
    await next;
  }
  send({}, 'stop');
  response.end('data: [DONE]\n\n');
}

beforeAll(async () => {
  backend = await TestServer.start((request, response) => {
    request.resume();
    if (request.method === 'GET') response.end('{}');
    else void sendInTurn(response);
  });
  platform = await Platform.start({
    models: [{ id: 'in-turn', backends: [{ url: `${backend.url}/v1`, model: 'in-turn' }] }],
    env: { GATEWAY_KEEP_ALIVE_MS: '50', ROUTER_STREAM_IDLE_TIMEOUT_MS: '1500' },
  });
  account = await platform.account('100.00');
});

afterAll(async () => {
  await platform.stop();
  await backend.close();
});

/** Posts without an agent or decoder, so that the test sees the bytes as sent. */
async function postChat(body: object, headers: object = {}): Promise<IncomingMessage> {
  const request = httpRequest(`${platform.apiUrl}/chat/completions`, {
    method: 'POST',
    agent: false,
    headers: { authorization: `Bearer ${account.apiKey}`, 'content-type': 'application/json', ...headers },
  });
  request.end(JSON.stringify(body));
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return response;
}

describe('200, compressed', () => {
  /** The parts of a response that are the same each time. */
  const comparable = (bytes: Buffer): unknown => {
    const { id, created, ...rest } = JSON.parse(bytes.toString()) as Record<string, unknown>;
    expect([id, created]).toEqual([expect.stringMatching(/^chatcmpl-/), expect.any(Number)]);
    return rest;
  };

  it.each([
    ['gzip', 'gzip', gunzipSync],
    ['br', 'br', brotliDecompressSync],
    ['gzip, deflate, br', 'br', brotliDecompressSync],
    ['br;q=0.1, gzip;q=0.9', 'gzip', gunzipSync],
    ['*', 'br', brotliDecompressSync],
  ] as const)('returns the same JSON for Accept-Encoding %s', async (accepted, encoding, decode) => {
    const body = ask('Reply exactly: héllo wörld 🙂');
    const plain = await postChat(body);
    const encoded = await postChat(body, { 'accept-encoding': accepted });
    expect(encoded.headers).toMatchObject({ 'content-encoding': encoding, vary: 'accept-encoding' });
    const bytes = await buffer(encoded);
    expect(Number(encoded.headers['content-length'])).toBe(bytes.length);
    expect(comparable(decode(bytes))).toEqual(comparable(await buffer(plain)));
  });

  it.each(['identity', 'deflate', 'gzip;q=0, br;q=0', ''])(
    'does not apply to Accept-Encoding %j',
    async (accepted) => {
      const response = await postChat(ask('hi'), { 'accept-encoding': accepted });
      expect(response.headers).not.toHaveProperty('content-encoding');
      expect(comparable(await buffer(response))).toMatchObject({ object: 'chat.completion' });
    },
  );

  it('never applies to a stream', async () => {
    const response = await postChat(ask('hi', { stream: true }), { 'accept-encoding': 'gzip, br' });
    expect(response.headers).not.toHaveProperty('content-encoding');
    expect((await buffer(response)).toString()).toMatch(/^(: keep-alive\n\n)*data: \{/);
  });
});

describe('200, streamed', () => {
  it('has exactly the expected framing', async () => {
    const response = await postChat(ask('Reply exactly: one\ntwo 🙂', { stream: true }));
    const text = (await buffer(response)).toString();
    expect(text).not.toMatch(/^(event|id|retry):|\r/m);
    expect(text.endsWith('\n\ndata: [DONE]\n\n')).toBe(true);
    const frames = text.slice(0, -'data: [DONE]\n\n'.length).split(/(?<=\n\n)/);
    // A slow machine may need a sign of life between them.
    for (const frame of frames.filter((each) => each !== KEEP_ALIVE)) {
      const [, json = ''] = /^data: (\{.*\})\n\n$/.exec(frame) ?? [];
      expect(JSON.parse(json)).toMatchObject({
        object: 'chat.completion.chunk',
        choices: expect.any(Array),
      });
    }
    expect(response.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    });
  });

  it('sends keep-alives while there is no output', async () => {
    const stalled = ask('go [[sim fault=stall-mid-stream after=3 itl-ms=1]]', { stream: true });
    const text = (await buffer(await postChat(stalled))).toString();
    const comments = text.split(/(?<=\n\n)/).filter((frame) => frame.startsWith(':'));
    expect(comments.length).toBeGreaterThan(5);
    expect(new Set(comments)).toEqual(new Set([KEEP_ALIVE]));
    // Between frames, never inside one.
    expect(text.match(/: keep-alive/g)?.length).toBe(comments.length);
  });

  it('sends no keep-alives while there is output', async () => {
    const flowing = ask('go [[sim tokens=60 itl-ms=5]]', { stream: true });
    const frames = (await buffer(await postChat(flowing))).toString().split(/(?<=\n\n)/);
    expect(frames.filter((frame) => frame.startsWith('data: ')).length).toBeGreaterThan(60);
    expect(frames.filter((frame) => frame.startsWith(':')).length).toBeLessThan(10);
  });

  it('ends with an error when its backend stalls for too long, and charges what was delivered', async () => {
    const { id, apiKey } = await platform.account();
    platform.simulator.clearLog();
    const stalled = ask('go [[sim fault=stall-mid-stream after=3 itl-ms=1]]', { stream: true });
    const response = await platform.chat(apiKey, stalled);
    const { chunks, done, text } = await chunksOf(response);
    expect(response.status).toBe(200);
    expect(text).not.toBe('');
    expect(chunks.at(-1)?.error).toMatchObject({
      code: 'REQUEST_TIMEOUT',
      type: 'timeout_error',
      param: null,
    });
    expect(done).toBe(true);
    expect(Number((await platform.balances(id)).usd)).toBeLessThan(10);
    await eventually('the backend is let go', () => platform.simulator.cancellations().length === 1);
  });

  it.each([
    'crlf',
    'comments',
    'multi-line',
    'missing-usage',
    'duplicate-usage',
    'missing-finish',
    'slow-headers delay-ms=300',
  ])('returns the same text from a backend with %s', async (fault) => {
    const odd = ask(`Reply exactly: héllo 🙂 👩‍👩‍👧‍👦 [[sim fault=${fault} itl-ms=1]]`, { stream: true });
    const response = await platform.chat(account.apiKey, odd);
    const { chunks, text, done } = await chunksOf(response);
    expect({ text, done }).toEqual({ text: 'héllo 🙂 👩‍👩‍👧‍👦', done: true });
    const reasons = chunks.flatMap(({ choices }) => choices).map((choice) => choice.finish_reason);
    expect(reasons.filter(Boolean)).toEqual(['stop']);
    expect(chunks.filter((chunk) => 'usage' in chunk)).toEqual([chunks.at(-1)]);
    expect(chunks.at(-1)).toMatchObject({
      choices: [{ finish_reason: 'stop' }],
      cost: { usd: expect.any(Number), diem: 0 },
    });
  });

  it('has usage and cost in a separate chunk for a client that requests it, as OpenAI sends it', async () => {
    const body = ask('Reply exactly: one two', { stream: true, stream_options: { include_usage: true } });
    const { chunks, text, done } = await chunksOf(await platform.chat(account.apiKey, body));
    expect({ text, done }).toEqual({ text: 'one two', done: true });
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: expect.any(Number) } });
    expect(chunks.at(-2)).toMatchObject({ choices: [{ finish_reason: 'stop' }] });
    expect(chunks.filter((chunk) => 'usage' in chunk || 'cost' in chunk)).toHaveLength(1);
  });

  it('has the same text from a backend that splits characters over two writes', async () => {
    const odd = ask('go [[sim fault=split-utf8 tokens=200]]', { stream: true });
    const direct = await fetch(`${platform.simulator.url}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ ...odd, stream_options: { include_usage: true } }),
    });
    const { text } = await chunksOf(direct);
    expect(text).toMatch(/[^\p{ASCII}]{20}|(?:[^\p{ASCII}].*){20}/u);
    const given = await chunksOf(await platform.chat(account.apiKey, odd));
    expect({ text: given.text, done: given.done }).toEqual({ text, done: true });
  });

  it('holds no token back until the next one comes', async () => {
    const response = await postChat({ ...ask('go', { stream: true }), model: 'in-turn' });
    let received = '';
    let turn = 0;
    for await (const bytes of response) {
      received += String(bytes);
      if (!received.includes(`"content":"${turn} "`)) continue;
      turn += 1;
      turns.emit('next');
    }
    expect(turn).toBe(TURNS);
    expect(received).toContain('data: [DONE]');
  });
});

describe('200, streamed to clients that are not common', () => {
  const url = (): string => `${platform.apiUrl}/chat/completions`;
  const texts = ['one two three', 'vier fünf sechs', '七 八 🙂'];
  const bodies = texts.map((text) => ask(`Reply exactly: ${text} [[sim itl-ms=2]]`, { stream: true }));

  it('answers pipelined requests one after the other, each as a whole stream', async () => {
    const requests = bodies.map((body, at) =>
      posted(url(), body, at === bodies.length - 1 ? { more: ['Connection: close'] } : {}),
    );
    const socket = connected(url(), requests.join(''));
    let rest: Buffer = await buffer(socket);
    for (const text of texts) {
      const { head, body, after } = chunkedResponse(rest);
      expect(head).toMatch(/^HTTP\/1\.1 200 /);
      expect(await chunksOf(new Response(body))).toMatchObject({ text, done: true });
      rest = after;
    }
    expect(rest.toString()).toBe('');
  });

  it('answers HTTP/1.0 without chunks, up to the end of the connection', async () => {
    for (const [at, text] of texts.entries()) {
      const socket = connected(url(), posted(url(), bodies[at] ?? {}, { version: '1.0' }));
      const response = await buffer(socket);
      const end = response.indexOf(HEAD_END);
      expect(response.toString('latin1', 0, end)).not.toMatch(/transfer-encoding/i);
      const body = response.toString('utf8', end + HEAD_END.length);
      expect(body).toMatch(/^data: /);
      expect(await chunksOf(new Response(body))).toMatchObject({ text, done: true });
    }
  });
});

const HEAD_END = '\r\n\r\n';

/** A request as a client writes it. */
function posted(
  url: string,
  body: object,
  { more = [], version = '1.1' }: { more?: readonly string[]; version?: string },
): string {
  const { hostname, pathname } = new URL(url);
  const text = JSON.stringify(body);
  const head = [
    `POST ${pathname} HTTP/${version}`,
    `Host: ${hostname}`,
    `Authorization: Bearer ${account.apiKey}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(text)}`,
    ...more,
  ];
  return `${head.join('\r\n')}${HEAD_END}${text}`;
}

/** A connection on which this was written. */
function connected(url: string, text: string): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write(text);
  return socket;
}

/** The first response of these bytes, which must be in chunks, and the bytes after it. */
function chunkedResponse(bytes: Buffer): { head: string; body: string; after: Buffer } {
  let at = bytes.indexOf(HEAD_END) + HEAD_END.length;
  const head = bytes.toString('latin1', 0, at);
  expect(head).toMatch(/transfer-encoding: chunked/i);
  const parts: Buffer[] = [];
  for (let size = -1; size !== 0;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    const digits = bytes.toString('latin1', at, lineEnd);
    expect(digits).toMatch(/^(0|[1-9a-f][\da-f]*)$/i);
    size = Number.parseInt(digits, 16);
    const start = lineEnd + 2;
    parts.push(bytes.subarray(start, start + size));
    at = start + size + 2;
    expect(bytes.toString('latin1', at - 2, at)).toBe('\r\n');
  }
  return { head, body: Buffer.concat(parts).toString(), after: bytes.subarray(at) };
}

describe('504', () => {
  const message =
    'The request took too long to complete and was timed-out. For long-running inference requests, ' +
    'use the streaming API by setting `stream=true` in your request.';
  let hasty: Platform;

  beforeAll(async () => {
    hasty = await Platform.start({ env: { GATEWAY_RESPONSE_TIMEOUT_MS: '300' } });
  });

  afterAll(() => hasty.stop());

  it.each(['stall', 'slow-headers delay-ms=60000', 'stall-mid-stream'])(
    'ends a completion that takes too long (%s), cancels the backend call and charges nothing',
    async (fault) => {
      const { id, apiKey } = await hasty.account('1.00');
      hasty.simulator.clearLog();
      const send = async (): Promise<void> => {
        const response = await hasty.chat(apiKey, ask(`go [[sim fault=${fault}]]`));
        expect(response.status).toBe(504);
        expect(await errorOf(response)).toEqual({
          error: { message, type: 'timeout_error', param: null, code: 'REQUEST_TIMEOUT' },
          code: 'REQUEST_TIMEOUT',
        });
      };
      // On a busy machine the time may be over before the backend was called: then there is nothing to
      // cancel.
      await eventually('a backend was asked', async () => {
        await send();
        return hasty.simulator.requests().length + hasty.simulator.stats().inFlight > 0;
      });
      await eventually('the backend is let go', () => {
        const requests = hasty.simulator.requests();
        return requests.length > 0 && requests.every(({ outcome }) => outcome === 'cancelled');
      });
      expect(hasty.simulator.stats()).toMatchObject({ inFlight: 0 });
      expect(await hasty.balances(id)).toMatchObject({ usd: '1.00' });
      const next = await hasty.chat(apiKey, ask('hi'));
      expect(next.headers.get('x-svc-balance-usd')).toBe('1.00');
    },
  );

  it('allows a stream to take longer', async () => {
    const { id, apiKey } = await hasty.account('1.00');
    const ended: { chunks: Chunk[]; done: boolean }[] = [];
    await eventually('its first token came in time', async () => {
      const response = await hasty.chat(apiKey, ask('go [[sim tokens=100 itl-ms=10]]', { stream: true }));
      ended.push(await chunksOf(response));
      return ended.at(-1)?.done === true;
    });
    const cost: Cost | undefined = ended.at(-1)?.chunks.at(-1)?.cost;
    expect(Number((await hasty.balances(id)).usd)).toBeCloseTo(1 - (cost?.usd ?? 0), 9);
  });
});
