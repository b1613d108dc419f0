import { json } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { TestServer } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Platform, type TestAccount } from '../platform.js';

const MAIN = fileURLToPath(new URL('../second-dialect.mjs', import.meta.url));
/** USD for a million tokens. */
const PRICING = { input: 1, cacheInput: 0.1, cacheWrite: 1.25, output: 2 };
const COST_USD = (3 * 1 + 4 * 0.1 + 9 * 2) / 1e6;

const SIGNATURE = 'sealed==';
const BLOCKS = [
  { type: 'thinking', thinking: 'The weather.', signature: SIGNATURE },
  { type: 'text', text: 'I look. "é" 🙂' },
  { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Oslo' } },
];
const USAGE = { input: 3, cache_read: 4, output: 9 };

/** The same message as events, its texts in parts. */
const EVENTS: readonly object[] = [
  { type: 'message_start', message: { usage: { input: 3, cache_read: 4 } } },
  { type: 'ping' },
  { type: 'content_block_start', index: 0, content_block: { type: 'thinking' } },
  { type: 'content_block_delta', index: 0, delta: { thinking: 'The ' } },
  { type: 'content_block_delta', index: 0, delta: { thinking: 'weather.' } },
  { type: 'content_block_delta', index: 0, delta: { signature: SIGNATURE } },
  { type: 'content_block_start', index: 1, content_block: { type: 'text' } },
  { type: 'content_block_delta', index: 1, delta: { text: 'I look. ' } },
  { type: 'content_block_delta', index: 1, delta: { text: '"é" 🙂' } },
  { type: 'content_block_start', index: 2, content_block: BLOCKS[2] },
  { type: 'content_block_delta', index: 2, delta: { partial_json: '{"city":' } },
  { type: 'content_block_delta', index: 2, delta: { partial_json: '"Oslo"}' } },
  { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output: 9 } },
  { type: 'message_stop' },
];

let backend: TestServer;
let platform: Platform;
let account: TestAccount;

beforeAll(async () => {
  backend = await TestServer.start((request, response) => {
    void json(request).then((body) => {
      if ((body as { events?: boolean }).events !== true) {
        response.end(
          JSON.stringify({ type: 'message', content: BLOCKS, stop_reason: 'tool_use', usage: USAGE }),
        );
        return;
      }
      for (const event of EVENTS) response.write(`event: x\ndata: ${JSON.stringify(event)}\n\n`);
      response.end();
    });
  });
  const backends = [{ url: backend.url, model: 'x', kind: 'llama-cpp-python' }];
  const capabilities = { supportsFunctionCalling: true, supportsReasoning: true };
  platform = await Platform.start({
    hasOwnProcess: true,
    main: MAIN,
    models: [{ id: 'other', pricing: PRICING, capabilities, backends }],
  });
  account = await platform.account('1.00');
});

afterAll(async () => {
  await platform?.stop();
  await backend?.close();
});

type Body = Record<string, unknown>;

async function sent(path: string, body: object): Promise<string> {
  const response = await fetch(`${platform.apiUrl}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${account.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'other', ...body }),
  });
  const text = await response.text();
  expect({ status: response.status, text }).toMatchObject({ status: 200 });
  return text;
}

/** The data of the events of a stream. */
const eventsIn = (text: string): Body[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice('data: '.length)) as Body);

const textIn = (value: unknown): string => (typeof value === 'string' ? value : '');

const messages = [{ role: 'user', content: 'The weather in Oslo?' }];
const parameters = { type: 'object', properties: {} };
const COUNTS = { prompt_tokens: 7, completion_tokens: 9, prompt_tokens_details: { cached_tokens: 4 } };

describe('a backend whose dialect has nothing of that of OpenAI', () => {
  it('serves clients of chat completions, with its content, its usage and their price', async () => {
    const request = {
      messages,
      max_tokens: 100,
      tools: [{ type: 'function', function: { name: 'weather', parameters } }],
    };
    const whole = JSON.parse(await sent('/chat/completions', request)) as Body;
    expect(whole).toMatchObject({
      usage: COUNTS,
      cost: { usd: COST_USD },
      choices: [
        {
          finish_reason: 'tool_calls',
          message: {
            content: 'I look. "é" 🙂',
            reasoning_content: 'The weather.',
            reasoning_details: [{ signature: SIGNATURE }],
            tool_calls: [{ id: 'toolu_1', function: { name: 'weather', arguments: '{"city":"Oslo"}' } }],
          },
        },
      ],
    });
    const chunks = eventsIn(await sent('/chat/completions', { ...request, stream: true }));
    const deltas = chunks.flatMap(({ choices }) => choices as { delta: Body; finish_reason: unknown }[]);
    const textOf = (name: string): string => deltas.map(({ delta }) => textIn(delta[name])).join('');
    expect([textOf('content'), textOf('reasoning_content')]).toEqual(['I look. "é" 🙂', 'The weather.']);
    expect(deltas.at(-1)?.finish_reason).toBe('tool_calls');
    expect(chunks.at(-1)).toMatchObject({ usage: COUNTS, cost: { usd: COST_USD } });
  });

  it('serves clients of /responses', async () => {
    const request = {
      input: 'Hi',
      max_output_tokens: 100,
      tools: [{ type: 'function', name: 'weather', parameters }],
    };
    const response = {
      status: 'completed',
      usage: { input_tokens: 7, output_tokens: 9 },
      cost: { usd: COST_USD },
      output: [
        {
          type: 'reasoning',
          content: [{ text: 'The weather.' }],
          encrypted_content: expect.any(String) as string,
        },
        { type: 'message', content: [{ text: 'I look. "é" 🙂' }] },
        { type: 'function_call', call_id: 'toolu_1', name: 'weather', arguments: '{"city":"Oslo"}' },
      ],
    };
    expect(JSON.parse(await sent('/responses', request))).toMatchObject(response);
    const events = eventsIn(await sent('/responses', { ...request, stream: true }));
    expect(events.at(-1)).toMatchObject({ type: 'response.completed', response });
  });

  it('serves clients of /messages', async () => {
    const request = {
      messages,
      max_tokens: 2_000,
      thinking: { type: 'enabled', budget_tokens: 1_024 },
      tools: [{ name: 'weather', input_schema: parameters }],
    };
    const usage = { input_tokens: 3, cache_read_input_tokens: 4, output_tokens: 9 };
    expect(JSON.parse(await sent('/messages', request))).toMatchObject({
      stop_reason: 'tool_use',
      usage,
      cost: { usd: COST_USD },
      content: [
        { type: 'thinking', thinking: 'The weather.', signature: expect.any(String) as string },
        { type: 'text', text: 'I look. "é" 🙂' },
        { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Oslo' } },
      ],
    });
    const events = eventsIn(await sent('/messages', { ...request, stream: true }));
    const added = (name: string): string =>
      events.map(({ delta }) => textIn((delta as Body | undefined)?.[name])).join('');
    expect([added('thinking'), added('text'), added('partial_json')]).toEqual([
      'The weather.',
      'I look. "é" 🙂',
      '{"city":"Oslo"}',
    ]);
    const last = events.find(({ type }) => type === 'message_delta');
    expect(last).toMatchObject({ delta: { stop_reason: 'tool_use' }, usage, cost: { usd: COST_USD } });
  });

  it('serves clients of text completions', async () => {
    const whole = JSON.parse(await sent('/completions', { prompt: 'Hi', max_tokens: 100 })) as Body;
    expect(whole).toMatchObject({
      choices: [{ text: 'I look. "é" 🙂' }],
      usage: COUNTS,
      cost: { usd: COST_USD },
    });
  });
});
