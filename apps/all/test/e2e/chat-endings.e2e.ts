import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Chunk, chunksOf, errorOf } from '../response-bodies.js';
import { OPERATOR_TOKEN, Platform, type TestAccount } from '../platform.js';
import { type Script, ScriptedBackend, scriptMessage } from '../scripted-backend.js';
import { isClustered } from '../target.js';

const PRICING = { input: 1, output: 20 };
const USAGE = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 };

let platform: Platform;
let scripted: ScriptedBackend;
let account: TestAccount;

beforeAll(async () => {
  scripted = await ScriptedBackend.start();
  const backend = { url: scripted.url, model: 'scripted' };
  platform = await Platform.start({
    models: [{ id: 'scripted', pricing: PRICING, backends: [backend] }],
    env: { ROUTER_COOL_DOWN_MS: '1' },
  });
  account = await platform.account('100.00');
});

afterAll(async () => {
  await platform.stop();
  await scripted.close();
});

const chunk = (choice: object, more: object = {}) => ({
  choices: [{ index: 0, delta: {}, finish_reason: null, ...choice }],
  ...more,
});
const TEXT = chunk({ delta: { role: 'assistant', content: 'some text' } });
const ENDED = chunk({ finish_reason: 'stop' });
const WHOLE = {
  choices: [{ index: 0, message: { role: 'assistant', content: 'some text' }, finish_reason: 'stop' }],
  usage: USAGE,
};

const ask = (script: Script, stream: boolean, apiKey = account.apiKey): Promise<Response> =>
  platform.chat(apiKey, { model: 'scripted', messages: [scriptMessage(script)], stream, max_tokens: 20 });

/** The script of a response with this text, and this end. */
const ended = (end: object, stream: boolean): Script =>
  stream
    ? { chunks: [TEXT, chunk(end), { choices: [], usage: USAGE }] }
    : { answer: { choices: [{ ...WHOLE.choices[0], ...end }], usage: USAGE } };

interface Completion {
  choices: { message: { content: string }; finish_reason: string }[];
  usage: { completion_tokens: number };
  cost: { usd: number };
}

/** What a client sees of a response, streamed or not. */
async function seen(response: Response, stream: boolean) {
  expect(response.status).toBe(200);
  if (!stream) {
    const { choices, usage, cost } = (await response.json()) as Completion;
    const reasons = choices.map(({ finish_reason: reason }) => reason);
    return { text: choices[0]?.message.content, reasons, tokens: usage.completion_tokens, usd: cost.usd };
  }
  const { chunks, text, done } = await chunksOf(response);
  expect(done).toBe(true);
  const reasons = chunks
    .flatMap(({ choices }) => choices)
    .flatMap(({ finish_reason: reason }) => reason ?? []);
  const { usage, cost } = chunks.at(-1) ?? {};
  return { text, reasons, tokens: usage?.completion_tokens, usd: cost?.usd };
}

describe('the finish reason of a completion', () => {
  it.each([
    ['MAX_TOKENS', 'length'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['repetition', 'length'],
    ['SAFETY', 'content_filter'],
    ['refusal', 'content_filter'],
    ['guardrail_intervened', 'content_filter'],
    ['end_turn', 'stop'],
    ['eos_token', 'stop'],
    ['COMPLETE', 'stop'],
  ])("is one of OpenAI's for %s: %s", async (name, reason) => {
    for (const stream of [false, true])
      expect(await seen(await ask(ended({ finish_reason: name }, stream), stream), stream)).toMatchObject({
        text: 'some text',
        reasons: [reason],
        tokens: 2,
      });
  });

  it.skipIf(isClustered())(
    'is stop for an unknown name, which is counted by name, for a limited number of names',
    async () => {
      const names = Array.from({ length: 60 }, (_, at) => `quiescent_${at}`);
      for (const name of ['not a name: "', ...names])
        expect(await seen(await ask(ended({ finish_reason: name }, true), true), true)).toMatchObject({
          reasons: ['stop'],
        });
      const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` };
      const metrics = await fetch(new URL('/metrics', platform.operatorUrl), { headers });
      const labels = [
        ...(await metrics.text()).matchAll(
          /svc_gateway_unknown_finish_reasons_total\{.*svc_finish_reason="([^"]*)"/g,
        ),
      ];
      const counted = labels.map(([, label]) => label);
      expect(counted).toContain('quiescent_0');
      expect(counted).toContain('_OTHER');
      expect(counted.length).toBeLessThan(40);
    },
  );
});

describe('a completion that its backend could not complete', () => {
  const FAILED = [
    { finish_reason: 'abort' },
    { finish_reason: 'ERROR' },
    { finish_reason: 'insufficient_system_resource' },
    { finish_reason: 'error', error: { code: 502, message: 'upstream lost' } },
    { error: { message: 'upstream lost' } },
  ];

  it.each(FAILED)('ends with an error after its text, which is charged: %j', async (end) => {
    const { id, apiKey } = await platform.account('1.00');
    const response = await ask(ended(end, true), true, apiKey);
    const { chunks, text, done } = await chunksOf(response);
    expect({ text, done }).toEqual({ text: 'some text', done: true });
    expect(chunks.at(-1)).toMatchObject({ error: { code: 'INFERENCE_FAILED' } });
    expect(
      chunks.flatMap(({ choices }: Partial<Chunk>) => choices?.map((choice) => choice.finish_reason)),
    ).not.toContain('stop');
    expect(Number((await platform.balances(id)).usd)).toBeLessThan(1);
  });

  it.each(FAILED)('is a 500 and free if nothing was streamed: %j', async (end) => {
    const { id, apiKey } = await platform.account('1.00');
    const scripts: [Script, boolean][] = [
      [{ chunks: [chunk({ delta: { role: 'assistant' } }), chunk(end)] }, true],
      [{ chunks: [TEXT, chunk(end)] }, false],
      [ended(end, false), false],
      [ended(end, false), true],
    ];
    for (const [script, stream] of scripts) {
      const response = await ask(script, stream, apiKey);
      expect(response.status).toBe(500);
      expect((await errorOf(response)).code).toBe('INFERENCE_FAILED');
    }
    expect(Number((await platform.balances(id)).usd)).toBe(1);
  });
});

describe("the end of a backend's stream", () => {
  it.each([
    [
      'without [DONE], with usage in the last chunk',
      { chunks: [TEXT, chunk({ finish_reason: 'stop' }, { usage: USAGE })] },
    ],
    ['without [DONE], with usage apart', { chunks: [TEXT, ENDED, { choices: [], usage: USAGE }] }],
  ])('is that of a complete response %s', async (_, script) => {
    for (const stream of [true, false]) {
      const completion = await seen(await ask({ ...script, isUndone: true }, stream), stream);
      expect(completion).toMatchObject({ text: 'some text', reasons: ['stop'], tokens: 2 });
      expect(completion.usd).toBeGreaterThan(0);
    }
  });

  it.each([
    ['no choice has ended', { chunks: [TEXT] }],
    [
      'one of its choices has not ended',
      { chunks: [TEXT, chunk({ index: 1, delta: { content: 'x' } }), ENDED] },
    ],
    ['its connection broke', { chunks: [TEXT, ENDED], breaks: true }],
  ])('is an error without [DONE] if %s', async (_, script) => {
    const { chunks, text } = await chunksOf(await ask({ ...script, isUndone: true }, true));
    expect(text).toMatch(/^some text/);
    expect(chunks.at(-1)).toMatchObject({ error: { code: 'INFERENCE_FAILED' } });
    expect((await ask({ ...script, isUndone: true }, false)).status).toBe(500);
  });
});

describe('a response in another form than was asked for', () => {
  it.each(['', '\ufeff', '\n'])('is read, after %j', async (before) => {
    const scripts: Script[] = [
      { answer: WHOLE, before },
      { chunks: [TEXT, ENDED, { choices: [], usage: USAGE }], before },
    ];
    for (const script of scripts)
      for (const stream of [true, false])
        expect(await seen(await ask(script, stream), stream)).toMatchObject({
          text: 'some text',
          reasons: ['stop'],
          tokens: 2,
        });
  });

  it('has its tool calls and all its choices in a stream', async () => {
    const call = { id: 'c0', type: 'function', function: { name: 'f', arguments: '{"q":7}' } };
    const choices = [
      { message: { content: null, tool_calls: [call, { ...call, id: 'c1' }] }, finish_reason: 'tool_calls' },
      { message: { content: 'two' }, finish_reason: 'MAX_TOKENS' },
    ];
    const { chunks } = await chunksOf(await ask({ answer: { choices, usage: USAGE } }, true));
    const sent = chunks.flatMap((each) => each.choices);
    expect(sent.filter(({ index }) => index === 0)).toMatchObject([
      {
        delta: {
          tool_calls: [
            { index: 0, ...call },
            { index: 1, id: 'c1' },
          ],
        },
        finish_reason: 'tool_calls',
      },
    ]);
    expect(sent.filter(({ index }) => index === 1)).toMatchObject([
      { delta: { content: 'two' }, finish_reason: 'length' },
    ]);
  });

  it('is not sent twice if a whole message follows its own deltas', async () => {
    const [choice] = WHOLE.choices;
    const script = { chunks: [TEXT, { choices: [choice], usage: USAGE }] };
    expect(await seen(await ask(script, true), true)).toMatchObject({ text: 'some text', reasons: ['stop'] });
  });

  it.each([{}, { message: '', code: null }])('has no error if its error is empty: %j', async (error) => {
    const chunks = [{ ...TEXT, error }, ENDED, { choices: [], usage: USAGE, error }];
    expect(await seen(await ask({ chunks }, true), true)).toMatchObject({
      text: 'some text',
      reasons: ['stop'],
    });
    expect((await seen(await ask({ answer: { ...WHOLE, error } }, false), false)).text).toBe('some text');
  });
});
