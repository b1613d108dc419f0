import { json } from 'node:stream/consumers';
import Anthropic from '@anthropic-ai/sdk';
import { parseUsd } from '@svc/contracts/money';
import { TestServer } from '@svc/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { RED_PNG } from '../message-requests.js';
import { Platform, type TestAccount } from '../platform.js';

interface Arrived {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Readonly<Record<string, unknown>> & { readonly messages: readonly { content: unknown }[] };
}

const USAGE = {
  input_tokens: 30,
  cache_creation_input_tokens: 20,
  cache_read_input_tokens: 10,
  cache_creation: { ephemeral_5m_input_tokens: 15, ephemeral_1h_input_tokens: 5 },
  output_tokens: 1,
  service_tier: 'standard',
  inference_geo: 'global',
};
const MESSAGE = { id: 'msg_01', type: 'message', role: 'assistant', model: 'claude-x', content: [] };
const NOT_YET = { stop_reason: null, stop_sequence: null };
const begun = (index: number, block: object) => ({
  type: 'content_block_start',
  index,
  content_block: block,
});
const delta = (index: number, more: object) => ({ type: 'content_block_delta', index, delta: more });
const ended = (index: number) => ({ type: 'content_block_stop', index });
const CITATION = {
  type: 'char_location',
  cited_text: 'grün 🌿',
  document_index: 0,
  start_char_index: 0,
  end_char_index: 4,
};

/** All that a provider may send, with blocks and deltas that nobody here knows. */
const EVENTS: readonly { readonly type: string }[] = [
  { type: 'message_start', message: { ...MESSAGE, ...NOT_YET, usage: USAGE } } as { type: string },
  begun(0, { type: 'thinking', thinking: '', signature: '' }),
  { type: 'ping' },
  delta(0, { type: 'thinking_delta', thinking: 'Hm, "ü".' }),
  delta(0, { type: 'signature_delta', signature: 'EqQBCgIYAh==' }),
  ended(0),
  begun(1, { type: 'server_tool_use', id: 'srvtoolu_1', name: 'code_execution', input: {} }),
  delta(1, { type: 'input_json_delta', partial_json: '{"code":' }),
  delta(1, { type: 'input_json_delta', partial_json: '"1+1"}' }),
  ended(1),
  begun(2, { type: 'code_execution_tool_result', tool_use_id: 'srvtoolu_1', content: { stdout: '2' } }),
  ended(2),
  begun(3, { type: 'text', text: '', citations: [] }),
  delta(3, { type: 'text_delta', text: 'Leaves are ' }),
  delta(3, { type: 'text_delta', text: 'grün 🌿' }),
  delta(3, { type: 'citations_delta', citation: CITATION }),
  ended(3),
  begun(4, { type: 'hologram', depth: { cm: 3 } }),
  delta(4, { type: 'hologram_delta', depth: { cm: 4 } }),
  ended(4),
  begun(5, { type: 'tool_use', id: 'toolu_01', name: 'look', input: {}, caller: { type: 'direct' } }),
  delta(5, { type: 'input_json_delta', partial_json: '{"n":123456789012345678901234567890}' }),
  ended(5),
  {
    type: 'message_delta',
    delta: { stop_reason: 'tool_use', stop_sequence: null, container: null },
    usage: { ...USAGE, output_tokens: 40 },
  } as { type: string },
  { type: 'message_stop' },
];

const WHOLE = {
  ...MESSAGE,
  content: [
    { type: 'thinking', thinking: 'Hm, "ü".', signature: 'EqQBCgIYAh==' },
    { type: 'server_tool_use', id: 'srvtoolu_1', name: 'code_execution', input: { code: '1+1' } },
    { type: 'code_execution_tool_result', tool_use_id: 'srvtoolu_1', content: { stdout: '2' } },
    { type: 'text', text: 'Leaves are grün 🌿', citations: [CITATION] },
    { type: 'hologram', depth: { cm: 4 } },
    { type: 'tool_use', id: 'toolu_01', name: 'look', input: { n: 1 }, caller: { type: 'direct' } },
  ],
  stop_reason: 'tool_use',
  stop_sequence: null,
  usage: { ...USAGE, output_tokens: 40 },
};

/** What a message of 30 fresh, 20 written (5 for an hour) and 10 read tokens with an output of 40 costs. */
const COST_NANO = 30n * 3_000n + 15n * 3_750n + 5n * 6_000n + 10n * 300n + 40n * 15_000n;

let bytesAtOnce = 1;
let events = EVENTS;
const arrived: Arrived[] = [];
let server: TestServer;
let platform: Platform;
let account: TestAccount;

const sse = (list: readonly { type: string }[]): Buffer =>
  Buffer.from(list.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''));

async function write(write: (part: Buffer) => unknown, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length; at += bytesAtOnce) {
    write(bytes.subarray(at, at + bytesAtOnce));
    await new Promise(setImmediate);
  }
}

beforeAll(async () => {
  server = await TestServer.start((request, response) => {
    void json(request).then(async (body) => {
      arrived.push({ headers: request.headers, body: body as Arrived['body'] });
      if ((body as { stream?: boolean }).stream !== true) {
        response.end(JSON.stringify(WHOLE));
        return;
      }
      response.setHeader('content-type', 'text/event-stream');
      await write((part) => response.write(part), sse(events));
      response.end();
    });
  });
  const capabilities = { supportsFunctionCalling: true, supportsReasoning: true, supportsVision: true };
  const pricing = { input: 3, cacheInput: 0.3, cacheWrite: 3.75, cacheWriteHour: 6, output: 15 };
  const backend = { kind: 'anthropic', url: server.url, model: 'claude-x', apiKeyEnv: 'HOSTED_KEY' };
  platform = await Platform.start({
    hasOwnProcess: true,
    housePrompts: ['Be kind.'],
    env: { HOSTED_KEY: 'sk-ant-hosted' },
    models: [
      { id: 'claude', capabilities, pricing, backends: [{ ...backend, betas: ['fine-2025-01-01'] }] },
      { id: 'simple', capabilities, pricing, backends: [backend] },
    ],
  });
  account = await platform.account('1000.00');
});

beforeEach(() => {
  arrived.length = 0;
  events = EVENTS;
  bytesAtOnce = 4_096;
});

afterAll(async () => {
  await platform?.stop();
  await server?.close();
});

const TOOL = {
  name: 'look',
  input_schema: { type: 'object', properties: {} },
  cache_control: { type: 'ephemeral' },
};
const THINKING = { type: 'enabled', budget_tokens: 1_024 };
const HI = { role: 'user', content: 'Hello' };

function post(body: object | string, headers: Record<string, string> = {}): Promise<Response> {
  const text =
    typeof body === 'string'
      ? body
      : JSON.stringify({ model: 'claude', max_tokens: 2_048, messages: [HI], ...body });
  return fetch(`${platform.apiUrl}/messages`, {
    method: 'POST',
    headers: { 'x-api-key': account.apiKey, 'content-type': 'application/json', ...headers },
    body: text,
  });
}

interface Event {
  readonly type: string;
  readonly [name: string]: unknown;
}

async function eventsOf(response: Response): Promise<Event[]> {
  const frames = (await response.text()).split('\n\n').filter((frame) => frame !== '');
  return frames.map((frame) => JSON.parse(frame.slice(frame.indexOf('\ndata: ') + 7)) as Event);
}

async function spent(use: () => Promise<unknown>): Promise<bigint> {
  const before = parseUsd((await platform.balances(account.id)).usd) ?? 0n;
  await use();
  return before - (parseUsd((await platform.balances(account.id)).usd) ?? 0n);
}

/** The events without what this service says itself: the id, the name of the model, the cost. */
function asSent(list: readonly Event[]): unknown[] {
  return list.map(({ cost: _cost, svc_parameters: _echo, ...event }) => {
    if (event.type === 'message_start')
      return { ...event, message: { ...(event['message'] as object), id: 'msg_01', model: 'claude-x' } };
    if (event.type !== 'message_delta') return event;
    const {
      output_tokens_details: _details,
      server_tool_use: _use,
      ...usage
    } = event['usage'] as Record<string, unknown>;
    const { stop_details: _stop, ...last } = event['delta'] as Record<string, unknown>;
    return { ...event, usage, delta: last };
  });
}

describe('a client of Messages in front of Anthropic', () => {
  it.each([1, 7, 4_096])(
    'gets every event as it was sent, in parts of %d bytes, at its price',
    async (size) => {
      bytesAtOnce = size;
      let got: Event[] = [];
      const cost = await spent(async () => {
        got = await eventsOf(await post({ stream: true, tools: [TOOL], thinking: THINKING }));
      });
      expect(asSent(got)).toEqual(asSent(EVENTS));
      const [first] = got;
      expect(first?.['message']).toMatchObject({
        model: 'claude',
        id: expect.not.stringMatching(/^msg_01$/),
      });
      expect(got.at(-2)).toMatchObject({ cost: { usd: Number(COST_NANO) / 1e9 } });
      expect(cost).toBe(COST_NANO);
    },
  );

  it('gets a whole message as it was sent, and one that was streamed to this service', async () => {
    const { id, model, ...rest } = (await (await post({ tools: [TOOL] })).json()) as Record<string, unknown>;
    expect([id, model]).toEqual([expect.stringMatching(/^msg_/), 'claude']);
    expect(rest).toMatchObject({ content: WHOLE.content, stop_reason: 'tool_use', usage: WHOLE.usage });
    expect(arrived[0]?.body).toMatchObject({ model: 'claude-x' });
    // A poor account has its hold extended during the response, which the provider streams then.
    const poor = await platform.account('0.10');
    const body = { model: 'claude', max_tokens: 32_000, messages: [HI], tools: [TOOL] };
    const response = await fetch(`${platform.apiUrl}/messages`, {
      method: 'POST',
      headers: { 'x-api-key': poor.apiKey, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    expect(arrived.at(-1)?.body).toMatchObject({ stream: true });
    expect(text).toContain('{"n":123456789012345678901234567890}');
    const content = WHOLE.content.slice(0, -1);
    expect(JSON.parse(text)).toMatchObject({
      content: [...content, { type: 'tool_use' }],
      usage: WHOLE.usage,
    });
  });

  it('is read by the SDK of Anthropic', async () => {
    const client = new Anthropic({ apiKey: account.apiKey, baseURL: platform.apiUrl.replace(/\/v1$/, '') });
    const stream = client.messages.stream({
      model: 'claude',
      max_tokens: 2_048,
      messages: [{ role: 'user', content: 'Hello' }],
      tools: [{ name: 'look', input_schema: { type: 'object' } }],
      thinking: { type: 'enabled', budget_tokens: 1_024 },
    });
    const message = await stream.finalMessage();
    expect(message.content.map(({ type }) => type)).toEqual(WHOLE.content.map(({ type }) => type));
    expect(message.content[0]).toEqual(WHOLE.content[0]);
    expect(message.usage).toMatchObject({ ...USAGE, output_tokens: 40 });
  });

  it('has its members at the provider as they were, but for those of this service', async () => {
    const inner =
      '{"type":"tool_use","id":"toolu_1","name":"look","input":{"n":1e400,"m":12345678901234567890}}';
    const signed = { type: 'thinking', thinking: 'Hm.', signature: 'EqQB==' };
    const result = {
      type: 'tool_result',
      tool_use_id: 'toolu_1',
      content: [{ type: 'text', text: 'x' }],
      is_error: true,
    };
    const document = {
      type: 'document',
      source: { type: 'text', media_type: 'text/plain', data: 'a' },
      title: 't',
    };
    const cited = { type: 'text', text: 'y', citations: [CITATION] };
    const holo = WHOLE.content[2];
    const body = JSON.stringify({
      model: 'claude',
      max_tokens: 2_048,
      stream: true,
      system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral', ttl: '1h' } }],
      messages: [
        HI,
        { role: 'assistant', content: [signed, cited, holo, 'INNER'] },
        { role: 'user', content: [result, document] },
      ],
      tools: [TOOL],
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
      thinking: THINKING,
      temperature: 1,
      metadata: { user_id: 'u' },
      service_tier: 'auto',
      context_management: { edits: [] },
    }).replace('"INNER"', inner);
    await (
      await post(body, { 'anthropic-beta': 'fine-2025-01-01, costly-2025-01-01', 'x-other': 'a' })
    ).text();
    const [{ headers, body: got }] = arrived as [Arrived];
    expect(got).toEqual({
      model: 'claude-x',
      max_tokens: 2_048,
      stream: true,
      system: [
        { type: 'text', text: 'Be kind.' },
        { type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral', ttl: '1h' } },
      ],
      messages: [
        HI,
        { role: 'assistant', content: [signed, cited, holo, JSON.parse(inner)] },
        { role: 'user', content: [result, document] },
      ],
      tools: [TOOL],
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
      thinking: THINKING,
      temperature: 1,
    });
    expect(headers).toMatchObject({ 'anthropic-beta': 'fine-2025-01-01', 'x-api-key': 'sk-ant-hosted' });
    expect(headers).not.toHaveProperty('x-other');
    expect(JSON.stringify(headers)).not.toContain(account.apiKey);
    await post({ model: 'simple' }, { 'anthropic-beta': 'fine-2025-01-01' });
    expect(arrived.at(-1)?.headers).not.toHaveProperty('anthropic-beta');
  });

  it('sends images that were checked, and reasoning that this service has sealed', async () => {
    const detail = {
      type: 'reasoning.text',
      text: 'Hm.',
      signature: 'EqQB==',
      format: 'anthropic-claude-v1',
    };
    const seal = `svc1.${Buffer.from(JSON.stringify({ details: [detail] })).toString('base64url')}`;
    const source = { type: 'base64', media_type: 'image/png', data: RED_PNG };
    await post({
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'See' },
            { type: 'image', source },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Hm.', signature: seal },
            { type: 'text', text: 'Red.' },
          ],
        },
        {
          role: 'user',
          content: [{ type: 'document', source: { type: 'url', url: 'http://127.0.0.1:1/x.pdf' } }],
        },
      ],
    });
    const messages = arrived[0]?.body.messages as unknown as { content: Record<string, unknown>[] }[];
    expect(messages[0]?.content).toMatchObject([
      { text: 'See' },
      { type: 'image', source: { type: 'base64' } },
    ]);
    expect(messages[1]?.content[0]).toEqual({ type: 'thinking', thinking: 'Hm.', signature: 'EqQB==' });
    expect(messages[2]?.content).toEqual([
      { type: 'text', text: expect.stringMatching(/Error processing file/) },
    ]);
  });

  it('gets no reasoning that it asks this service to remove', async () => {
    const svc_parameters = { strip_thinking_response: true };
    const got = await eventsOf(
      await post({ stream: true, tools: [TOOL], thinking: THINKING, svc_parameters }),
    );
    expect(JSON.stringify(got)).not.toContain('thinking_delta');
  });

  it('gets an end with the length when its money is over, and pays for what it got', async () => {
    const text = 'word '.repeat(40);
    events = [
      ...EVENTS.slice(0, 1),
      begun(0, { type: 'text', text: '' }),
      ...Array.from({ length: 400 }, () => delta(0, { type: 'text_delta', text })),
      ended(0),
      ...EVENTS.slice(-2),
    ];
    const poor = await platform.account('0.12');
    const body = { model: 'claude', max_tokens: 32_000, messages: [HI], stream: true };
    const response = await fetch(`${platform.apiUrl}/messages`, {
      method: 'POST',
      headers: { 'x-api-key': poor.apiKey, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const got = await eventsOf(response);
    expect(got.slice(-3).map(({ type }) => type)).toEqual([
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
    expect(got.at(-2)).toMatchObject({ delta: { stop_reason: 'max_tokens' } });
    const left = parseUsd((await platform.balances(poor.id)).usd) ?? -1n;
    expect(left >= 0n && left < 20_000_000n).toBe(true);
    const cost = (got.at(-2) as unknown as { cost: { usd: number } }).cost.usd;
    expect(Number(120_000_000n - left) / 1e9).toBeCloseTo(cost, 9);
  });
});
