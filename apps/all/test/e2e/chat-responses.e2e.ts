import { ChatCompletion } from '@svc/api/chat';
import OpenAI from 'openai';
import { zodFunction, zodResponseFormat } from 'openai/helpers/zod';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { errorOf } from '../response-bodies.js';
import { Platform, type TestAccount } from '../platform.js';
import { type Script, ScriptedBackend, scriptMessage } from '../scripted-backend.js';
import { TIME, WEATHER } from '../tools.js';

const model = 'test-model';
const user = (content: string) => [{ role: 'user' as const, content }];

let platform: Platform;
let scripted: ScriptedBackend;
let account: TestAccount;

beforeAll(async () => {
  scripted = await ScriptedBackend.start();
  platform = await Platform.start({
    models: [{ id: 'scripted', backends: [{ url: scripted.url, model: 'scripted' }] }],
  });
  account = await platform.account('100.00');
});

afterAll(async () => {
  await platform.stop();
  await scripted.close();
});

type Body = Omit<OpenAI.ChatCompletionCreateParamsNonStreaming, 'stream'>;

/** The same request streamed and not; the client's stream helper assembles the stream. */
async function both(body: Body): Promise<{ whole: OpenAI.ChatCompletion; streamed: OpenAI.ChatCompletion }> {
  const whole = await account.openai.chat.completions.create(body);
  const streamed = await account.openai.chat.completions.stream(body).finalChatCompletion();
  return { whole, streamed };
}

const comparable = ({ choices, usage }: OpenAI.ChatCompletion) => ({
  tokens: [usage?.prompt_tokens, usage?.completion_tokens, usage?.completion_tokens_details],
  choices: choices.map(({ index, finish_reason, logprobs, message }) => ({
    index,
    finish_reason,
    logprobs: logprobs?.content ?? null,
    // A stream starts with an empty text, even if the completion turns out to have no content.
    content: message.content ?? '',
    tool_calls: message.tool_calls?.map((call) => JSON.parse(JSON.stringify(call)) as unknown),
  })),
});

/** The client's view of a scripted backend's completion. */
async function scriptedResponse(script: Script): Promise<ChatCompletion> {
  const body = { model: 'scripted', messages: [scriptMessage(script)] };
  if (script.chunks) {
    const streamed = await account.openai.chat.completions.stream(body).finalChatCompletion();
    return streamed as unknown as ChatCompletion;
  }
  return ChatCompletion.parse(await (await platform.chat(account.apiKey, body)).json());
}

describe('200, to the openai client', () => {
  it.each<[string, Partial<Body>]>([
    ['text', {}],
    ['several choices', { n: 3 }],
    ['logprobs', { logprobs: true, top_logprobs: 2 }],
    ['a truncated completion', { max_completion_tokens: 3 }],
    ['a forced tool call', { tools: [WEATHER, TIME], tool_choice: 'required' }],
    ['a tool call that was cut', { tools: [WEATHER], tool_choice: 'required', max_completion_tokens: 3 }],
  ])('returns the same completion of %s streamed and not', async (_, body) => {
    const messages = user('Reply exactly: héllo wörld 🙂 by the lake');
    const { whole, streamed } = await both({ model, messages, ...body });
    expect(comparable(streamed)).toEqual(comparable(whole));
    expect(whole.choices).toHaveLength(body.n ?? 1);
  });

  it('returns choices with all members of the contract', async () => {
    const body = { model, messages: user('hi'), n: 2, logprobs: true, top_logprobs: 1 };
    const answer = ChatCompletion.parse(await (await platform.chat(account.apiKey, body)).json());
    expect(answer.choices.map(({ index }) => index)).toEqual([0, 1]);
    for (const { stop_reason, finish_reason, logprobs, message } of answer.choices) {
      expect({ stop_reason, finish_reason }).toEqual({ stop_reason: null, finish_reason: 'stop' });
      expect(logprobs).toMatchObject({ refusal: null });
      expect(logprobs?.content?.map(({ token }) => token).join('')).toBe(message.content);
    }
    expect(answer).toMatchObject({ prompt_logprobs: null });
    expect(answer).not.toHaveProperty('system_fingerprint');
  });

  it('streams parallel tool calls, each with its id, type and name', async () => {
    const messages = user('weather and time please [[sim parallel=true]]');
    const body = { model, messages, tools: [WEATHER, TIME] };
    const { whole, streamed } = await both(body);
    expect(whole.choices[0]?.finish_reason).toBe('tool_calls');
    expect(whole.choices[0]?.message.tool_calls).toHaveLength(2);
    expect(comparable(streamed)).toEqual(comparable(whole));
  });

  it.each([true, false])('runs tools until the final completion (stream: %s)', async (stream) => {
    const inputs: unknown[] = [];
    const tools = [
      zodFunction({
        name: 'get_weather',
        parameters: z.object({ city: z.string() }),
        function: (given) => {
          inputs.push(given);
          return 'sunny, 21 degrees';
        },
      }),
    ];
    const messages = user('What is the weather in Oslo?');
    const { completions } = account.openai.chat;
    const runner = stream
      ? completions.runTools({ model, messages, tools, stream })
      : completions.runTools({ model, messages, tools });
    expect(await runner.finalContent()).toContain('sunny, 21 degrees');
    expect(inputs).toEqual([{ city: expect.any(String) }]);
  });

  it('parses structured output and arguments, with and without streaming', async () => {
    const Trip = z.object({ city: z.string(), days: z.int().min(1).max(9), tags: z.array(z.string()) });
    const { completions } = account.openai.chat;
    const format = { model, messages: user('Plan a trip'), response_format: zodResponseFormat(Trip, 'trip') };
    const parsed = (await completions.parse(format)).choices[0]?.message.parsed;
    const streamed = (await completions.stream(format).finalChatCompletion()).choices[0]?.message.parsed;
    expect(Trip.parse(parsed)).toEqual(Trip.parse(streamed));

    const tools = [zodFunction({ name: 'plan_trip', parameters: Trip })];
    const call = await completions.parse({ model, messages: user('plan_trip'), tools });
    const [first] = call.choices[0]?.message.tool_calls ?? [];
    const args: unknown = first?.type === 'function' ? first.function.parsed_arguments : undefined;
    expect(Trip.safeParse(args).success).toBe(true);
  });

  it.each([true, false])('returns content_filter if the backend does (stream: %s)', async (stream) => {
    const messages = user('go [[sim fault=content-filter after=3]]');
    const response = await platform.chat(account.apiKey, { model, messages, stream });
    expect(await response.text()).toContain('"finish_reason":"content_filter"');
  });
});

describe('200, whatever format a backend uses', () => {
  const usage = { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 };
  const head = { id: 'x', object: 'chat.completion.chunk', created: 1, model: 'theirs' };
  const chunk = (delta: object, rest: object = {}) => ({ ...head, choices: [{ index: 0, delta, ...rest }] });
  const answer = (message: object, rest: object = {}) => ({
    choices: [{ message, finish_reason: 'stop', ...rest }],
    usage,
  });

  it('adds ids, types, indexes and text arguments to tool calls', async () => {
    const calls = [
      { function: { name: 'f', arguments: { a: 1 } } },
      { function: { name: 'g', arguments: '{}' } },
    ];
    const expected = [
      { type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
      { type: 'function', function: { name: 'g', arguments: '{}' } },
    ];
    const chunks = [
      chunk({ tool_calls: calls.slice(0, 1) }),
      chunk({ tool_calls: calls.slice(1) }, { finish_reason: 'stop' }),
    ];
    for (const script of [{ chunks }, { answer: answer({ content: null, tool_calls: calls }) }]) {
      const [choice] = (await scriptedResponse(script)).choices;
      expect(choice).toMatchObject({ finish_reason: 'tool_calls', message: { tool_calls: expected } });
      const ids = choice?.message.tool_calls?.map(({ id }) => id) ?? [];
      expect(new Set(ids).size).toBe(2);
      for (const id of ids) expect(id).toMatch(/^call_/);
    }
  });

  it('reads a function call in the old format', async () => {
    const called = { name: 'f', arguments: '{}' };
    const script = {
      answer: answer({ content: null, function_call: called }, { finish_reason: 'function_call' }),
    };
    const [choice] = (await scriptedResponse(script)).choices;
    expect(choice).toMatchObject({
      finish_reason: 'tool_calls',
      message: { tool_calls: [{ type: 'function', function: called }] },
    });
  });

  it('wraps unwrapped logprobs', async () => {
    const token = { token: 'a', logprob: -1, bytes: [97], top_logprobs: [] };
    const { choices } = await scriptedResponse({ answer: answer({ content: 'a' }, { logprobs: token }) });
    expect(choices[0]?.logprobs).toEqual({ content: [token], refusal: null });
  });

  it('normalises the names of reasoning, keeps details and drops members of the backend’s own', async () => {
    const details = [{ type: 'reasoning.encrypted', data: 'x', id: 'y', index: 0 }];
    const message = { content: 'a', reasoning: 'hm', reasoning_details: details, thought_signature: 's' };
    const body = { ...answer(message), system_fingerprint: 'f', kv_transfer_params: null, service_tier: 'x' };
    const whole = await scriptedResponse({ answer: body });
    expect(whole.choices[0]?.message).toMatchObject({
      content: 'a',
      reasoning_content: 'hm',
      reasoning_details: details,
      thought_signature: 's',
    });
    expect(whole.choices[0]?.message).not.toHaveProperty('reasoning');
    const leaks = ['system_fingerprint', 'kv_transfer_params', 'service_tier'];
    for (const leak of leaks) expect(whole).not.toHaveProperty(leak);
  });

  it('reads cached and written tokens next to the totals', async () => {
    const { usage: read } = await scriptedResponse({
      answer: {
        ...answer({ content: 'a' }),
        usage: { ...usage, cache_read_input_tokens: 5, cache_creation_input_tokens: 2 },
      },
    });
    expect(read.prompt_tokens_details).toEqual({ cached_tokens: 5, cache_creation_input_tokens: 2 });
  });

  it('accepts usage on each chunk, roles on each, no finish and no index', async () => {
    const chunks = ['a', 'b', 'c'].map((content, position) => ({
      choices: [{ delta: { role: 'assistant', content }, finish_reason: '' }],
      usage: { ...usage, completion_tokens: position + 1 },
    }));
    const { choices, usage: read } = await scriptedResponse({ chunks });
    expect(choices).toMatchObject([{ index: 0, finish_reason: 'stop', message: { content: 'abc' } }]);
    expect(read.completion_tokens).toBe(3);
  });

  it('keeps a content of text parts and a refusal', async () => {
    const content = [{ type: 'text', text: 'a' }];
    const whole = await scriptedResponse({ answer: answer({ content, refusal: 'no' }) });
    expect(whole.choices[0]?.message).toMatchObject({ content, refusal: 'no' });
  });

  it('fails if a backend reports an error with status 200', async () => {
    const messages = [scriptMessage({ answer: { error: { message: 'boom' } } })];
    const response = await platform.chat(account.apiKey, { model: 'scripted', messages });
    expect(response.status).toBe(500);
    expect((await errorOf(response)).code).toBe('INFERENCE_FAILED');
  });
});
