import { type Simulator, startSimulator } from '@svc/simulator';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Cost, eventually } from '../response-bodies.js';
import { Platform } from '../platform.js';

const TEXT = 'héllo <b> wörld 🙂';
const USER = { role: 'user', content: `Reply exactly: ${TEXT}` } as const;
const OFF_MEMBERS = { off: { members: { chat_template_kwargs: { enable_thinking: false } } } };

interface Message {
  content: string | null;
  reasoning_content?: string | null;
  reasoning_details?: unknown[];
}

interface Reply {
  message: Message;
  finishReason: string | null;
  usage: { completion_tokens: number; completion_tokens_details: { reasoning_tokens: number } };
  cost: Cost;
}

interface Chunk {
  choices: { index: number; delta: Partial<Message>; finish_reason: string | null }[];
}

let backend: Simulator;
let platform: Platform;
let apiKey: string;
let accountId: string;

beforeAll(async () => {
  backend = await startSimulator({ port: 0 });
  const on = (model: string) => ({ backends: [{ url: `${backend.url}/v1`, model }] });
  platform = await Platform.start({
    models: [
      { id: 'tags', ...on('sim-think'), reasoning: OFF_MEMBERS },
      { id: 'tags-word', ...on('sim-think'), reasoning: { off: { suffix: '/no_think' } } },
      { id: 'tags-always', ...on('sim-think') },
      { id: 'reasoner', ...on('sim-reason'), reasoning: { off: { members: { reasoning_effort: 'none' } } } },
      { id: 'effort-object', ...on('sim-reason'), reasoning: { effort: 'reasoning' } },
      { id: 'effort-template', ...on('sim-reason'), reasoning: { effort: 'chat_template_kwargs' } },
    ],
    env: { GATEWAY_KEEP_ALIVE_MS: '20' },
  });
  ({ apiKey, id: accountId } = await platform.account('100.00'));
});

afterAll(async () => {
  await platform.stop();
  await backend.close();
});

/** The last request that the backend received. */
function lastSent(): Record<string, unknown> {
  return JSON.parse(backend.requests().at(-1)?.body ?? '{}') as Record<string, unknown>;
}

async function events(response: Response): Promise<Chunk[]> {
  const lines = (await response.text()).split('\n\n').filter((event) => event.startsWith('data: {'));
  return lines.map((line) => JSON.parse(line.slice('data: '.length)) as Chunk);
}

/** A chat completion, assembled if it was streamed. */
async function ask(body: object, stream: boolean): Promise<Reply> {
  const response = await platform.chat(apiKey, { messages: [USER], ...body, stream });
  expect(response.status).toBe(200);
  if (!stream) {
    const { choices, ...rest } = (await response.json()) as Reply & {
      choices: { message: Message; finish_reason: string }[];
    };
    const [choice] = choices;
    return {
      ...rest,
      message: choice?.message ?? { content: null },
      finishReason: choice?.finish_reason ?? '',
    };
  }
  const chunks = await events(response);
  const message = { content: '', reasoning_content: '', reasoning_details: [] as unknown[] };
  let finishReason: string | null = null;
  for (const { delta, finish_reason: reason } of chunks.flatMap(({ choices }) => choices)) {
    message.content += delta.content ?? '';
    message.reasoning_content += delta.reasoning_content ?? '';
    message.reasoning_details.push(...(delta.reasoning_details ?? []));
    finishReason ??= reason;
  }
  return { ...(chunks.at(-1) as unknown as Reply), message, finishReason };
}

describe.each([true, false])('200 (stream: %s)', (stream) => {
  it('keeps think blocks unchanged', async () => {
    const { message } = await ask({ model: 'tags' }, stream);
    expect(message.content).toMatch(/^<think>\n.+\n<\/think>\n\n/s);
    expect(message.content?.endsWith(TEXT)).toBe(true);
  });

  it.each([
    ['by a parameter', { model: 'tags', svc_parameters: { strip_thinking_response: true } }],
    ['by the suffix of a model', { model: 'tags:strip_thinking_response=true' }],
    [
      'when writes split characters and tags',
      { model: 'tags', svc_parameters: { strip_thinking_response: true }, sim: { faults: ['split-utf8'] } },
    ],
    [
      'when thinking cannot be disabled',
      { model: 'tags-always', svc_parameters: { disable_thinking: true } },
    ],
  ])('strips think blocks %s, and bills them', async (_, body) => {
    const kept = await ask({ model: 'tags' }, stream);
    const stripped = await ask(body, stream);
    expect(stripped.message.content).toBe(TEXT);
    expect(stripped.finishReason).toBe('stop');
    expect(stripped.usage.completion_tokens).toBe(kept.usage.completion_tokens);
    expect(stripped.cost).toEqual(kept.cost);
  });

  it.each(['tags', 'tags-word', 'reasoner'])('disables the reasoning of %s at the backend', async (model) => {
    const thinking = await ask({ model }, stream);
    const { message, usage } = await ask({ model, svc_parameters: { disable_thinking: true } }, stream);
    expect(message.content).toBe(TEXT);
    expect(message.reasoning_content ?? '').toBe('');
    expect(usage.completion_tokens).toBeLessThan(thinking.usage.completion_tokens);
  });

  it('sends reasoning_content before the content', async () => {
    const { message, usage } = await ask({ model: 'reasoner' }, stream);
    expect(message.content).toBe(TEXT);
    expect(message.reasoning_content).toMatch(/\w/);
    expect(usage.completion_tokens_details.reasoning_tokens).toBeGreaterThan(0);
    if (!stream) return;
    const response = await platform.chat(apiKey, { model: 'reasoner', messages: [USER], stream });
    const kinds = (await events(response))
      .flatMap(({ choices }) => choices)
      .map(({ delta }) => (delta.reasoning_content ? 'thought' : delta.content ? 'text' : ''));
    expect(kinds.lastIndexOf('thought')).toBeLessThan(kinds.indexOf('text'));
  });

  it('strips reasoning_content, and bills it', async () => {
    const kept = await ask({ model: 'reasoner' }, stream);
    const body = { model: 'reasoner', svc_parameters: { strip_thinking_response: true } };
    const { message, usage, cost } = await ask(body, stream);
    expect(message.content).toBe(TEXT);
    expect(message.reasoning_content ?? '').toBe('');
    expect({ usage, cost }).toEqual({ usage: kept.usage, cost: kept.cost });
  });

  it('bills a completion that was cut during its reasoning, though none of it is delivered', async () => {
    const body = { model: 'tags', max_tokens: 5, svc_parameters: { strip_thinking_response: true } };
    const { message, finishReason, usage, cost } = await ask(body, stream);
    expect(message.content).toBe('');
    expect(finishReason).toBe('length');
    expect(usage.completion_tokens).toBe(5);
    expect(cost.usd).toBeGreaterThan(0);
  });

  it('passes reasoning_details through unchanged', async () => {
    const { message } = await ask({ model: 'reasoner', sim: { reasoningDetails: true } }, stream);
    const detail = { type: 'reasoning.text', text: expect.any(String), format: 'sim-v1', index: 0 };
    expect(message.reasoning_details).toContainEqual(detail);
  });

  it('strips think blocks from every choice', async () => {
    const body = {
      model: 'tags',
      messages: [USER],
      n: 2,
      stream,
      svc_parameters: { strip_thinking_response: true },
    };
    const response = await platform.chat(apiKey, body);
    const texts = ['', ''];
    if (stream) {
      for (const { index, delta } of (await events(response)).flatMap(({ choices }) => choices))
        texts[index] += delta.content ?? '';
    } else {
      const { choices } = (await response.json()) as { choices: { index: number; message: Message }[] };
      for (const { index, message } of choices) texts[index] += message.content ?? '';
    }
    expect(texts).toEqual([TEXT, TEXT]);
  });

  it.each([
    ['tags', { reasoning_effort: 'high', reasoning: { effort: 'low' } }, { reasoning_effort: 'high' }],
    ['tags', { reasoning: { effort: 'low', summary: 'auto' } }, { reasoning_effort: 'low' }],
    ['tags', { reasoning_effort: 'none' }, { chat_template_kwargs: { enable_thinking: false } }],
    ['effort-object', { reasoning_effort: 'high' }, { reasoning: { effort: 'high' } }],
    ['effort-template', { reasoning_effort: 'high' }, { chat_template_kwargs: { reasoning_effort: 'high' } }],
  ])('sends the backend of %s the effort in %j as %j', async (model, fields, expected) => {
    await ask({ model, ...fields }, stream);
    const { reasoning, reasoning_effort, chat_template_kwargs } = lastSent();
    expect(JSON.parse(JSON.stringify({ reasoning, reasoning_effort, chat_template_kwargs }))).toEqual(
      expected,
    );
  });

  it('sends details and signatures of earlier completions to the backend byte for byte', async () => {
    const earlier =
      '{"role":"assistant","content":"a","reasoning_content":"hm","thought_signature":"c2ln\\u003d",' +
      '"reasoning_details":[{"type":"reasoning.encrypted","data":"x/+=", "index":0,"more":1.50}]}';
    const body = `{"model":"reasoner","stream":${stream},"messages":[${earlier},${JSON.stringify(USER)}]}`;
    expect((await platform.chat(apiKey, body)).status).toBe(200);
    expect(backend.requests().at(-1)?.body).toContain(earlier);
  });
});

describe('200, while reasoning is stripped from a stream', () => {
  const body = {
    model: 'tags',
    stream: true,
    svc_parameters: { strip_thinking_response: true },
  };

  it('sends keep-alives, though there is no visible output', async () => {
    const messages = [{ role: 'user', content: 'Reply exactly: hi [[sim think=40 itl-ms=10]]' }];
    const response = await platform.chat(apiKey, { ...body, messages });
    const text = await response.text();
    const [beforeText = ''] = text.split('"content":"hi"');
    expect(beforeText).toContain('"role":"assistant"');
    expect(beforeText).toContain(': keep-alive\n\n');
    expect(beforeText).not.toContain('think');
  });

  it('charges the generated tokens to a client that disconnects', async () => {
    backend.clearLog();
    const before = await platform.balances(accountId);
    const abort = new AbortController();
    const messages = [{ role: 'user', content: '[[sim think=5000 itl-ms=5]]' }];
    const response = await platform.chat(apiKey, { ...body, messages }, { signal: abort.signal });
    const reader = response.body?.getReader();
    for (let reads = 0; reads < 4; reads += 1) await reader?.read();
    abort.abort();
    await eventually('the backend is cancelled', () => backend.cancellations().length === 1);
    await eventually('it is charged', async () => (await platform.balances(accountId)).usd !== before.usd);
    expect(backend.cancellations()).toMatchObject([{ stream: true, phase: 'decode' }]);
  });
});
