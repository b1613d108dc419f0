import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { type Simulator, startSimulator } from '@svc/simulator';
import { TestServer, repeats } from '@svc/testing';
import fc from 'fast-check';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorOf, eventually } from '../response-bodies.js';
import { Platform, type TestAccount } from '../platform.js';

interface ServerCall {
  readonly path: string;
  readonly body: { readonly input?: unknown; readonly messages?: { content: unknown }[] };
}

/** What a fake server responds with, and what it was asked. */
let answer: (call: ServerCall) => unknown;
let calls: ServerCall[] = [];
let fake: TestServer;
let backend: Simulator;
let platform: Platform;
let account: TestAccount;

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  // The check of its health.
  if (request.method === 'GET') return void response.end('{}');
  const call = { path: request.url ?? '', body: JSON.parse(await text(request)) as ServerCall['body'] };
  calls.push(call);
  const body = answer(call);
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

const model = (id: string, backends: readonly object[], more: object = {}): object => ({
  id,
  name: id,
  type: 'moderation',
  tier: 'XS',
  pricing: { input: 100 },
  backends,
  ...more,
});

beforeAll(async () => {
  backend = await startSimulator({ port: 0 });
  fake = await TestServer.start((request, response) => void respond(request, response));
  const simulated = { url: `${backend.url}/v1`, model: 'moderation' };
  const faked = { url: `${fake.url}/v1`, model: 'fake' };
  platform = await Platform.start({
    models: [
      model('free', [simulated], {
        pricing: { input: 0 },
        traits: ['default'],
        aliases: ['omni-moderation-latest'],
        supportsVision: true,
      }),
      model('priced', [simulated], { maxInputTokens: 64 }),
      model('fake', [faked], { pricing: { input: 0.123 } }),
      model('guard', [faked], { guard: {}, pricing: { input: 0.123 } }),
      model('saved', [
        { ...faked, weight: 1e9 },
        { ...simulated, weight: 1e-9 },
      ]),
    ],
  });
  account = await platform.account('100.00');
});
afterAll(async () => {
  await platform.stop();
  await backend.close();
  await fake.close();
});

function post(body: object, apiKey = account.apiKey): Promise<Response> {
  return fetch(`${platform.apiUrl}/moderations`, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
  });
}

interface Reply {
  readonly results: { flagged: boolean; categories: Record<string, boolean> }[];
  readonly usage: { prompt_tokens: number };
  readonly cost: { usd: number };
}

async function moderate(body: object, apiKey?: string): Promise<Reply> {
  const response = await post(body, apiKey);
  expect(response.status).toBe(200);
  return (await response.json()) as Reply;
}

const chat = (content: string, tokens = 300): object => ({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'fake',
  choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
  usage: { prompt_tokens: tokens, completion_tokens: 3, total_tokens: tokens + 3 },
});

describe('POST /moderations', () => {
  it("serves OpenAI's client, by default with the model of the trait `default`", async () => {
    const { openai } = account;
    const {
      id,
      model: name,
      results,
    } = await openai.moderations.create({
      model: 'omni-moderation-latest',
      input: ['I love you', 'I will kill you'],
    });
    expect([id.startsWith('modr-'), name]).toEqual([true, 'free']);
    expect(results.map(({ flagged }) => flagged)).toEqual([false, true]);
    expect(results[1]).toMatchObject({
      categories: { violence: true, hate: false, 'violence/graphic': false },
      category_scores: { violence: 0.9, hate: 0 },
      category_applied_input_types: { violence: ['text'] },
    });
    expect(Object.keys(results[0]?.categories ?? {})).toHaveLength(13);
    expect((await openai.moderations.create({ input: 'kill' })).results).toMatchObject([{ flagged: true }]);
  });

  it('judges texts and images as one input, and sends checked images only', async () => {
    const png = await sharp({ create: { width: 64, height: 64, channels: 3, background: '#123' } })
      .png()
      .toBuffer();
    const url = `data:image/png;base64,${png.toString('base64')}`;
    const input = [
      { type: 'text', text: 'kill' },
      { type: 'image_url', image_url: { url } },
    ];
    const { results, cost } = await moderate({ model: 'free', input });
    expect([results.map(({ flagged }) => flagged), cost.usd]).toEqual([[true], 0]);
    expect(results[0]).toMatchObject({ category_applied_input_types: { violence: ['text', 'image'] } });
    const broken = [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }];
    const refused = await errorOf(await post({ model: 'free', input: broken }));
    expect(refused.error.param).toBe('input.0.image_url.url');
  });

  it('asks a guard model about each input, in order, and charges what it counts', async () => {
    calls = [];
    answer = ({ body }) => chat(body.messages?.[0]?.content === 'bad' ? 'unsafe\nS1,S10' : '\n\nsafe');
    const reply = await moderate({ model: 'guard', input: ['good', 'bad', 'good'] });
    expect(reply.results.map(({ flagged }) => flagged)).toEqual([false, true, false]);
    expect(reply.results[1]?.categories).toMatchObject({ violence: true, hate: true, sexual: false });
    expect([reply.usage.prompt_tokens, Math.round(reply.cost.usd * 1e9)]).toEqual([900, 900 * 123]);
    expect(calls.map(({ path }) => path)).toEqual(Array.from({ length: 3 }, () => '/v1/chat/completions'));
  });

  it.each([
    ['fake', '{"results":[{"flagged":false,"categories":{},"category_scores":{"hate":NaN}}]}'],
    ['fake', { results: [] }],
    ['fake', { error: { message: 'out of memory', code: 500 } }],
    ['guard', chat('I cannot judge this.')],
    ['guard', { choices: [] }],
    ['guard', { error: { message: 'out of memory', code: 500 } }],
  ])('costs nothing with a wrong response: %s %j', async (id, body) => {
    const own = await platform.account('1.00');
    answer = () => body;
    expect((await post({ model: id, input: 'a' }, own.apiKey)).status).toBeGreaterThanOrEqual(500);
    expect((await platform.balances(own.id)).usd).toBe('1.00');
    answer = () => ({ results: [] });
    expect((await moderate({ model: 'saved', input: 'kill' }, own.apiKey)).results[0]?.flagged).toBe(true);
  });

  it('is charged to the nano-dollar for what a backend counts', async () => {
    const own = await platform.account('10.00');
    let nano = 0n;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.lorem(), { minLength: 1, maxLength: 8 }), async (input) => {
        const tokens = input.reduce((sum, { length }) => sum + length, 0);
        const results = input.map(() => ({ flagged: false, categories: {}, category_scores: {} }));
        answer = () => ({ results, usage: { prompt_tokens: tokens } });
        const { usage } = await moderate({ model: 'fake', input }, own.apiKey);
        expect(usage.prompt_tokens).toBe(tokens);
        nano += BigInt(tokens) * 123n;
      }),
      { numRuns: repeats('INPUT_USAGES') },
    );
    const left = Number(10_000_000_000n - nano) / 1e9;
    await eventually('all is charged', async () => Number((await platform.balances(own.id)).usd) === left);
    expect(await platform.audit()).toMatchObject({ body: { ok: true } });
  });
});

describe('a request to moderate', () => {
  it.each([
    [{ model: 'priced' }, 'input'],
    [{ model: 'priced', input: '' }, 'input'],
    [{ model: 'priced', input: [] }, 'input'],
    [{ model: 'priced', input: ['a', 'a'.repeat(1_000)] }, 'input.1'],
    [
      { model: 'priced', input: [{ type: 'image_url', image_url: { url: 'https://a.example/' } }] },
      'input.0',
    ],
  ])('is refused with the name of its invalid field: %#', async (body, param) => {
    const response = await post(body);
    expect(response.status).toBe(400);
    expect((await errorOf(response)).error.param).toBe(param);
  });

  it('that its account cannot pay is refused', async () => {
    const { apiKey } = await platform.account('0.0001');
    const refused = await post({ model: 'priced', input: 'one two three' }, apiKey);
    expect((await errorOf(refused)).code).toBe('INSUFFICIENT_BALANCE');
  });
});
