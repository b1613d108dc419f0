import Anthropic from '@anthropic-ai/sdk';
import type { ChatResponse, Fields, Piece } from '@svc/contracts/inference';
import { TestServer } from '@svc/testing';
import { describe, expect, it } from 'vitest';
import { type Reply, TestBackend, replying, streaming } from '../../test/backend.js';
import { RouterFixture } from '../../test/router-fixture.js';
import { patientRouter } from '../../test/routing.js';

const USAGE = {
  input_tokens: 3,
  cache_read_input_tokens: 40,
  cache_creation_input_tokens: 500,
  cache_creation: { ephemeral_5m_input_tokens: 420, ephemeral_1h_input_tokens: 80 },
};
const start = (usage: object) => ({
  type: 'message_start',
  message: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [],
    stop_reason: null,
    usage,
  },
});
const block = (index: number, content_block: object) => ({
  type: 'content_block_start',
  index,
  content_block,
});
const delta = (index: number, more: object) => ({ type: 'content_block_delta', index, delta: more });
const stop = (index: number) => ({ type: 'content_block_stop', index });

/** A message with everything that a stream may have. Source: the events of the provider's documentation. */
const EVENTS: readonly object[] = [
  start({ ...USAGE, output_tokens: 1 }),
  block(0, { type: 'thinking', thinking: '', signature: '' }),
  { type: 'ping' },
  delta(0, { type: 'thinking_delta', thinking: 'The ' }),
  delta(0, { type: 'thinking_delta', thinking: 'weather 🌦.' }),
  delta(0, { type: 'signature_delta', signature: 'EqQBCgIYAh==' }),
  stop(0),
  block(1, { type: 'redacted_thinking', data: 'EmwKAh==' }),
  stop(1),
  block(2, { type: 'text', text: '' }),
  delta(2, { type: 'text_delta', text: 'I look. ' }),
  delta(2, { type: 'text_delta', text: '"é"' }),
  stop(2),
  block(3, { type: 'tool_use', id: 'toolu_1', name: 'weather', input: {} }),
  delta(3, { type: 'input_json_delta', partial_json: '' }),
  delta(3, { type: 'input_json_delta', partial_json: '{"city": "Os' }),
  delta(3, { type: 'input_json_delta', partial_json: 'lo"}' }),
  stop(3),
  block(4, { type: 'tool_use', id: 'toolu_2', name: 'now', input: {} }),
  stop(4),
  {
    type: 'message_delta',
    delta: { stop_reason: 'tool_use', stop_sequence: null },
    usage: { output_tokens: 20, output_tokens_details: { thinking_tokens: 6 } },
  },
  { type: 'message_stop' },
];

/** The same message, whole. */
const MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [
    { type: 'thinking', thinking: 'The weather 🌦.', signature: 'EqQBCgIYAh==' },
    { type: 'redacted_thinking', data: 'EmwKAh==' },
    { type: 'text', text: 'I look. "é"' },
    { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Oslo' } },
    { type: 'tool_use', id: 'toolu_2', name: 'now', input: {} },
  ],
  stop_reason: 'tool_use',
  stop_sequence: null,
  usage: { ...USAGE, output_tokens: 20, output_tokens_details: { thinking_tokens: 6 } },
};

const COUNTS = {
  promptTokens: 543,
  completionTokens: 20,
  cachedTokens: 40,
  cacheWriteTokens: 500,
  hourCacheWriteTokens: 80,
  reasoningTokens: 6,
};

const sse = (events: readonly object[]): string =>
  events
    .map((event) => `event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}\n\n`)
    .join('');

async function read(response: ChatResponse): Promise<Piece[]> {
  const pieces: Piece[] = [];
  const arrivals = response.arrivals({ idleTimeoutMs: 60_000, onRepetition: undefined });
  for await (const events of Symbol.asyncIterator in arrivals ? arrivals : [arrivals])
    for (const event of events) pieces.push(...response.read(event));
  return pieces;
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** What all pieces say together. */
function together(pieces: readonly Piece[]) {
  const calls: { id: string; name: string; arguments: string }[] = [];
  const sum = { content: '', reasoning: '', details: [] as Fields[], calls, ends: [] as unknown[] };
  for (const { delta: members, end } of pieces) {
    sum.content += text(members['content']);
    sum.reasoning += text(members['reasoning_content']);
    sum.details.push(...((members['reasoning_details'] as Fields[] | undefined) ?? []));
    for (const each of (members['tool_calls'] as Fields[] | undefined) ?? []) {
      const { name, arguments: part } = each['function'] as Fields;
      const call = (calls[Number(each['index'])] ??= {
        id: text(each['id']),
        name: text(name),
        arguments: '',
      });
      call.arguments += text(part);
    }
    if (end !== null) sum.ends.push(end);
  }
  return {
    ...sum,
    calls: calls.map((call) => ({ ...call, arguments: JSON.parse(call.arguments) as unknown })),
  };
}

const SAID = {
  content: 'I look. "é"',
  reasoning: 'The weather 🌦.',
  details: [
    {
      type: 'reasoning.text',
      text: 'The weather 🌦.',
      signature: 'EqQBCgIYAh==',
      format: 'anthropic-claude-v1',
      index: 0,
    },
    { type: 'reasoning.encrypted', data: 'EmwKAh==', format: 'anthropic-claude-v1', index: 1 },
  ],
  calls: [
    { id: 'toolu_1', name: 'weather', arguments: { city: 'Oslo' } },
    { id: 'toolu_2', name: 'now', arguments: {} },
  ],
  ends: ['stop'],
};

const CALL = {
  requestId: 'r',
  accountId: 'a',
  model: 'm',
  body: [Buffer.from('{"messages":[{"role":"user","content":"Hi"}],"max_tokens":5}')],
};
const { signal } = new AbortController();

describe('a response of Anthropic', () => {
  it('is what the SDK of the provider reads from the same bytes', async () => {
    const server = await TestServer.start((request, response) => {
      response.setHeader('content-type', 'text/event-stream').end(sse(EVENTS));
      request.resume();
    });
    const client = new Anthropic({ apiKey: 'k', baseURL: server.url, maxRetries: 0 });
    const messages = [{ role: 'user' as const, content: 'Hi' }];
    const message = await client.messages.stream({ model: 'm', max_tokens: 5, messages }).finalMessage();
    await server.close();
    const { content, stop_reason: reason, usage } = message;
    expect(content).toMatchObject(MESSAGE.content);
    expect([reason, usage.output_tokens]).toEqual(['tool_use', 20]);
  });
});

describe('a backend of the kind anthropic', () => {
  const fixture = new RouterFixture(patientRouter);
  const settings = { kind: 'anthropic' };
  const given = (reply: Reply): Promise<TestBackend> => fixture.givenOne(reply, settings);

  it('streams and responds as a whole, with usage in which cached tokens are counted once', async () => {
    const backend = await given(streaming(sse(EVENTS)));
    const streamed = await fixture.router.chat.stream(CALL, signal);
    expect(together(await read(streamed))).toEqual(SAID);
    expect(streamed.facts.reported).toEqual(COUNTS);
    backend.reply = replying(MESSAGE);
    const whole = await fixture.router.chat.complete(CALL, signal);
    expect(together(await read(whole))).toEqual(SAID);
    expect(whole.facts.reported).toEqual(COUNTS);
    const [first] = backend.requests;
    expect(first?.url).toBe('/v1/messages');
    expect(first?.headers).toMatchObject({ 'anthropic-version': '2023-06-01' });
    expect(JSON.parse(first?.body ?? '')).toEqual({
      model: 'x',
      max_tokens: 5,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
      stream: true,
    });
  });

  it.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['pause_turn', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['refusal', 'content_filter'],
    ['of_later', 'stop'],
  ])('ends with %s as %s', async (reason, end) => {
    await given(replying({ ...MESSAGE, stop_reason: reason }));
    expect(together(await read(await fixture.router.chat.complete(CALL, signal))).ends).toEqual([end]);
  });

  const error = (type: string, message = 'No.') => ({ type: 'error', error: { type, message } });

  it.each([
    [400, error('invalid_request_error', 'prompt is too long: 9 tokens > 8 maximum'), 'TOO_MANY_TOKENS'],
    [400, error('invalid_request_error', 'temperature: out of range'), 'INVALID_REQUEST'],
    [
      400,
      error('invalid_request_error', 'Your credit balance is too low to access the API.'),
      'INFERENCE_FAILED',
    ],
    [401, error('authentication_error'), 'INFERENCE_FAILED'],
    [404, error('not_found_error'), 'INFERENCE_FAILED'],
    [413, error('request_too_large'), 'PAYLOAD_TOO_LARGE'],
    [429, error('rate_limit_error'), 'MODEL_AT_CAPACITY'],
    [500, error('api_error'), 'INFERENCE_FAILED'],
    [529, error('overloaded_error'), 'MODEL_AT_CAPACITY'],
    [200, error('overloaded_error'), 'MODEL_AT_CAPACITY'],
    [200, error('rate_limit_error'), 'MODEL_AT_CAPACITY'],
  ])('refuses with status %d and %j as %s', async (status, body, code) => {
    const backend = await given(replying(body, status));
    await expect(fixture.router.chat.complete(CALL, signal)).rejects.toMatchObject({ code });
    if (status === 200) backend.reply = streaming(sse([start(USAGE), body]));
    await expect(fixture.router.chat.stream(CALL, signal)).rejects.toMatchObject({ code });
  });

  it('is not charged as complete if an error comes after its first piece, or its events end', async () => {
    const backend = await given(streaming(sse([...EVENTS.slice(0, 12), error('overloaded_error')])));
    for (const reply of [backend.reply, streaming(sse(EVENTS.slice(0, 12)))]) {
      backend.reply = reply;
      const response = await fixture.router.chat.stream(CALL, signal);
      await expect(read(response)).rejects.toMatchObject({ code: 'INFERENCE_FAILED' });
      expect(response.facts.reported).toMatchObject({ promptTokens: 543 });
    }
  });

  it('refuses what its API has no place for, with the name of the field', async () => {
    const backend = await given(replying(MESSAGE));
    const body = [Buffer.from('{"messages":[{"role":"user","content":"Hi"}],"n":2}')];
    await expect(fixture.router.chat.complete({ ...CALL, body }, signal)).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      param: 'n',
    });
    expect(backend.requests).toEqual([]);
  });
});
