import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { AccountKeys } from '../account-keys.js';
import { FallbackBackend } from '../fallback-backend.js';
import { Platform, type TestAccount } from '../platform.js';
import { errorOf } from '../response-bodies.js';

let platform: Platform;
let backend: FallbackBackend;
let account: TestAccount;

/** 10 tokens of input and 4 of output at the prices of `second`. */
const SECOND_USD = (10 * 2 + 4 * 40) / 1_000_000;

beforeAll(async () => {
  backend = await FallbackBackend.start();
  const model = (id: string, more: object = {}) => ({
    id,
    pricing: { input: 1, output: 20 },
    backends: [{ url: backend.url, model: id }],
    ...more,
  });
  platform = await Platform.start({
    models: [
      model('first', { contextTokens: 100_000 }),
      model('second', { pricing: { input: 2, output: 40 }, aliases: ['gpt-second'], traits: ['backup'] }),
      model('third'),
      model('gone', { backends: [{ url: 'http://127.0.0.1:9/v1', model: 'gone' }] }),
      model('off', { offline: true }),
      model('tiny', { contextTokens: 20, maxCompletionTokens: 10 }),
      model('blind', { capabilities: {} }),
      model('rare', { tier: 'S' }),
      model('paid', { paidOnly: true }),
      model('retired', { deprecation: { date: '2020-01-01', removesAt: '2020-01-01' } }),
    ],
  });
  account = await platform.account('100.00');
});
afterAll(async () => {
  await platform.stop();
  await backend.close();
});
afterEach(() => {
  for (const model of ['first', 'second', 'third']) backend.replies(model, 'completion');
  backend.received.length = 0;
});

/** Each endpoint: its path and what it needs in addition to the model. */
const ENDPOINTS = {
  '/chat/completions': { messages: [{ role: 'user', content: 'hi' }], max_tokens: 8 },
  '/completions': { prompt: 'hi', max_tokens: 8 },
  '/responses': { input: 'hi', max_output_tokens: 16 },
  '/messages': { messages: [{ role: 'user', content: 'hi' }], max_tokens: 8 },
} as const;
type Endpoint = keyof typeof ENDPOINTS;

interface NamedOutput {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The models that its documents and events name, each once. */
  readonly models: readonly string[];
}

async function ask(path: Endpoint, body: object, apiKey = account.apiKey): Promise<NamedOutput> {
  const response = await fetch(platform.apiUrl + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...ENDPOINTS[path], ...body }),
  });
  const text = await response.text();
  const models = [...text.matchAll(/"model":"([^"]*)"/g)].map(([, model]) => String(model));
  return { status: response.status, headers: response.headers, text, models: [...new Set(models)] };
}

const CHAT = '/chat/completions';
const OVERFLOW = { error: { message: 'too long', code: 'context_length_exceeded', type: 'invalid' } };
const FILTERED = { error: { message: 'filtered', code: 'content_filter', type: 'invalid' } };

/** Why the first model does not respond, and what of a request makes that a reason to go on. */
const CAUSES: readonly (readonly [string, () => string, object])[] = [
  ['no server', () => 'gone', {}],
  ['offline', () => 'off', {}],
  ...[429, 500, 502, 503, 504].map(
    (status) => [String(status), () => failing({ status, body: {} }), {}] as const,
  ),
  ['filter before any output', () => failing('filtered'), { fallback_on: ['content_filter'] }],
  [
    'context overflow',
    () => failing({ status: 400, body: OVERFLOW }),
    { fallback_on: ['context_length_exceeded'] },
  ],
  ['content filter', () => failing({ status: 400, body: FILTERED }), { fallback_on: ['content_filter'] }],
];

function failing(reply: Parameters<FallbackBackend['replies']>[1]): string {
  backend.replies('first', reply);
  return 'first';
}

const table = (Object.keys(ENDPOINTS) as Endpoint[]).flatMap((path) =>
  [false, true].flatMap((stream) =>
    CAUSES.map(([cause, model, more]) => ({ path, stream, cause, model, more })),
  ),
);

describe('a request with a model to fall back to', () => {
  it.each(table)(
    'is answered by it at its price: $path, stream $stream, $cause',
    async ({ path, stream, model, more }) => {
      const { id, apiKey } = await platform.account('1.00');
      const answer = await ask(
        path,
        { model: model(), stream, fallbacks: [{ model: 'second' }], ...more },
        apiKey,
      );
      expect([answer.status, answer.models, answer.headers.get('x-svc-model-id')]).toEqual([
        200,
        ['second'],
        'second',
      ]);
      expect(answer.text).toContain('one two three four');
      const { usd } = await platform.balances(id);
      expect(Number(usd)).toBeCloseTo(1 - SECOND_USD, 9);
    },
  );
});

const CAPACITY = { status: 503, body: {} };

describe('the models to fall back to', () => {
  it('are tried in order, each once, under any of their names, and `models` names them too', async () => {
    backend.replies('first', CAPACITY);
    backend.replies('third', CAPACITY);
    const models = ['first', 'third', 'THIRD', 'gone', 'gpt-second:strip_thinking_response=true'];
    const { models: named, headers } = await ask(CHAT, { model: 'first', models });
    expect(named).toEqual(['second']);
    expect(headers.get('x-retry-count')).toBe('3');
    expect(backend.received.map(({ model }) => model)).toEqual(['first', 'third', 'second']);
  });

  it('are left out if they cannot serve the request, and their limits apply to their part', async () => {
    backend.replies('first', CAPACITY);
    const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }];
    const models = ['tiny', 'retired', 'off', 'blind', 'second'];
    const { text } = await ask(CHAT, { model: 'first', tools, models, max_tokens: 100_000 });
    expect(JSON.parse(text)).toMatchObject({ model: 'second' });
    expect(backend.received.map(({ model, max_tokens: limit }) => [model, limit])).toEqual([
      ['first', 8_192],
      ['second', 8_192],
    ]);
  });

  it('have limits of their own, which their requests take part of', async () => {
    const { apiKey } = await platform.account('10.00');
    backend.replies('first', CAPACITY);
    const named: unknown[] = [];
    for (let round = 0; round < 4; round += 1)
      named.push((await ask(CHAT, { model: 'first', models: ['rare', 'third'] }, apiKey)).models);
    expect(named).toEqual([['rare'], ['rare'], ['rare'], ['third']]);
    const direct = await ask(CHAT, { model: 'rare' }, apiKey);
    expect(direct.status).toBe(429);
  });

  it('are not tried for a refusal of the request, unless it asks for that', async () => {
    for (const reply of [
      { status: 400, body: OVERFLOW },
      { status: 400, body: FILTERED },
      { status: 422, body: {} },
    ]) {
      backend.replies('first', reply);
      expect((await ask(CHAT, { model: 'first', models: ['second'] })).status).toBe(400);
    }
    backend.replies('first', { status: 400, body: OVERFLOW });
    const narrow = { model: 'first', models: ['third'], fallback_on: ['content_filter'] };
    expect((await ask(CHAT, narrow)).status).toBe(400);
    backend.replies('first', 'filtered');
    const { models, text } = await ask(CHAT, { model: 'first', models: ['second'] });
    expect([models, text.includes('content_filter')]).toEqual([['first'], true]);
    expect(new Set(backend.received.map(({ model }) => model))).toEqual(new Set(['first']));
  });

  it('leave the error of the first model if all fail, and nothing charged or held', async () => {
    const { id, apiKey } = await platform.account('5.00');
    backend.replies('first', { status: 500, body: {} });
    backend.replies('second', CAPACITY);
    backend.replies('third', { status: 400, body: OVERFLOW });
    const body = { model: 'first', fallbacks: [{ model: 'second' }, { model: 'third' }] };
    const answer = await ask(CHAT, body, apiKey);
    expect([answer.status, answer.headers.get('x-svc-model-id')]).toEqual([500, 'first']);
    const streamed = await ask(CHAT, { ...body, stream: true }, apiKey);
    expect([streamed.status, streamed.headers.get('x-svc-model-id')]).toEqual([500, 'first']);
    expect(backend.received.map(({ model }) => model)).toEqual([
      'first',
      'second',
      'third',
      'first',
      'second',
      'third',
    ]);
    expect((await platform.balances(id)).usd).toBe('5.00');
    const next = await ask(CHAT, { model: 'first' }, apiKey);
    expect(next.headers.get('x-svc-balance-usd')).toBe('5.00');
  });
});

describe('a request that names a model to fall back to which it may not use', () => {
  it.each([
    [{ models: ['third', 'unheard-of'] }, 400, 'models.1'],
    [{ fallbacks: [{ model: 'unheard-of' }] }, 400, 'fallbacks.0.model'],
    [{ fallbacks: [{ model: 'third:enable_web_search=maybe' }] }, 400, 'fallbacks.0.model'],
    [{ fallbacks: [{ model: 'paid' }] }, 401, 'fallbacks.0.model'],
    [{ models: ['third'], fallbacks: [] }, 400, 'fallbacks'],
    [{ models: Array.from({ length: 11 }, () => 'third') }, 400, 'models'],
    [{ models: 'third' }, 400, 'models'],
    [{ fallback_on: ['weather'] }, 400, 'fallback_on.0'],
  ])('is refused, naming the field: %j', async (body, status, param) => {
    const response = await platform.chat(account.apiKey, { model: 'first', ...ENDPOINTS[CHAT], ...body });
    const { error } = await errorOf(response);
    expect([response.status, error.param]).toEqual([status, param]);
    expect(backend.received).toEqual([]);
  });

  it('is refused if its key may not use it, but a default is left out', async () => {
    const keys = await AccountKeys.of(platform);
    const { apiKey } = await keys.create({ allowedModels: ['first'], fallbackModels: ['second'] });
    const response = await platform.chat(apiKey, { model: 'first', ...ENDPOINTS[CHAT], models: ['second'] });
    const { error, code } = await errorOf(response);
    expect([response.status, code, error.param]).toEqual([403, 'MODEL_NOT_ALLOWED', 'models.0']);
    backend.replies('first', CAPACITY);
    expect((await ask(CHAT, { model: 'first' }, apiKey)).status).toBe(503);
    expect(backend.received.map(({ model }) => model)).toEqual(['first']);
  });
});

describe('the default models to fall back to', () => {
  it('are those of the key, else of the account, unless the request names its own or none', async () => {
    const keys = await AccountKeys.of(platform);
    const plain = await keys.create();
    const own = await keys.create({ fallbackModels: ['third'], fallbackOn: ['content_filter'] });
    expect(own).toMatchObject({ fallbackModels: ['third'], fallbackOn: ['content_filter'] });
    const change = { fallbackModels: ['unheard-of', 'second'] };
    const changed = await platform.operator('PATCH', `/accounts/${keys.account.id}`, change);
    expect(changed.body).toMatchObject({ ...change, fallbackOn: [] });
    await keys.ask('PATCH', { body: { id: plain.id, description: 'so that every process knows' } });
    backend.replies('first', CAPACITY);
    const answered = async (key: { apiKey: string }, more: object = {}) => {
      const { status, models } = await ask(CHAT, { model: 'first', ...more }, key.apiKey);
      return status === 200 ? models : status;
    };
    expect(await answered(plain)).toEqual(['second']);
    expect(await answered(own)).toEqual(['third']);
    expect(await answered(own, { models: ['second'] })).toEqual(['second']);
    expect(await answered(own, { fallbacks: [] })).toBe(503);
    backend.replies('first', { status: 400, body: FILTERED });
    expect(await answered(plain)).toBe(400);
    expect(await answered(own)).toEqual(['third']);
    await keys.ask('PATCH', { body: { id: own.id, fallbackModels: [], fallbackOn: [] } });
    backend.replies('first', CAPACITY);
    expect(await answered(own)).toEqual(['second']);
  });
});
