import { gunzipSync } from 'node:zlib';
import { ChatCompletion } from '@svc/api/chat';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Cost, errorOf, eventually } from '../response-bodies.js';
import { Platform, type TestAccount } from '../platform.js';
import { ScriptedBackend, scriptMessage } from '../scripted-backend.js';
import { TIME, WEATHER } from '../tools.js';

/** A completion in one piece may cost 0.16 USD: a small part of 100 USD, and a large part of 1 USD. */
const model = 'dear';
const PRICING = { input: 1, output: 20 };
const OUTPUT_NANO = 20_000;

let platform: Platform;
let scripted: ScriptedBackend;
let rich: TestAccount;

beforeAll(async () => {
  scripted = await ScriptedBackend.start();
  platform = await Platform.start({
    models: [
      { id: model, pricing: PRICING },
      { id: 'scripted', pricing: PRICING, backends: [{ url: scripted.url, model: 'scripted' }] },
      { id: 'nobody-there', pricing: PRICING, backends: [{ url: 'http://127.0.0.1:9/v1', model: 'x' }] },
    ],
  });
  rich = await platform.account('100.00');
});

afterAll(async () => {
  await platform.stop();
  await scripted.close();
});

const ask = (content: string, rest: object = {}) => ({
  model,
  messages: [{ role: 'user', content }],
  ...rest,
});
const nano = (usd: number | string): number => Math.round(Number(usd) * 1e9);
/** Whether each request to the backend was for a stream. */
const wereStreamed = (): boolean[] =>
  platform.simulator.requests().map(({ body }) => (JSON.parse(body) as { stream: boolean }).stream);

/** A completion without the members that differ each time. */
async function answered(apiKey: string, body: object): Promise<unknown> {
  const response = await platform.chat(apiKey, body);
  expect(response.status).toBe(200);
  const { id, created, ...rest } = ChatCompletion.parse(await response.json());
  expect([id, created]).toEqual([response.headers.get('x-request-id'), expect.any(Number)]);
  return rest;
}

/** Asserts that nothing was charged and nothing is held. */
async function expectUntouched(account: TestAccount, usd: string): Promise<void> {
  expect(await platform.balances(account.id)).toMatchObject({ usd });
  const next = await platform.chat(account.apiKey, ask('hi', { max_tokens: 1 }));
  expect(next.headers.get('x-svc-balance-usd')).toBe(usd);
}

describe('200, from a buffered stream', () => {
  it.each<[string, string, object]>([
    ['text', 'Reply exactly: héllo wörld 🙂 by the lake', {}],
    ['a long text', 'go [[sim tokens=700]]', {}],
    ['several choices', 'go', { n: 3 }],
    ['logprobs', 'go', { logprobs: true, top_logprobs: 2 }],
    ['a forced tool call', 'weather in Oslo', { tools: [WEATHER, TIME], tool_choice: 'required' }],
    ['two tool calls', 'weather and time please [[sim parallel=true]]', { tools: [WEATHER, TIME] }],
    ['thoughts', 'go [[sim think=9]]', {}],
    ['thoughts, stripped', 'go [[sim think=9]]', { svc_parameters: { strip_thinking_response: true } }],
    ['a filtered answer', 'go [[sim fault=content-filter after=3]]', {}],
    ['an answer without a finish', 'go [[sim fault=missing-finish]]', {}],
    ['an answer with odd events', 'go [[sim fault=split-utf8,comments,multi-line,duplicate-usage]]', {}],
  ])('is the same as an unbuffered completion: %s', async (_, content, rest) => {
    const poor = await platform.account('1.00');
    // The first request fills the backend's cache.
    await answered(rich.apiKey, ask(content, rest));
    platform.simulator.clearLog();
    const plain = await answered(rich.apiKey, ask(content, rest));
    const gathered = await answered(poor.apiKey, ask(content, rest));
    expect(wereStreamed()).toEqual([false, true]);
    expect(gathered).toEqual(plain);
    const { cost } = gathered as { cost: Cost };
    expect(cost.usd).toBeGreaterThan(0);
    expect(nano((await platform.balances(poor.id)).usd)).toBe(nano(1) - nano(cost.usd));
  });

  it("keeps the other members of a backend's message", async () => {
    const poor = await platform.account('1.00');
    const delta = (given: object, rest: object = {}) => ({
      created: 1_700_000_000,
      choices: [{ index: 0, delta: given, ...rest }],
    });
    const chunks = [
      delta({ role: 'assistant', content: null }),
      delta({ reasoning: 'Hm', reasoning_details: [{ type: 'reasoning.text', index: 0, text: 'Hm' }] }),
      delta({ reasoning: ', so', reasoning_details: [{ type: 'reasoning.text', index: 0, text: ', so' }] }),
      delta({ reasoning_details: [{ type: 'reasoning.encrypted', index: 1, data: 'x' }] }),
      delta({ content: [{ type: 'text', text: 'Hel' }] }),
      delta({ content: 'lo', annotations: [{ n: 1 }] }),
      delta({ annotations: [{ n: 2 }], thought_signature: 'sig' }),
      delta({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '{"a"' } }] }),
      delta({ tool_calls: [{ index: 0, function: { arguments: ':1}' } }] }),
      delta({ tool_calls: [{ index: 0, id: 'b', function: { name: 'g' } }] }),
      delta({}, { finish_reason: 'tool_calls', stop_reason: 'stop' }),
      delta({ content: 'never' }),
      { choices: [], usage: { prompt_tokens: 5, completion_tokens: 7, prompt_tokens_details: null } },
    ];
    const body = { model: 'scripted', messages: [scriptMessage({ chunks })] };
    const answer = (await (await platform.chat(poor.apiKey, body)).json()) as ChatCompletion;
    // The time is set by the gateway, as in a stream.
    expect(Math.abs(answer.created - Date.now() / 1_000)).toBeLessThan(60);
    expect(answer).toMatchObject({
      usage: { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 },
      prompt_logprobs: null,
    });
    expect(answer.choices).toEqual([
      {
        index: 0,
        finish_reason: 'tool_calls',
        stop_reason: 'stop',
        logprobs: null,
        message: {
          role: 'assistant',
          content: 'Hello',
          reasoning_content: 'Hm, so',
          refusal: null,
          reasoning_details: [
            { type: 'reasoning.text', index: 0, text: 'Hm, so' },
            { type: 'reasoning.encrypted', index: 1, data: 'x' },
          ],
          annotations: [{ n: 1 }, { n: 2 }],
          thought_signature: 'sig',
          tool_calls: [
            { id: 'a', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
            { id: 'b', type: 'function', function: { name: 'g', arguments: '{}' } },
          ],
        },
      },
    ]);
  });

  it('works with the openai client, with the headers of an unbuffered completion', async () => {
    const { openai } = await platform.account('1.00');
    const { data, response } = await openai.chat.completions
      .create({ model, messages: [{ role: 'user', content: 'Reply exactly: yes' }] })
      .withResponse();
    expect(data.choices[0]?.message.content).toBe('yes');
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'x-svc-balance-usd': '1.00',
      'x-svc-model-id': model,
      'x-svc-model-router': 'backend-1',
      'x-ratelimit-type': 'user',
    });
  });

  it('is compressed if requested', async () => {
    const { apiKey } = await platform.account('1.00');
    const headers = { 'accept-encoding': 'gzip' };
    const url = `${platform.apiUrl}/chat/completions`;
    const body = JSON.stringify(ask('Reply exactly: yes'));
    // `fetch` would decode the body transparently.
    const { request } = await import('undici');
    const auth = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
    const response = await request(url, { method: 'POST', headers: { ...auth, ...headers }, body });
    expect(response.headers['content-encoding']).toBe('gzip');
    const text = gunzipSync(Buffer.from(await response.body.arrayBuffer())).toString();
    expect(JSON.parse(text)).toMatchObject({ choices: [{ message: { content: 'yes' } }] });
  });

  it('ends with length when the money runs out, and charges exactly what was delivered', async () => {
    const poor = await platform.account('0.01');
    platform.simulator.clearLog();
    const long = ask('go [[sim tokens=5000]]');
    const response = await platform.chat(poor.apiKey, { ...long, sim: { itlMs: 1 } });
    expect(response.status).toBe(200);
    const { choices, usage, cost } = (await response.json()) as ChatCompletion;
    expect(choices).toMatchObject([{ index: 0, finish_reason: 'length', message: { role: 'assistant' } }]);
    // The whole balance, except for less than a token.
    expect(nano(cost.usd)).toBeGreaterThan(nano(0.01) - OUTPUT_NANO);
    expect(nano(cost.usd)).toBeLessThanOrEqual(nano(0.01));
    expect(nano(cost.usd)).toBe(usage.prompt_tokens * 1_000 + usage.completion_tokens * OUTPUT_NANO);
    expect(nano((await platform.balances(poor.id)).usd)).toBe(nano(0.01) - nano(cost.usd));
    await eventually('the backend is let go', () => platform.simulator.cancellations().length === 1);
    const whole = await platform.chat(rich.apiKey, long);
    const { choices: full } = (await whole.json()) as ChatCompletion;
    const texts = [...choices, ...full].map(({ message }) => JSON.stringify(message.content));
    const [text = '', fullText = ''] = texts.map((json) => json.slice(0, -1));
    expect(text.length).toBeGreaterThan(10);
    expect(fullText.startsWith(text)).toBe(true);
  });

  it('ends every unfinished choice with length', async () => {
    const poor = await platform.account('0.01');
    const response = await platform.chat(poor.apiKey, ask('go [[sim tokens=1000]]', { n: 4 }));
    const { choices } = (await response.json()) as ChatCompletion;
    expect(choices.map(({ index, finish_reason }) => [index, finish_reason])).toEqual(
      [0, 1, 2, 3].map((index) => [index, 'length']),
    );
  });

  it.each([
    ['streamed', 1, true],
    ['gathered', 70, false],
  ])('is not cut short by unusually long tokens (%s)', async (_, tokens, stream) => {
    const { apiKey } = await platform.account('0.01');
    const content = ' internationalization'.repeat(tokens);
    const chunks = [{ choices: [{ index: 0, delta: { content }, finish_reason: 'stop' }] }];
    const body = { model: 'scripted', messages: [scriptMessage({ chunks })], max_tokens: tokens, stream };
    const text = await (await platform.chat(apiKey, body)).text();
    expect(text).toContain(content);
    expect(text).toContain('"finish_reason":"stop"');
  });

  it.each(['1.00', '100.00'])('charges nothing for no output (with %s USD)', async (usd) => {
    const account = await platform.account(usd);
    const response = await platform.chat(account.apiKey, ask('go [[sim fault=empty]]'));
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      choices: [{ message: { content: expect.toSatisfy((text) => text === '' || text === null) } }],
      usage: { completion_tokens: 0 },
      cost: { usd: 0, diem: 0 },
    });
    await expectUntouched(account, usd);
  });
});

describe('402', () => {
  it('is returned without money for one token, and the backend is not called', async () => {
    const poor = await platform.account('0.00002');
    platform.simulator.clearLog();
    const response = await platform.chat(poor.apiKey, ask('go'));
    expect(response.status).toBe(402);
    expect((await errorOf(response)).code).toBe('INSUFFICIENT_BALANCE');
    expect(response.headers.get('x-svc-balance-usd')).toBe('0.00002');
    expect(platform.simulator.requests()).toEqual([]);
    expect(await platform.balances(poor.id)).toMatchObject({ usd: '0.00002' });
  });

  it('is returned if the first chunk costs more than the balance', async () => {
    const poor = await platform.account('0.001');
    const chunks = [{ choices: [{ index: 0, delta: { content: 'word '.repeat(1_000) } }] }];
    const body = { model: 'scripted', messages: [scriptMessage({ chunks })] };
    const tokens = Math.ceil(JSON.stringify({ chunks }).length / 3.2);
    const account = await platform.account(((tokens * 1_000 + 10 * OUTPUT_NANO) / 1e9).toFixed(9));
    for (const { id, apiKey } of [poor, account]) {
      const before = await platform.balances(id);
      const response = await platform.chat(apiKey, body);
      expect([response.status, (await errorOf(response)).code]).toEqual([402, 'INSUFFICIENT_BALANCE']);
      expect(await platform.balances(id)).toEqual(before);
    }
  });
});

describe('errors', () => {
  it.each([
    '400',
    '429',
    '500',
    '503',
    'context_length',
    'cut',
    'cut-mid-stream',
    'reset-mid-stream',
    'error-mid-stream',
    'garbage',
  ])('are those of an unbuffered completion, and nothing is charged or held (%s)', async (fault) => {
    const poor = await platform.account('1.00');
    const body = ask(`go [[sim fault=${fault} after=20]]`);
    const plain = await platform.chat(rich.apiKey, body);
    const gathered = await platform.chat(poor.apiKey, body);
    expect(gathered.status).toBe(plain.status);
    expect(gathered.status).toBeGreaterThanOrEqual(400);
    expect(await gathered.json()).toEqual(await plain.json());
    expect(gathered.headers.get('retry-after')).toBe(plain.headers.get('retry-after'));
    expect(gathered.headers.get('x-svc-balance-usd')).toBe('1.00');
    await expectUntouched(poor, '1.00');
  });

  it('are those of an unbuffered completion if no backend is up', async () => {
    const poor = await platform.account('1.00');
    const response = await platform.chat(poor.apiKey, { ...ask('go'), model: 'nobody-there' });
    expect([response.status, (await errorOf(response)).code]).toEqual([503, 'MODEL_OFFLINE']);
    await expectUntouched(poor, '1.00');
  });
});

describe('a client that disconnects', () => {
  it('closes the call to the backend, is charged nothing and leaves no hold', async () => {
    const poor = await platform.account('1.00');
    platform.simulator.clearLog();
    const gone = new AbortController();
    const response = platform.chat(poor.apiKey, ask('go [[sim tokens=8000 itl-ms=5]]'), {
      signal: gone.signal,
    });
    await eventually(
      'the backend is asked',
      () => wereStreamed().length === 1 || platform.simulator.stats().inFlight === 1,
    );
    gone.abort();
    await expect(response).rejects.toThrow(/abort/);
    await eventually('the backend is let go', () => platform.simulator.cancellations().length === 1);
    await expectUntouched(poor, '1.00');
  });
});

describe('504', () => {
  it('is returned if the completion takes too long, and nothing is charged', async () => {
    const hasty = await Platform.start({
      models: [{ id: model, pricing: PRICING }],
      env: { GATEWAY_RESPONSE_TIMEOUT_MS: '300' },
    });
    try {
      const { id, apiKey } = await hasty.account('1.00');
      const response = await hasty.chat(apiKey, ask('go [[sim tokens=8000 itl-ms=10]]'));
      expect([response.status, (await errorOf(response)).code]).toEqual([504, 'REQUEST_TIMEOUT']);
      await eventually('the backend is let go', () => hasty.simulator.cancellations().length === 1);
      expect(await hasty.balances(id)).toMatchObject({ usd: '1.00' });
    } finally {
      await hasty.stop();
    }
  });
});
