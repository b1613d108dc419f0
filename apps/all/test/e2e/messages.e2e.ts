import { type Simulator, startSimulator } from '@svc/simulator';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { HI, MessageCaller } from '../message-caller.js';
import { TOOL } from '../message-requests.js';
import { Platform } from '../platform.js';
import { ScriptedBackend } from '../scripted-backend.js';
import { Engine } from '../search-engine.js';

const engine = new Engine();
let backend: Simulator;
let scripted: ScriptedBackend;
let platform: Platform;
let caller: MessageCaller;

beforeAll(async () => {
  backend = await startSimulator({ port: 0, prefixCache: false });
  scripted = await ScriptedBackend.start();
  await engine.start();
  const on = (model: string) => ({ backends: [{ url: `${backend.url}/v1`, model, maxInFlight: 1_000 }] });
  const reasons = { supportsReasoning: true, supportsReasoningEffort: true, supportsFunctionCalling: true };
  platform = await Platform.start({
    housePrompts: ['Be kind.'],
    models: [
      { id: 'plain', ...on('sim') },
      { id: 'reasoner', ...on('sim-reason'), capabilities: reasons },
      { id: 'scripted', backends: [{ url: scripted.url, model: 'scripted' }] },
    ],
    web: {
      search: { providers: [{ kind: 'searxng', url: engine.url, deadlineMs: 4_000 }], cacheSeconds: 0 },
    },
  });
  const { apiKey } = await platform.account('1000.00');
  caller = new MessageCaller(platform.apiUrl, apiKey);
});

afterEach(() => backend.setFaults({}));

afterAll(async () => {
  await platform.stop();
  await backend.close();
  await scripted.close();
  await engine.close();
});

/** The last request that the model server received. */
function lastSent(): Record<string, unknown> {
  return JSON.parse(backend.requests().at(-1)?.body ?? '{}') as Record<string, unknown>;
}

describe('POST /messages', () => {
  it('sends the events of one block after the other, and the usage and cost at the end', async () => {
    const tools = [{ name: 'lookup', input_schema: TOOL.schema }];
    const thinking = { type: 'enabled', budget_tokens: 2_000 };
    const { names, message } = await caller.streamed({
      model: 'reasoner',
      tools,
      thinking,
      tool_choice: { type: 'any' },
    });
    const steps = names.filter((name, at) => name !== names[at - 1]);
    const block = ['content_block_start', 'content_block_delta', 'content_block_stop'];
    expect(steps).toEqual(['message_start', 'ping', ...block, ...block, 'message_delta', 'message_stop']);
    expect(message.content.map(({ type }) => type)).toEqual(['thinking', 'tool_use']);
    expect(message.stop_reason).toBe('tool_use');
  });

  it('returns reasoning only if the client asks for it, and counts it in any case', async () => {
    const thinking = { type: 'enabled', budget_tokens: 2_000 };
    const shown = await caller.whole({ model: 'reasoner', thinking });
    expect(shown.content[0]).toMatchObject({ type: 'thinking', thinking: expect.stringMatching(/./) });
    expect(lastSent()).toMatchObject({ reasoning_effort: 'low' });
    for (const fields of [
      {},
      { thinking: { type: 'disabled' } },
      { thinking: { ...thinking, display: 'omitted' } },
    ]) {
      const { content, usage } = await caller.whole({ model: 'reasoner', ...fields });
      expect(content.map(({ type }) => type)).toEqual(['text']);
      expect(usage).toMatchObject({ output_tokens_details: { thinking_tokens: expect.any(Number) } });
    }
    await caller.whole({ model: 'plain', thinking });
    expect(lastSent()).not.toHaveProperty('reasoning_effort');
  });

  it('returns what a model needs to resume its reasoning, and sends it back to the model', async () => {
    const thinking = { type: 'enabled', budget_tokens: 2_000 };
    const question = { role: 'user', content: 'go [[sim reasoning-details=true]]' };
    const first = await caller.whole({ model: 'reasoner', thinking, messages: [question] });
    const { message: second } = await caller.streamed({ model: 'reasoner', thinking, messages: [question] });
    expect(second.content).toEqual(first.content);
    const detail = { type: 'reasoning.encrypted', data: 'AAAA', format: 'x', index: 0 };
    const data = `svc1.${Buffer.from(JSON.stringify({ details: [detail] })).toString('base64url')}`;
    const content = [
      { type: 'redacted_thinking', data },
      { type: 'thinking', thinking: 'Hm.', signature: 'of another service' },
      { type: 'text', text: 'Yes.' },
    ];
    await caller.whole({ messages: [HI, { role: 'assistant', content }, HI] });
    expect(lastSent()['messages']).toMatchObject([
      { role: 'system' },
      { role: 'user' },
      { role: 'assistant', content: 'Yes.', reasoning_content: 'Hm.', reasoning_details: [detail] },
      { role: 'user' },
    ]);
  });

  it('searches the web with the tool for it, and shows the search', async () => {
    const tools = [{ type: 'web_search_20250305', name: 'web_search', max_uses: 3 }];
    const fields = { tools, tool_choice: { type: 'tool', name: 'web_search' } };
    const messages = [{ role: 'user', content: 'When does the lighthouse open?' }];
    const message = await caller.whole({ ...fields, messages });
    expect(message.content.map(({ type }) => type)).toEqual([
      'server_tool_use',
      'web_search_tool_result',
      'text',
    ]);
    expect(message.usage['server_tool_use']).toMatchObject({ web_search_requests: 1 });
    const { message: live } = await caller.streamed({ ...fields, messages });
    expect(live.content.map(({ type }) => type)).toEqual(message.content.map(({ type }) => type));
    expect(live.cost).toEqual(message.cost);
    expect(lastSent()).not.toHaveProperty('tools');
    // The blocks may come back in the history.
    await caller.whole({ messages: [...messages, { role: 'assistant', content: message.content }, HI] });
  });

  it.each<[reason: string, end: object, expected: object]>([
    ['end_turn', { finish_reason: 'stop' }, { stop_sequence: null, stop_details: null }],
    ['end_turn', { finish_reason: 'stop', stop_reason: 128_001 }, { stop_sequence: null }],
    ['end_turn', { finish_reason: 'stop', stop_reason: '</s>' }, { stop_sequence: null }],
    ['stop_sequence', { finish_reason: 'stop', stop_reason: 'END' }, { stop_sequence: 'END' }],
    ['max_tokens', { finish_reason: 'length' }, { stop_sequence: null }],
    [
      'refusal',
      { finish_reason: 'content_filter' },
      { stop_sequence: null, stop_details: { type: 'refusal', category: null, explanation: null } },
    ],
  ])('stops with the reason %s of a backend that says %j', async (reason, end, expected) => {
    const head = { id: 'c', object: 'chat.completion', created: 1, model: 'scripted' };
    const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };
    const choice = { index: 0, logprobs: null, ...end };
    const answer = {
      ...head,
      choices: [{ ...choice, message: { role: 'assistant', content: 'Yes' } }],
      usage,
    };
    const chunk = { ...head, object: 'chat.completion.chunk' };
    const chunks = [
      { ...chunk, choices: [{ index: 0, delta: { role: 'assistant', content: 'Yes' } }] },
      { ...chunk, choices: [{ ...choice, delta: {} }], usage },
    ];
    const request = (script: object): object => ({
      model: 'scripted',
      stop_sequences: ['STOP', 'END'],
      messages: [{ role: 'user', content: JSON.stringify(script) }],
    });
    const message = { content: [{ type: 'text', text: 'Yes' }], stop_reason: reason, ...expected };
    expect(await caller.whole(request({ answer }))).toMatchObject(message);
    expect((await caller.streamed(request({ chunks }))).message).toMatchObject(message);
  });

  it('takes the system prompt as a text or as blocks with marks for caches', async () => {
    const svc_parameters = { include_svc_system_prompt: false };
    await caller.whole({ system: 'Be brief.', svc_parameters });
    expect(lastSent()['messages']).toEqual([{ role: 'system', content: 'Be brief.' }, HI]);
    const block = { type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } };
    const system = [block, { type: 'text', text: 'Be kind.' }];
    await caller.whole({ system, svc_parameters });
    expect(lastSent()['messages']).toEqual([{ role: 'system', content: system }, HI]);
  });

  it('obeys svc_parameters and the suffix of the model', async () => {
    const { svc_parameters: own } = await caller.whole({
      svc_parameters: { include_svc_system_prompt: false },
    });
    expect(own).toMatchObject({ include_venice_system_prompt: false });
    expect(lastSent()['messages']).toEqual([HI]);
    await caller.whole({ model: 'plain:include_svc_system_prompt=false' });
    expect(lastSent()['messages']).toEqual([HI]);
  });

  it('preserves numbers of any size in the inputs of tools', async () => {
    const request = JSON.stringify({
      model: 'plain',
      max_tokens: 20,
      messages: [
        HI,
        { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: { n: 'HUGE' } }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'x'.repeat(400_000) }] },
      ],
    }).replace('"HUGE"', '123456789012345678901234567890');
    expect((await caller.post('/messages', request)).status).toBe(200);
    expect(backend.requests().at(-1)?.body).toContain(String.raw`{\"n\":123456789012345678901234567890}`);
  });

  it.each(['constructor', 'toString', '__proto__', 'hasOwnProperty'])(
    'sends a call with the id %s to the model like any other',
    async (id) => {
      const messages = [
        HI,
        { role: 'assistant', content: [{ type: 'tool_use', id, name: 'f', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'x' }] },
      ];
      expect((await caller.post('/messages', { model: 'plain', max_tokens: 5, messages })).status).toBe(200);
      const sent = (lastSent()['messages'] as { tool_calls?: object[] }[]).slice(-3);
      expect(sent).toMatchObject([
        HI,
        { tool_calls: [{ id, type: 'function', function: { name: 'f', arguments: '{}' } }] },
        { role: 'tool', tool_call_id: id },
      ]);
      expect(sent[1]?.tool_calls?.[0]).not.toHaveProperty('extra_content');
    },
  );

  it.each([
    ['2026-10-21', 200],
    ['2023-06-01', 200],
    ['2023-01-01', 200],
    ['2024-02-30', 400],
  ])('accepts the documented versions of the API: %s', async (version, status) => {
    const request = { model: 'plain', max_tokens: 5, messages: [HI] };
    expect((await caller.post('/messages', request, { 'anthropic-version': version })).status).toBe(status);
  });
});
