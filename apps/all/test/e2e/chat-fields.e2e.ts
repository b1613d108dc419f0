import { TREATMENTS } from '@svc/openapi';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorOf } from '../response-bodies.js';
import { Platform, type TestAccount } from '../platform.js';

let platform: Platform;
let account: TestAccount;

beforeAll(async () => {
  platform = await Platform.start({ models: [{ id: 'lenient', extraFields: ['priority', 'lora_path'] }] });
  account = await platform.account();
});

afterAll(() => platform.stop());

/** A value for every field that is only passed on, or accepted and ignored. */
const VALUES: Readonly<Record<string, unknown>> = {
  temperature: 0.5,
  top_p: 0.5,
  top_k: 40,
  min_p: 0.1,
  min_temp: 0.1,
  max_temp: 1.5,
  frequency_penalty: 0.5,
  presence_penalty: -0.5,
  repetition_penalty: 1.1,
  logit_bias: { '1': 5 },
  seed: -7,
  stop: ['never said'],
  stop_token_ids: [1],
  logprobs: true,
  top_logprobs: 1,
  response_format: { type: 'json_object', schema: { type: 'object', properties: { a: { type: 'null' } } } },
  parallel_tool_calls: false,
  verbosity: 'low',
  text: { verbosity: 'low' },
  modalities: ['text'],
  prompt_cache_retention: '24h',
  anon_user_id: 'user-1',
  store: false,
  include: ['something'],
  metadata: { a: 'b' },
};

const treated = (treatment: string): string[] =>
  Object.entries(TREATMENTS.chat).flatMap(([name, given]) => (given === treatment ? [name] : []));

it('sends the name of an end user to no backend', async () => {
  const messages = [{ role: 'user', content: 'hi' }];
  const named = { user: 'alice', safety_identifier: 'bob', metadata: { user_id: 'carol' } };
  const response = await platform.chat(account.apiKey, { model: 'test-model', messages, ...named });
  expect(response.status).toBe(200);
  const [{ body } = { body: '{}' }] = platform.simulator.requests().toReversed();
  expect(String(body)).not.toMatch(/alice|bob|carol/);
});

it('passes documented pass-through fields to the backend unchanged, and drops ignored ones', async () => {
  const names = [...treated('passed on'), ...treated('not used')];
  expect(Object.keys(VALUES).toSorted()).toEqual(names.toSorted());
  const messages = [{ role: 'user', content: 'hi' }];
  const tools = [{ type: 'function', function: { name: 'f' } }];
  const response = await platform.chat(account.apiKey, { model: 'test-model', messages, tools, ...VALUES });
  expect(response.status).toBe(200);
  const [{ body } = { body: '{}' }] = platform.simulator.requests().toReversed();
  const seen = JSON.parse(String(body)) as Record<string, unknown>;
  for (const name of treated('passed on')) expect(seen).toHaveProperty(name, VALUES[name]);
  for (const name of treated('not used')) expect(seen).not.toHaveProperty(name);
});

describe('a member that steers the model server', () => {
  const MEMBERS = {
    priority: -9,
    lora_path: 'other/adapter',
    cache_salt: 'of another account',
    kv_transfer_params: { remote_host: '10.0.0.1' },
    bootstrap_host: '10.0.0.1',
    chat_template: '{{ 1 }}',
    custom_logit_processor: 'pickle',
    Data_Parallel_Rank: 1,
    extra_body: { priority: -9 },
    nvext: { backend_instance_id: 1 },
  };
  const HARMLESS = { guided_regex: 'a+', min_tokens: 1, chat_template_kwargs: { enable_thinking: false } };
  const messages = [{ role: 'user', content: 'hi' }];

  const sent = async (path: string, body: object): Promise<Record<string, unknown>> => {
    const response = await fetch(`${platform.apiUrl}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${account.apiKey}` },
      body: JSON.stringify({ ...HARMLESS, ...MEMBERS, ...body }),
    });
    expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
    return JSON.parse(platform.simulator.requests().at(-1)?.body ?? '{}') as Record<string, unknown>;
  };

  it.each([
    ['/chat/completions', { model: 'test-model', messages }, HARMLESS],
    ['/completions', { model: 'test-model', prompt: 'hi' }, HARMLESS],
    ['/responses', { model: 'test-model', input: 'hi' }, HARMLESS],
    ['/messages', { model: 'test-model', messages, max_tokens: 9 }, {}],
  ])('does not reach it by POST %s', async (path, body, passed) => {
    const received = await sent(path, body);
    expect(received).toMatchObject(passed);
    for (const name of Object.keys(MEMBERS)) expect(received).not.toHaveProperty(name);
  });

  it('reaches it if the catalogue adds it for the model', async () => {
    const received = await sent('/chat/completions', { model: 'lenient', messages });
    const { priority, lora_path, ...others } = MEMBERS;
    expect(received).toMatchObject({ ...HARMLESS, priority, lora_path });
    for (const name of Object.keys(others)) expect(received).not.toHaveProperty(name);
  });

  it('does not come as an argument of the chat template', async () => {
    const template = { chat_template: '{{ 1 }}', tokenize: true, enable_thinking: true };
    const received = await sent('/chat/completions', {
      model: 'test-model',
      messages,
      chat_template_kwargs: template,
    });
    expect(received['chat_template_kwargs']).toEqual({ enable_thinking: true });
  });
});

it.each(treated('refused'))('%s is refused by its name, and null is treated as absent', async (name) => {
  const ask = (value: unknown): Promise<Response> =>
    platform.chat(account.apiKey, {
      model: 'test-model',
      messages: [{ role: 'user', content: 'hi' }],
      [name]: value,
    });
  const refused = await ask({ name: 'x' });
  expect(refused.status).toBe(400);
  expect((await errorOf(refused)).error.param).toBe(name);
  expect((await ask(null)).status).toBe(200);
});
