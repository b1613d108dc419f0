import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type Simulator, startSimulator } from './start-simulator.js';

let simulator: Simulator;
let client: OpenAI;

beforeAll(async () => {
  simulator = await startSimulator();
  client = new OpenAI({ baseURL: `${simulator.url}/v1`, apiKey: 'sk-test-abcd', maxRetries: 0 });
});
afterAll(() => simulator.close());

const Usages = z.object({
  usage: z.object({ prompt_tokens_details: z.object({ cached_tokens: z.number() }) }),
});

type Params = Omit<OpenAI.ChatCompletionCreateParamsNonStreaming, 'model' | 'messages' | 'stream'>;

function ask(content: string, params: Params = {}, model = 'llama-3.2-3b'): Promise<OpenAI.ChatCompletion> {
  return client.chat.completions.create({ model, messages: [{ role: 'user', content }], ...params });
}

async function askStream(
  content: string,
  params: Params = {},
  model = 'llama-3.2-3b',
): Promise<OpenAI.ChatCompletionChunk[]> {
  const stream = await client.chat.completions.create({
    model,
    messages: [{ role: 'user', content }],
    ...params,
    stream: true,
  });
  const chunks: OpenAI.ChatCompletionChunk[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}

function textOf(chunks: readonly OpenAI.ChatCompletionChunk[], choice = 0): string {
  const choices = chunks.flatMap((chunk) => chunk.choices).filter(({ index }) => index === choice);
  return choices.map(({ delta }) => delta.content ?? '').join('');
}

const WEATHER: OpenAI.ChatCompletionFunctionTool = {
  type: 'function',
  function: {
    name: 'get_weather',
    parameters: {
      type: 'object',
      properties: { location: { type: 'string' }, unit: { enum: ['celsius', 'fahrenheit'] } },
      required: ['location', 'unit'],
    },
  },
};
const TIME: OpenAI.ChatCompletionFunctionTool = {
  type: 'function',
  function: {
    name: 'get_time',
    parameters: { type: 'object', properties: { zone: { type: 'string' } }, required: ['zone'] },
  },
};

describe('text', () => {
  test('a dictated reply is exact, streamed or not', async () => {
    expect((await ask('Say this is a test')).choices[0]?.message.content).toBe('This is a test');
    expect(textOf(await askStream('Reply exactly: 日本 🙂 naïve'))).toBe('日本 🙂 naïve');
  });

  test('the same request and seed give the same text, streamed or not; a different seed gives a different text', async () => {
    const seven = { seed: 7 };
    const eight = { seed: 8 };
    const whole = (await ask('Tell me a story', seven)).choices[0]?.message.content;
    expect(textOf(await askStream('Tell me a story', seven))).toBe(whole);
    expect((await ask('Tell me a story', seven)).choices[0]?.message.content).toBe(whole);
    expect((await ask('Tell me a story', eight)).choices[0]?.message.content).not.toBe(whole);
  });

  test('another simulator with the same seed gives the same text', async () => {
    const other = await startSimulator();
    const there = new OpenAI({ baseURL: `${other.url}/v1`, apiKey: 'x' });
    const messages = [{ role: 'user' as const, content: 'Tell me a story' }];
    const completion = await there.chat.completions.create({ model: 'llama-3.2-3b', messages });
    await other.close();
    expect(completion.choices).toEqual((await ask('Tell me a story')).choices);
  });

  test('a completion has the default length, or is cut at the limit with reason length', async () => {
    const whole = await ask('Tell me a story');
    expect(whole.usage?.completion_tokens).toBe(32);
    expect(whole.choices[0]?.finish_reason).toBe('stop');
    for (const limit of [{ max_tokens: 5 }, { max_completion_tokens: 5 }]) {
      const cut = await ask('Tell me a story', limit);
      expect(cut.usage?.completion_tokens).toBe(5);
      expect(cut.choices[0]?.finish_reason).toBe('length');
    }
    expect((await ask('Tell me a story [[sim tokens=200]]')).usage?.completion_tokens).toBe(200);
  });

  test('a stop sequence ends the completion before itself', async () => {
    const { choices } = await ask('Reply exactly: one two three four', { stop: ['three', 'four'] });
    expect(choices[0]?.message.content).toBe('one two ');
    expect(choices[0]?.finish_reason).toBe('stop');
  });

  test('n choices differ, are streamed side by side, and all count', async () => {
    const whole = await ask('Tell me a story', { n: 3 });
    const texts = whole.choices.map(({ message }) => message.content);
    expect(new Set(texts).size).toBe(3);
    expect(whole.usage?.completion_tokens).toBe(96);
    const chunks = await askStream('Tell me a story', { n: 3 });
    expect([0, 1, 2].map((choice) => textOf(chunks, choice))).toEqual(texts);
  });

  test('the directive is removed from an echo', async () => {
    expect((await ask('[[sim echo]] Hello there')).choices[0]?.message.content).toBe('Hello there');
  });
});

describe('usage', () => {
  test('a stream has usage only on request, in a last chunk without choices', async () => {
    const silent = await askStream('Tell me a story');
    expect(silent.every((chunk) => !('usage' in chunk))).toBe(true);
    const chunks = await askStream('Tell me a story', { stream_options: { include_usage: true } });
    expect(chunks.slice(0, -1).every(({ usage }) => usage === null)).toBe(true);
    expect(chunks.at(-1)?.choices).toEqual([]);
    expect(chunks.at(-1)?.usage).toMatchObject({ prompt_tokens: 7, completion_tokens: 32, total_tokens: 39 });
  });

  test('cached tokens are exactly the whole blocks of the known prefix', async () => {
    const prefix = `cache test ${'.'.repeat(200)}`;
    const first = await ask(`${prefix} one`, {}, 'cache-model');
    const second = await ask(`${prefix} two, and more`, {}, 'cache-model');
    expect(first.usage?.prompt_tokens_details?.cached_tokens).toBe(0);
    expect(second.usage?.prompt_tokens_details?.cached_tokens).toBe(192);
  });

  test('prompts computed one after the other wait, and find what those before them have written', async () => {
    const serial = await startSimulator({ serialPrefill: true, prefillUsPerToken: 500 });
    try {
      const url = `${serial.url}/v1/chat/completions`;
      const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: '.'.repeat(200) }] });
      const startMs = performance.now();
      const calls = Array.from({ length: 3 }, async () => {
        const response = await fetch(url, { method: 'POST', body });
        const { usage } = Usages.parse(await response.json());
        return { cached: usage.prompt_tokens_details.cached_tokens, ms: performance.now() - startMs };
      });
      const seen = await Promise.all(calls);
      // A client may read responses in another order than the server sent them.
      expect(seen.map(({ cached }) => cached).toSorted((a, b) => a - b)).toEqual([0, 192, 192]);
      // 203 tokens, and then 11 each.
      for (const [at, ms] of seen
        .map((one) => one.ms)
        .toSorted((a, b) => a - b)
        .entries())
        expect(ms).toBeGreaterThanOrEqual(101 + 5.5 * at);
    } finally {
      await serial.close();
    }
  });

  test('with cache_control the tokens written to the cache are reported', async () => {
    const part = {
      type: 'text' as const,
      text: `write test ${'.'.repeat(150)}`,
      cache_control: { type: 'ephemeral' },
    };
    const send = (): Promise<OpenAI.ChatCompletion> =>
      client.chat.completions.create({ model: 'cache-model', messages: [{ role: 'user', content: [part] }] });
    expect((await send()).usage?.prompt_tokens_details).toEqual({
      cached_tokens: 0,
      cache_creation_input_tokens: 128,
    });
    expect((await send()).usage?.prompt_tokens_details).toEqual({
      cached_tokens: 128,
      cache_creation_input_tokens: 0,
    });
  });

  test('an image costs a fixed number of tokens', async () => {
    const image = { type: 'image_url' as const, image_url: { url: 'data:image/png;base64,AAAA' } };
    const completion = await client.chat.completions.create({
      model: 'm',
      messages: [{ role: 'user', content: [image] }],
    });
    expect(completion.usage?.prompt_tokens).toBe(259);
  });
});

describe('tools', () => {
  test('a named function is called with arguments that fit its schema', async () => {
    const { choices } = await ask('Hello', {
      tools: [TIME, WEATHER],
      tool_choice: { type: 'function', function: { name: 'get_weather' } },
    });
    const call = choices[0]?.message.tool_calls?.[0];
    expect(choices[0]?.finish_reason).toBe('tool_calls');
    expect(choices[0]?.message.content).toBeNull();
    if (call?.type !== 'function') throw new Error('no function call');
    expect(call.function.name).toBe('get_weather');
    const schema = z.strictObject({ location: z.string(), unit: z.enum(['celsius', 'fahrenheit']) });
    expect(schema.safeParse(JSON.parse(call.function.arguments)).success).toBe(true);
  });

  test("with auto the function that fits the user's message is called, and other messages call none", async () => {
    const called = await ask("What's the weather in Tokyo?", { tools: [TIME, WEATHER] });
    expect(called.choices[0]?.message.tool_calls).toMatchObject([{ function: { name: 'get_weather' } }]);
    const plain = await ask('Tell me a story', { tools: [TIME, WEATHER] });
    expect(plain.choices[0]?.message.tool_calls).toBeUndefined();
    expect(plain.choices[0]?.finish_reason).toBe('stop');
    const none = await ask("What's the weather in Tokyo?", { tools: [WEATHER], tool_choice: 'none' });
    expect(none.choices[0]?.message.tool_calls).toBeUndefined();
  });

  test('a streamed call comes in fragments that the client joins to the same call', async () => {
    const params = {
      model: 'm',
      messages: [{ role: 'user' as const, content: "What's the weather?" }],
      tools: [WEATHER],
    };
    const runner = client.chat.completions.stream(params);
    const streamed = await runner.finalChatCompletion();
    const whole = await client.chat.completions.create(params);
    expect(streamed.choices[0]?.message.tool_calls).toMatchObject(whole.choices[0]?.message.tool_calls ?? []);
    const chunks = await askStream("What's the weather?", { tools: [WEATHER] });
    const fragments = chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []);
    expect(fragments[0]).toMatchObject({
      index: 0,
      type: 'function',
      function: { name: 'get_weather', arguments: '' },
    });
    expect(fragments.length).toBeGreaterThan(3);
    expect(
      fragments
        .slice(1)
        .every((fragment) => fragment.id === undefined && fragment.function?.name === undefined),
    ).toBe(true);
  });

  test('two calls are made at once on request, unless the request forbids it', async () => {
    const both = await ask('Hi [[sim parallel]]', { tools: [TIME, WEATHER] });
    const calls = both.choices[0]?.message.tool_calls ?? [];
    expect(calls.map((call) => call.type === 'function' && call.function.name)).toEqual([
      'get_time',
      'get_weather',
    ]);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(2);
    const one = await ask('Hi [[sim parallel]]', { tools: [TIME, WEATHER], parallel_tool_calls: false });
    expect(one.choices[0]?.message.tool_calls).toHaveLength(1);
  });

  test('after a tool result the completion is text that contains the result', async () => {
    const user = { role: 'user' as const, content: "What's the weather in Tokyo?" };
    const first = await client.chat.completions.create({ model: 'm', messages: [user], tools: [WEATHER] });
    const message = first.choices[0]?.message;
    if (message === undefined) throw new Error('no message');
    const result = {
      role: 'tool' as const,
      tool_call_id: message.tool_calls?.[0]?.id ?? '',
      content: '21 degrees and sunny',
    };
    const second = await client.chat.completions.create({
      model: 'm',
      messages: [user, message, result],
      tools: [WEATHER],
    });
    expect(second.choices[0]?.message.content).toContain('21 degrees and sunny');
    expect(second.choices[0]?.message.tool_calls).toBeUndefined();
  });
});

describe('formats', () => {
  test('json_schema gives valid JSON, json_object gives an object', async () => {
    const schema = {
      type: 'object',
      properties: {
        city: { type: 'string' },
        days: { type: 'array', items: { type: 'integer', minimum: 1, maximum: 7 }, minItems: 2 },
      },
      required: ['city', 'days'],
      additionalProperties: false,
    };
    const fitting = z.strictObject({ city: z.string(), days: z.array(z.int().min(1).max(7)).min(2) });
    const format = { type: 'json_schema' as const, json_schema: { name: 'plan', schema, strict: true } };
    const whole = await ask('Plan', { response_format: format });
    expect(fitting.safeParse(JSON.parse(whole.choices[0]?.message.content ?? '')).success).toBe(true);
    const beside = { type: 'json_object' as const, schema };
    const other = await ask('Plan', { response_format: beside });
    expect(fitting.safeParse(JSON.parse(other.choices[0]?.message.content ?? '')).success).toBe(true);
    const object = await ask('Plan', { response_format: { type: 'json_object' } });
    expect(
      z.record(z.string(), z.unknown()).safeParse(JSON.parse(object.choices[0]?.message.content ?? ''))
        .success,
    ).toBe(true);
  });

  test('logprobs describe every token, the chosen one first, the same streamed or not', async () => {
    const params = { logprobs: true, top_logprobs: 3 };
    const whole = (await ask('Reply exactly: héllo wörld', params)).choices[0]?.logprobs?.content ?? [];
    expect(whole.map(({ token }) => token).join('')).toBe('héllo wörld');
    for (const { token, bytes, logprob, top_logprobs: top } of whole) {
      expect(bytes).toEqual([...Buffer.from(token)]);
      expect(top).toHaveLength(3);
      expect(top[0]).toEqual({ token, bytes, logprob });
      expect(top.reduce((sum, { logprob: other }) => sum + Math.exp(other), 0)).toBeLessThanOrEqual(1);
    }
    const chunks = await askStream('Reply exactly: héllo wörld', params);
    expect(chunks.flatMap(({ choices }) => choices[0]?.logprobs?.content ?? [])).toEqual(whole);
  });
});

describe('reasoning', () => {
  test('a think model reasons in tags before the text', async () => {
    const { choices } = await ask('Reply exactly: yes', {}, 'sim-think');
    expect(choices[0]?.message.content).toMatch(/^<think>\n[^<]+\n<\/think>\n\nyes$/);
  });

  test('a reason model reasons in a separate field, counted in usage', async () => {
    const whole = await ask('Reply exactly: yes [[sim think=9]]', {}, 'sim-reason');
    expect(whole.choices[0]?.message).toMatchObject({
      content: 'yes',
      reasoning_content: expect.stringMatching(/\w+/) as string,
    });
    expect(whole.usage?.completion_tokens_details?.reasoning_tokens).toBe(9);
    const chunks = await askStream('Reply exactly: yes [[sim think=9 reasoning-details]]', {}, 'sim-reason');
    const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta));
    const firstContent = deltas.findIndex(({ content }) => content === 'yes');
    expect(deltas.slice(1, firstContent).map((delta) => Object.keys(delta))).toEqual(
      Array.from({ length: 9 }, () => ['reasoning_content', 'reasoning_details']),
    );
  });

  test('each switch turns reasoning off', async () => {
    const off: [string, object][] = [
      ['Reply exactly: yes /no_think', {}],
      ['Reply exactly: yes', { reasoning_effort: 'none' }],
      ['Reply exactly: yes', { chat_template_kwargs: { enable_thinking: false } }],
    ];
    for (const [content, params] of off) {
      expect((await ask(content, params, 'sim-think')).choices[0]?.message.content).toBe('yes');
    }
  });
});

describe('invalid requests', () => {
  test.each([
    ['a body that is not JSON', '{bad', null],
    ['no messages', '{"model":"m"}', 'messages'],
    ['no model', '{"messages":[]}', 'model'],
    ['a wrong type', '{"model":"m","messages":[{"role":"user","content":"x"}],"stream":"yes"}', 'stream'],
    [
      'tools chosen that are not there',
      '{"model":"m","messages":[{"role":"user"}],"tool_choice":"required"}',
      'tool_choice',
    ],
  ])('%s is rejected with 400 and the field', async (_, body, param) => {
    const response = await fetch(`${simulator.url}/v1/chat/completions`, { method: 'POST', body });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error', param } });
  });

  test('with a list of models only those exist', async () => {
    const strict = await startSimulator({ models: ['a', 'b'] });
    const there = new OpenAI({ baseURL: `${strict.url}/v1`, apiKey: 'x', maxRetries: 0 });
    const listed = await there.models.list();
    expect(listed.data.map(({ id }) => id)).toEqual(['a', 'b']);
    const unknown = there.chat.completions.create({ model: 'c', messages: [{ role: 'user', content: 'x' }] });
    await expect(unknown).rejects.toMatchObject({ status: 404, code: 'model_not_found' });
    await strict.close();
  });

  test('a prompt above the context is rejected', async () => {
    const small = await startSimulator({ contextTokens: 10 });
    const there = new OpenAI({ baseURL: `${small.url}/v1`, apiKey: 'x', maxRetries: 0 });
    const long = there.chat.completions.create({
      model: 'm',
      messages: [{ role: 'user', content: '.'.repeat(20) }],
    });
    await expect(long).rejects.toMatchObject({ status: 400, code: 'context_length_exceeded' });
    await small.close();
  });
});

describe('the search simulator', () => {
  test("uses SearXNG's JSON, and marks every result as simulated", async () => {
    const found = await fetch(`${simulator.url}/search?q=wallet+payments+in+USDC&format=json`);
    const { query, results } = (await found.json()) as {
      query: string;
      results: { url: string; title: string; content: string }[];
    };
    expect(query).toBe('wallet payments in USDC');
    expect(results[0]?.title).toMatch(/Wallet payments/);
    expect(results.every(({ content }) => content.startsWith('[Simulated search result] '))).toBe(true);
    const page = await (await fetch(results[0]?.url ?? '')).text();
    expect(page).toContain('[Simulated search result]');
    expect((await fetch(`${simulator.url}/search?q=x`)).status).toBe(403);
  });
});
