import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Failure, HI, MessageCaller } from '../message-caller.js';
import { Platform } from '../platform.js';

let platform: Platform;
let caller: MessageCaller;

beforeAll(async () => {
  platform = await Platform.start({ models: [{ id: 'plain' }, { id: 'text-only', capabilities: {} }] });
  const { apiKey } = await platform.account('10.00');
  caller = new MessageCaller(platform.apiUrl, apiKey);
});

afterAll(() => platform.stop());

describe('an invalid message', () => {
  const user = (...content: object[]): object => ({
    messages: [HI, { role: 'assistant', content: 'ok' }, { role: 'user', content }],
  });
  const assistant = (...content: object[]): object => ({
    messages: [HI, { role: 'assistant', content }, HI],
  });
  const source = { type: 'base64', media_type: 'image/png', data: 'AAAA' };

  it.each<[path: string, message: string, body: object]>([
    ['max_tokens', 'must be a number', { max_tokens: undefined }],
    ['max_tokens', 'must be at least 1', { max_tokens: 0 }],
    ['messages', 'must not be empty', { messages: [] }],
    ['messages', 'Every message is empty', { messages: [{ role: 'system', content: '' }] }],
    ['messages.0.role', '"assistant"', { messages: [{ role: 'tool', content: 'x' }] }],
    [
      'messages.1.content.0.signature',
      '65536',
      assistant({ type: 'thinking', thinking: 'a', signature: 'x'.repeat(65_537) }),
    ],
    [
      'messages.1.content.0.data',
      '65536',
      assistant({ type: 'redacted_thinking', data: 'x'.repeat(65_537) }),
    ],
    ['messages.2.content.0.type', '"image"', user({ type: 'hologram' })],
    ['messages.2.content.0.type', '"image"', user({ type: 'container_upload', file_id: 'f' })],
    ['messages.2.content.0.text', 'must not be empty', user({ type: 'text', text: '' })],
    [
      'messages.2.content.0.source.type',
      '"base64"',
      user({ type: 'image', source: { type: 'file', file_id: 'f' } }),
    ],
    [
      'messages.2.content.0.source.media_type',
      'image/png',
      user({ type: 'image', source: { ...source, media_type: 'image/tiff' } }),
    ],
    [
      'messages.2.content.1',
      'validation checks',
      user({ type: 'text', text: 'See:' }, { type: 'image', source }),
    ],
    [
      'messages.2.content.0.citations.enabled',
      'citations',
      user({
        type: 'document',
        source: { type: 'text', media_type: 'text/plain', data: 'x' },
        citations: { enabled: true },
      }),
    ],
    [
      'messages.2.content.0.content.0.type',
      '"image"',
      user({ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'tool_reference', tool_name: 'x' }] }),
    ],
    ['tools.0.type', 'bash_20250124', { tools: [{ type: 'bash_20250124', name: 'bash' }] }],
    [
      'tools.1.type',
      'code_execution_20250825',
      {
        tools: [
          { name: 'f', input_schema: {} },
          { type: 'code_execution_20250825', name: 'code_execution' },
        ],
      },
    ],
    ['tools.0.input_schema', 'is required', { tools: [{ name: 'f' }] }],
    [
      'tools.0.allowed_domains',
      'allowed_domains',
      { tools: [{ type: 'web_search_20250305', name: 'web_search', allowed_domains: ['a.example'] }] },
    ],
    ['tool_choice', 'only allowed with tools', { tool_choice: { type: 'any' } }],
    [
      'tools',
      'text-only does not support tools',
      { model: 'text-only', tools: [{ name: 'f', input_schema: {} }] },
    ],
    ['stop_sequences', 'must have at most 4 items', { stop_sequences: ['a', 'b', 'c', 'd', 'e'] }],
    ['mcp_servers', 'not offered', { mcp_servers: [{ type: 'url' }] }],
    ['thinking.budget_tokens', 'must be a number', { thinking: { type: 'enabled' } }],
    ['temperature', 'must be at most 2', { temperature: 3 }],
  ])('is refused naming %s (%s)', async (path, message, body) => {
    const { error } = await caller.refusal(body);
    expect(error.type).toBe('invalid_request_error');
    expect(error.details.issues?.map((issue) => issue.path.join('.'))).toContain(path);
    expect(error.message).toContain(message);
  });

  it('is refused in the same envelope by every part of the service', async () => {
    const request = { model: 'plain', max_tokens: 5, messages: [HI] };
    const outcomes = await Promise.all([
      caller.post('/messages', request, { 'x-api-key': 'wrong' }),
      caller.post('/messages', '{'),
      caller.post('/messages', request, { 'content-type': 'text/plain' }),
      caller.post('/messages', `{"a":"${'x'.repeat(36_000_000)}"}`),
      caller.post('/messages', `{"messages":${'['.repeat(5_000)}${']'.repeat(5_000)}}`),
      caller.post('/messages/count_tokens', { ...request, model: 'no-such' }),
    ]);
    const found = await Promise.all(
      outcomes.map(async (response) => {
        const { type, error, request_id: id } = (await response.json()) as Failure;
        expect({ type, id }).toEqual({ type: 'error', id: response.headers.get('request-id') });
        return [response.status, error.type];
      }),
    );
    expect(found).toEqual([
      [401, 'authentication_error'],
      [400, 'invalid_request_error'],
      [415, 'invalid_request_error'],
      [413, 'request_too_large'],
      [400, 'invalid_request_error'],
      [404, 'not_found_error'],
    ]);
  });

  it('without credentials gets the ways to pay in the same envelope', async () => {
    const response = await fetch(`${platform.apiUrl}/messages`, {
      method: 'POST',
      body: JSON.stringify({ model: 'plain', max_tokens: 5, messages: [HI] }),
      headers: { 'content-type': 'application/json' },
    });
    expect(response.status).toBe(402);
    expect(await response.json()).toMatchObject({
      type: 'error',
      error: { type: 'billing_error', message: expect.stringContaining('API key') },
      x402Version: 2,
    });
  });
});
