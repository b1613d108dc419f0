import { type Simulator, startSimulator } from '@svc/simulator';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Platform, type TestAccount } from '../platform.js';

let backend: Simulator;
let platform: Platform;
let account: TestAccount;

beforeAll(async () => {
  backend = await startSimulator({ port: 0 });
  const on = (more: object = {}) => ({
    capabilities: { supportsFunctionCalling: true },
    backends: [{ url: `${backend.url}/v1`, model: 'sim', ...more }],
  });
  platform = await Platform.start({
    housePrompts: ['House rules.'],
    characters: [{ slug: 'ann', name: 'Ann', systemPrompt: 'You are Ann.' }],
    models: [
      { id: 'plain', ...on() },
      { id: 'late', ...on({ lateSystemMessages: true }) },
      { id: 'llama-cpp-python', ...on({ kind: 'llama-cpp-python' }) },
    ],
  });
  account = await platform.account('10.00');
});

afterAll(async () => {
  await platform.stop();
  await backend.close();
});

/** The messages that the server gets for a request. */
async function sentFor(path: string, body: object): Promise<unknown> {
  const response = await fetch(`${platform.apiUrl}${path}`, {
    method: 'POST',
    body: JSON.stringify({ model: 'plain', ...body }),
    headers: { authorization: `Bearer ${account.apiKey}`, 'content-type': 'application/json' },
  });
  expect(response.status).toBe(200);
  return (JSON.parse(backend.requests().at(-1)?.body ?? '{}') as { messages: unknown }).messages;
}

const user = (content: unknown) => ({ role: 'user', content });
const marked = (text: string): string => `<system_message>\n${text}\n</system_message>`;
const called = { type: 'function', function: { name: 'f', arguments: '{}' } };
const calls = { role: 'assistant', content: null, tool_calls: [{ id: 'c1', ...called }] };
const result = { role: 'tool', tool_call_id: 'c1', content: 'one' };

describe('a model server with a strict chat template', () => {
  it('gets one system message, and the text of later ones in user messages, on /chat/completions', async () => {
    const messages = [
      { role: 'developer', content: 'Be brief.' },
      { role: 'system', content: 'Be fast.' },
      user('a'),
      { role: 'assistant', content: 'b', tool_calls: [] },
      { role: 'system', content: 'late' },
      user('c'),
      calls,
      { role: 'developer', content: 'hook' },
      result,
    ];
    const parameters = { svc_parameters: { character_slug: 'ann' } };
    expect(await sentFor('/chat/completions', { messages, ...parameters })).toEqual([
      { role: 'system', content: 'House rules.\n\nYou are Ann.\n\nBe brief.\n\nBe fast.' },
      user('a'),
      { role: 'assistant', content: 'b' },
      user(`${marked('late')}\n\nc`),
      calls,
      result,
      user(marked('hook')),
    ]);
  });

  it('gets the same on /responses, with all calls of a turn in one message', async () => {
    const input = [
      { role: 'developer', content: 'Be brief.' },
      user('x'),
      { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' },
      { role: 'developer', content: 'hook' },
      { type: 'function_call_output', call_id: 'c1', output: 'one' },
    ];
    const { content: _, ...turn } = calls;
    expect(await sentFor('/responses', { input, instructions: 'Be fast.' })).toEqual([
      { role: 'system', content: 'House rules.\n\nBe fast.\n\nBe brief.' },
      user('x'),
      turn,
      result,
      user(marked('hook')),
    ]);
  });

  it('gets the same on /messages', async () => {
    const use = { type: 'tool_use', id: 'c1', name: 'f', input: {} };
    const messages = [
      user('x'),
      { role: 'assistant', content: [use] },
      { role: 'system', content: 'hook' },
      user([{ type: 'tool_result', tool_use_id: 'c1', content: 'one' }]),
      { role: 'system', content: 'late' },
      user('y'),
    ];
    expect(await sentFor('/messages', { messages, system: 'Be brief.', max_tokens: 9 })).toEqual([
      { role: 'system', content: 'House rules.\n\nBe brief.' },
      user('x'),
      calls,
      result,
      user(`${marked('hook')}\n\n${marked('late')}\n\ny`),
    ]);
  });

  it('gets late system messages if its entry in the catalogue says that its template knows them', async () => {
    const late = { role: 'system', content: 'late' };
    const messages = [user('a'), { ...late, role: 'developer' }, user('b')];
    expect(await sentFor('/chat/completions', { model: 'late', messages })).toEqual([
      { role: 'system', content: 'House rules.' },
      user('a'),
      late,
      user('b'),
    ]);
  });

  it('gets no null beside calls if it is llama-cpp-python, which refuses it', async () => {
    const { content: _, ...without } = calls;
    const messages = [user('a'), calls, result];
    const sent = await sentFor('/chat/completions', { model: 'llama-cpp-python', messages });
    expect(sent).toEqual([{ role: 'system', content: 'House rules.' }, user('a'), without, result]);
  });
});
