import { once } from 'node:events';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import type { ChunkStream, ChatCall } from '@svc/contracts/inference';
import type { RouterPorts } from '../src/api/router-ports.js';
import { Problem } from '@svc/contracts/problems';
import { uuidOf } from '@svc/runtime';
import { describe, expect, it } from 'vitest';
import { type Reply, replying, silent, streaming } from './backend.js';
import { RouterFixture, type StartRouter } from './router-fixture.js';
import { collect, eventually } from './routing.js';

const REJECTED = 'The model rejected the request: ';
const DONE = 'data: [DONE]\n\n';
const CHUNK = 'data: {"choices":[{"index":0,"delta":{"content":"é🙂"}}]}\n\n';
const ANSWER = { choices: [{ index: 0, message: { content: 'hi' } }] };
const CALL: ChatCall = {
  requestId: 'r-1',
  accountId: 'a-1',
  model: 'm',
  body: [Buffer.from('{"messages":[],"seed":9007199254740993}')],
};

let router: RouterPorts;

const complete = (call: Partial<ChatCall> = {}): ReturnType<RouterPorts['complete']> =>
  router.complete({ ...CALL, ...call }, new AbortController().signal);

const stream = (call: Partial<ChatCall> = {}): Promise<ChunkStream> =>
  router.stream({ ...CALL, ...call }, new AbortController().signal);

/** The guarantees of every implementation of the port `InferenceRouter`. */
export function routerConformance(name: string, start: StartRouter): void {
  const fixture = new RouterFixture(start);
  const given: Given = async (...replies) => {
    const started = await fixture.given(...replies);
    ({ router } = fixture);
    return started;
  };

  describe(`${name}`, () => {
    describe('a complete response', () => {
      wholeAnswers(given);
    });
    describe('a streamed response', () => {
      streamedAnswers(given);
    });
    describe('a rejection', () => {
      refusals(given);
    });
    describe('an error instead of a response', () => {
      failovers(given);
    });
    describe('the end of a call', () => {
      endings(given);
    });
  });
}

type Given = RouterFixture['given'];

function wholeAnswers(given: Given): void {
  it('is what the backend wrote for the request under its own model name', async () => {
    const [backend] = await given(replying(ANSWER));
    expect(await complete()).toEqual({ backend: 'backend-1', retries: 0, body: JSON.stringify(ANSWER) });
    const body = '{"model":"backend-0","messages":[],"seed":9007199254740993}';
    const headers = { 'x-request-id': uuidOf('r-1'), 'content-type': 'application/json' };
    expect(backend?.requests).toMatchObject([{ url: '/v1/chat/completions', body, headers }]);
  });

  it('may have any text, as may the request', async () => {
    const text = 'é🙂"\\\n\u2028'.repeat(300_000);
    const answer = { choices: [{ text }] };
    const [backend] = await given(replying(answer));
    const { body } = await complete({
      body: [Buffer.from('{"text":'), Buffer.from(`${JSON.stringify(text)}}`)],
    });
    expect(body === JSON.stringify(answer)).toBe(true);
    expect(backend?.requests[0]?.body === JSON.stringify({ model: 'backend-0', text })).toBe(true);
  });

  it('may have any cache key', async () => {
    await given(replying(ANSWER));
    for (const cacheKey of ['', 'é🙂\r\nx: y', '\ud800', '%', 'x'.repeat(1_000)])
      expect(await complete({ cacheKey })).toMatchObject({ retries: 0 });
  });

  it("fails if it exceeds its limit, and closes the backend's connection", async () => {
    const [backend] = await given((response) => {
      const write = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536, 'x')));
      };
      response.on('drain', write);
      write();
    });
    await expect(complete()).rejects.toMatchObject({ code: 'INFERENCE_FAILED' });
    await eventually('the backend is let go', () => backend?.cut === 1);
  });
}

function streamedAnswers(given: Given): void {
  it('has the bytes of the backend, including its end', async () => {
    const text = `: hi\n\nevent: x\r\ndata: 1\r\n\r\n${CHUNK.repeat(1_000)}${DONE}: and more\n\n`;
    await given(streaming(text));
    const answer = await stream();
    expect(answer).toMatchObject({ backend: 'backend-1', retries: 0 });
    expect(await collect(answer)).toBe(text);
  });

  it('has the bytes as they come, even split characters', async () => {
    const bytes = Buffer.from(CHUNK + DONE);
    await given(async (response) => {
      for (const byte of bytes) {
        response.write(Buffer.from([byte]));
        await setImmediate();
      }
      response.end();
    });
    expect(await collect(await stream())).toBe(CHUNK + DONE);
  });

  it('is delivered before its second event arrives', async () => {
    let goOn: (() => void) | undefined;
    await given((response) => {
      response.write(CHUNK);
      goOn = () => response.end(DONE);
    });
    const answer = await stream();
    goOn?.();
    expect(await collect(answer)).toBe(CHUNK + DONE);
  });

  it('ends where the backend ends it, with or without [DONE]', async () => {
    await given(streaming(CHUNK));
    expect(await collect(await stream())).toBe(CHUNK);
  });

  it('fails when the connection breaks, after delivering the earlier bytes', async () => {
    await given((response) => {
      response.write(CHUNK);
      setTimeout(() => response.destroy(), 50);
    });
    const pieces = (await stream()).bytes[Symbol.asyncIterator]();
    const first = await pieces.next();
    expect(first.done === true ? '' : Buffer.concat(first.value).toString()).toBe(CHUNK);
    await expect(pieces.next()).rejects.toMatchObject({ code: 'INFERENCE_FAILED' });
  });

  it('fails when the backend goes silent, and closes its connection', async () => {
    const [backend] = await given((response) => void response.write(CHUNK));
    await expect(collect(await stream())).rejects.toMatchObject({ code: 'REQUEST_TIMEOUT' });
    await eventually('the backend is let go', () => backend?.cut === 1);
  });

  it("fails when it exceeds its limit, and closes the backend's connection", async () => {
    const block = Buffer.from(`data: ${'x'.repeat(65_528)}\n\n`);
    const [backend] = await given(async (response) => {
      while (!response.destroyed) if (!response.write(block)) await sleep(1);
    });
    await expect(collect(await stream())).rejects.toMatchObject({ code: 'INFERENCE_FAILED' });
    await eventually('the backend is let go', () => backend?.cut === 1);
  });

  it('slows its backend when it is read slowly, and stays complete', async () => {
    const block = Buffer.from(`data: ${'x'.repeat(65_528)}\n\n`);
    const blocks = 800;
    let written = 0;
    await given(async (response) => {
      for (; written < blocks; written += 1) if (!response.write(block)) await once(response, 'drain');
      response.end();
    });
    const pieces = (await stream()).bytes[Symbol.asyncIterator]();
    let before = -1;
    while (before !== written) {
      before = written;
      await sleep(200);
    }
    expect(written).toBeLessThan(blocks / 2);
    let size = 0;
    for (let next = await pieces.next(); !next.done; next = await pieces.next())
      for (const part of next.value) size += part.length;
    expect(size).toBe(blocks * block.length);
  });
}

const error = (members: object): object => ({ error: members });

/** Everything in a rejection that could reach a client or a log. */
const disclosed = (refusal: unknown): string =>
  JSON.stringify([refusal, String(refusal), String((refusal as Problem).cause)]);

function refusals(given: Given): void {
  it.each([
    [400, error({ message: 'no', param: 'top_k' }), { message: `${REJECTED}no`, param: 'top_k' }],
    [400, error({ code: 'context_length_exceeded' }), { code: 'TOO_MANY_TOKENS', param: 'messages' }],
    [400, { message: `This model's maximum context length is 9 tokens.` }, { code: 'TOO_MANY_TOKENS' }],
    [422, { detail: [{ loc: ['body', 'top_k'], msg: 'no' }] }, { code: 'INVALID_REQUEST', param: 'top_k' }],
    [422, {}, { code: 'INVALID_REQUEST', param: null }],
    [413, {}, { code: 'PAYLOAD_TOO_LARGE' }],
    [429, {}, { code: 'MODEL_AT_CAPACITY', retryAfterSeconds: 5 }],
    [503, error({ message: 'busy' }), { code: 'MODEL_AT_CAPACITY' }],
    [401, {}, { code: 'INFERENCE_FAILED' }],
    [302, {}, { code: 'INFERENCE_FAILED' }],
    [500, {}, { code: 'INFERENCE_FAILED' }],
    [504, {}, { code: 'REQUEST_TIMEOUT' }],
  ])('is a problem: %s %j', async (status, body, problem) => {
    await given(replying(body, status));
    for (const pending of [complete(), stream()]) {
      const refusal: unknown = await pending.catch((caught: unknown) => caught);
      expect(refusal).toBeInstanceOf(Problem);
      expect(refusal).toMatchObject(problem);
    }
  });

  const SECRETS = /sk-live|10\.0|vllm-3|hidden/;
  const secrets = 'sk-live-a1b2c3d4 at http://10.0.0.1 (vllm-3.internal:8000)';
  const reason = `${secrets} for "my hidden instructions of this character"`;
  it.each([
    [400, error({ message: reason, param: 'top_k' })],
    [422, error({ message: reason, param: reason })],
    [422, { detail: reason }],
    [413, { error: reason }],
    [500, error({ message: reason })],
  ])('shows no address, key or hidden prompt to a client or in a log: %s %j', async (status, body) => {
    const [backend] = await given(replying(body, status));
    const hidden = [Buffer.from('{"messages":[{"content":"my hidden instructions of this character"}]}')];
    const refusal = (): Promise<unknown> => complete({ body: hidden }).catch((caught: unknown) => caught);
    expect(disclosed(await refusal())).not.toMatch(SECRETS);
    if (backend) backend.reply = replying({ error: { code: status, message: reason, ...body } });
    expect(disclosed(await refusal())).not.toMatch(SECRETS);
  });

  it('carries the time to retry after', async () => {
    await given((response) => void response.writeHead(429, { 'retry-after': '17' }).end());
    await expect(complete()).rejects.toMatchObject({ retryAfterSeconds: 17, code: 'MODEL_AT_CAPACITY' });
  });

  it('follows if no backend is reachable', async () => {
    await given('dead');
    await expect(stream()).rejects.toMatchObject({ code: 'MODEL_OFFLINE' });
    await expect(stream({ model: 'unknown' })).rejects.toMatchObject({ code: 'MODEL_OFFLINE' });
  });

  it('follows in time if a backend sends nothing, or only comments', async () => {
    const [backend] = await given(async (response) => {
      while (!response.destroyed) {
        response.write(': wait\n\n');
        await sleep(20);
      }
    });
    await expect(stream()).rejects.toMatchObject({ code: 'REQUEST_TIMEOUT' });
    if (backend) backend.reply = silent;
    await expect(stream()).rejects.toMatchObject({ code: 'REQUEST_TIMEOUT' });
    await eventually('the backend is let go', () => backend?.cut === 2);
  });
}

function failovers(given: Given): void {
  const wholes = [
    error({ message: 'slow down', code: 429 }),
    error({ message: 'busy', type: 'overloaded_error' }),
    { object: 'error', message: 'busy', code: 503 },
    { error: 'out of memory' },
  ];
  const firsts = [
    ...wholes.map((body) => `data: ${JSON.stringify(body)}\n\n`),
    `: hi\n\ndata: { "id": 1, "error": {"code": "rate_limit_exceeded"} }\r\n\r\n`,
    'event: error\ndata: {"message":"busy"}\n\n',
    `data: {"error":\ndata: {"code":503}}\n\n${DONE}`,
    '{"error":{"code":503}}',
    DONE,
    ': nothing\n\n',
    '',
  ];

  it.each([...wholes, {}, { choices: [] }])(
    'makes the router call the next backend for a complete response: %j',
    async (body) => {
      await given(replying(body), replying(ANSWER));
      expect(await complete()).toMatchObject({ retries: 1, body: JSON.stringify(ANSWER) });
    },
  );

  it.each(firsts)('makes the router call the next backend for a stream: %j', async (text) => {
    await given(streaming(text), streaming(CHUNK + DONE));
    const answer = await stream();
    expect(answer.retries).toBe(1);
    expect(await collect(answer)).toBe(CHUNK + DONE);
  });

  it('is a rejection when no backend is left', async () => {
    const backends = await given(streaming(firsts[0] ?? ''), streaming(firsts[1] ?? ''));
    await expect(stream()).rejects.toMatchObject({ code: 'MODEL_AT_CAPACITY' });
    for (const backend of backends) backend.reply = replying(wholes[1] ?? {});
    await expect(complete()).rejects.toMatchObject({ code: 'MODEL_AT_CAPACITY' });
  });

  it("is the caller's fault if every backend would respond with it", async () => {
    await given(streaming('data: {"error":{"code":400,"param":"seed"}}\n\n'), streaming(CHUNK + DONE));
    await expect(stream()).rejects.toMatchObject({ code: 'INVALID_REQUEST', param: 'seed' });
  });

  it('is not assumed when a response merely mentions errors', async () => {
    const body = { choices: [{ delta: { content: 'an "error"' } }], error: null };
    await given(streaming(`data: ${JSON.stringify(body)}\n\n${DONE}`));
    expect(await collect(await stream())).toContain('an \\"error\\"');
  });

  it('adds to the count of retries for every backend called in vain', async () => {
    await given('dead', replying({}, 500), replying({}, 429), streaming(CHUNK + DONE));
    expect(await stream()).toMatchObject({ retries: 3 });
  });

  it('is passed on once a response has begun', async () => {
    const text = `${CHUNK}data: {"error":{"code":503}}\n\n`;
    await given(streaming(text), streaming(CHUNK + DONE));
    expect(await collect(await stream())).toBe(text);
  });

  it('includes an encoding that was not requested', async () => {
    const packed: Reply = (response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(Buffer.from('1f8b0800', 'hex'));
    };
    await given(packed, replying(ANSWER));
    expect(await complete()).toMatchObject({ retries: 1 });
  });
}

function endings(given: Given): void {
  it('closes the connection when the reader stops', async () => {
    const [backend] = await given((response) => void response.write(CHUNK));
    for await (const arrived of (await stream()).bytes) {
      expect(arrived.length).toBe(1);
      break;
    }
    await eventually('the backend is let go', () => backend?.cut === 1);
  });

  it('closes the connection on abort, for complete and streamed responses', async () => {
    const [backend] = await given(silent);
    const abort = new AbortController();
    const whole = router.complete(CALL, abort.signal);
    const streamed = router.stream(CALL, abort.signal);
    await eventually('both are asked', () => backend?.requests.length === 2);
    abort.abort();
    await expect(whole).rejects.toThrow(Problem);
    await expect(streamed).rejects.toThrow(Problem);
    await eventually('the backend is let go', () => backend?.cut === 2);
  });

  it('closes the connection on abort in mid-stream', async () => {
    const [backend] = await given((response) => void response.write(CHUNK));
    const abort = new AbortController();
    const pieces = (await router.stream(CALL, abort.signal)).bytes[Symbol.asyncIterator]();
    await pieces.next();
    const next = pieces.next();
    abort.abort();
    await expect(next).rejects.toThrow(Problem);
    await eventually('the backend is let go', () => backend?.cut === 1);
  });

  it('precedes the call if it was aborted before', async () => {
    const [backend] = await given(streaming(DONE));
    await expect(router.stream(CALL, AbortSignal.abort())).rejects.toThrow(Problem);
    expect(backend?.requests).toEqual([]);
  });
}
