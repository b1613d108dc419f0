import { once } from 'node:events';
import { type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chunksOf, eventually } from '../response-bodies.js';
import { Platform } from '../platform.js';

/** A backend that sends nothing until it is released. */
class SilentBackend {
  readonly waiting: ServerResponse[] = [];
  readonly server: Server = createServer((_request, response) => void this.waiting.push(response));

  async start(): Promise<string> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/v1`;
  }

  /** Responds to the oldest open call; waits for one if none has arrived. */
  async answer(give: (response: ServerResponse) => void): Promise<void> {
    await eventually('a call waits', () => this.waiting.length > 0);
    const response = this.waiting.shift();
    if (response) give(response);
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}

let platform: Platform;
const silent = new SilentBackend();

beforeAll(async () => {
  const url = await silent.start();
  const backends = [{ url, model: 'silent' }];
  platform = await Platform.start({
    models: [{ id: 'silent', backends }],
    env: {
      GATEWAY_FIRST_TOKEN_WAIT_MS: '200',
      GATEWAY_KEEP_ALIVE_MS: '100',
      ROUTER_COOL_DOWN_MS: '1',
    },
  });
});

afterAll(async () => {
  await platform.stop();
  silent.close();
});

const ask = (stream: boolean, content = 'hi', model = 'silent') => ({
  model,
  stream,
  messages: [{ role: 'user', content }],
});
const stream = (apiKey: string): Promise<Response> => platform.chat(apiKey, ask(true));

describe('a stream whose backend sends nothing yet', () => {
  it('begins before its first token, sends keep-alives, and then is a stream like any other', async () => {
    const { apiKey } = await platform.account();
    const response = await stream(apiKey);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    expect(response.headers.get('x-svc-model-id')).toBe('silent');
    expect(response.headers.get('x-request-id')).toMatch(/^chatcmpl-/);
    const read = response.clone().text();
    const reader = response.body?.getReader();
    const first = await reader?.read();
    expect(Buffer.from(first?.value ?? []).toString()).toMatch(/^: keep-alive\n\n/);
    await silent.answer((answer) => {
      answer.setHeader('content-type', 'text/event-stream');
      answer.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'late' } }] })}\n\n`);
      answer.end('data: [DONE]\n\n');
    });
    const { chunks, text, done } = await chunksOf(new Response(await read));
    expect({ text, done }).toEqual({ text: 'late', done: true });
    expect(chunks.at(-1)).toMatchObject({ cost: { usd: expect.any(Number) } });
  });

  it('ends with an error event if it is refused after that, and nothing is charged', async () => {
    const { id, apiKey } = await platform.account('1.00');
    const response = await stream(apiKey);
    expect(response.status).toBe(200);
    await silent.answer((answer) => answer.writeHead(500).end('{}'));
    const { chunks, done } = await chunksOf(response);
    expect(chunks).toEqual([{ error: expect.objectContaining({ type: expect.any(String), param: null }) }]);
    expect(done).toBe(true);
    expect((await platform.balances(id)).usd).toBe('1.00');
    const next = await platform.chat(apiKey, ask(false, 'hi', 'test-model'));
    expect(next.headers.get('x-svc-balance-usd')).toBe('1.00');
  });

  it('closes the backend call when its client disconnects', async () => {
    const { apiKey } = await platform.account();
    const response = await stream(apiKey);
    await eventually('a call waits', () => silent.waiting.length > 0);
    const call = silent.waiting.shift() as ServerResponse;
    expect(call.closed).toBe(false);
    await response.body?.cancel();
    await eventually('the call is closed', () => call.closed);
  });
});

describe('a response that is not streamed', () => {
  it('keeps its HTTP status, however long it takes', async () => {
    const { apiKey } = await platform.account();
    const response = platform.chat(apiKey, ask(false));
    await eventually('a call waits', () => silent.waiting.length > 0);
    await new Promise((resolve) => setTimeout(resolve, 400));
    await silent.answer((answer) => answer.writeHead(500).end('{}'));
    expect((await response).status).toBeGreaterThanOrEqual(500);
  });
});

describe('an error of a stream that has sent nothing but keep-alives', () => {
  const OVERFLOW = /maximum context length is 1024 tokens/;
  const MESSAGE = "This model's maximum context length is 1024 tokens. However, you requested 1025.";

  /** The response to a request whose backend refuses it after the response has begun. */
  async function refusedLate(path: string, body: object): Promise<{ response: Response; text: string }> {
    const { apiKey } = await platform.account();
    const response = await fetch(platform.apiUrl + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'silent', ...body, stream: true }),
    });
    await silent.answer((answer) =>
      answer.writeHead(400).end(JSON.stringify({ error: { message: MESSAGE } })),
    );
    return { response, text: await response.text() };
  }

  it('is a response that was created and failed, with its code', async () => {
    const { response, text } = await refusedLate('/responses', { input: 'hi' });
    expect(response.status).toBe(200);
    const events = [...text.matchAll(/^event: (.*)\ndata: (.*)$/gm)].map(([, name, data = '']) => {
      const event = JSON.parse(data) as { type: string };
      expect(event.type).toBe(name);
      return event;
    });
    expect(events).toMatchObject([
      { type: 'response.created', sequence_number: 0, response: { status: 'in_progress', error: null } },
      {
        type: 'response.failed',
        sequence_number: 1,
        response: {
          id: response.headers.get('x-request-id'),
          model: 'silent',
          status: 'failed',
          output: [],
          error: { code: 'context_length_exceeded', message: expect.stringMatching(OVERFLOW) },
        },
      },
    ]);
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  });

  const messages = [{ role: 'user', content: 'hi' }];
  it.each([
    ['/chat/completions', { messages }],
    ['/completions', { prompt: 'hi' }],
    ['/messages', { messages, max_tokens: 20 }],
    ['/responses', { input: 'hi' }],
  ])('is the same error in the dialect of %s', async (path, body) => {
    const { text } = await refusedLate(path, body);
    expect(text).toMatch(/^(: keep-alive|event: ping)/);
    expect(text).toMatch(OVERFLOW);
    expect(text).toMatch(/context_length_exceeded|TOO_MANY_TOKENS/);
  });
});
