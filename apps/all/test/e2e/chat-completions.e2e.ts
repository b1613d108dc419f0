import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Cost, chunksOf, errorOf, eventually } from '../response-bodies.js';
import { Platform } from '../platform.js';

const MESSAGES = [{ role: 'user', content: 'Reply exactly: héllo wörld 🙂' }] as const;

let platform: Platform;

beforeAll(async () => {
  platform = await Platform.start({
    models: [
      { id: 'nobody-there', backends: [{ url: 'http://127.0.0.1:9/v1', model: 'x' }] },
      { id: 'paid-only', paidOnly: true },
      { id: 'small-limit', tier: 'S', maxCompletionTokens: 100 },
      { id: 'dear', pricing: { input: 1_000, output: 10_000 } },
    ],
  });
});

afterAll(() => platform.stop());

async function spentNano(id: string, before: string): Promise<number> {
  const { usd } = await platform.balances(id);
  return Math.round((Number(before) - Number(usd)) * 1e9);
}

describe('200', () => {
  it('returns the same to the openai client streamed and not, with usage and cost, charged to the nano-dollar', async () => {
    const { id, openai } = await platform.account();
    const whole = await openai.chat.completions.create({ model: 'test-model', messages: [...MESSAGES] });
    const stream = await openai.chat.completions.create({
      model: 'test-model',
      messages: [...MESSAGES],
      stream: true,
    });
    let text = '';
    let last: unknown;
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? '';
      last = chunk;
    }
    expect(whole.choices[0]?.message.content).toBe('héllo wörld 🙂');
    expect(text).toBe(whole.choices[0]?.message.content);
    const { usage, cost } = last as { usage: unknown; cost: Cost };
    const first = whole as unknown as { usage: unknown; cost: Cost };
    expect(usage).toEqual(first.usage);
    expect(cost.usd).toBeGreaterThan(0);
    expect(await spentNano(id, '10.00')).toBe(Math.round((cost.usd + first.cost.usd) * 1e9));
  });

  it('starts every stream with a role and ends it with one finish, usage and [DONE]', async () => {
    const { apiKey } = await platform.account();
    const response = await platform.chat(apiKey, {
      model: 'test-model',
      messages: MESSAGES,
      stream: true,
      n: 2,
    });
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    const { chunks, done } = await chunksOf(response);
    expect(done).toBe(true);
    expect(new Set(chunks.map(({ id }) => id))).toEqual(new Set([response.headers.get('x-request-id')]));
    for (const index of [0, 1]) {
      const mine = chunks.flatMap(({ choices }) => choices).filter((choice) => choice.index === index);
      expect(mine.map(({ delta }) => delta.role).filter(Boolean)).toEqual(['assistant']);
      expect(mine[0]?.delta.role).toBe('assistant');
      expect(mine.map((choice) => choice.finish_reason).filter(Boolean)).toEqual(['stop']);
    }
    expect(chunks.filter((chunk) => 'usage' in chunk)).toEqual([chunks.at(-1)]);
    expect(chunks.at(-1)).toMatchObject({ choices: [{ finish_reason: 'stop' }], cost: { diem: 0 } });
  });

  it('has the headers of the contract', async () => {
    const { apiKey } = await platform.account('2.50');
    const response = await platform.chat(apiKey, { model: 'test-model', messages: MESSAGES });
    const { id } = (await response.json()) as { id: string };
    const headers = Object.fromEntries(response.headers);
    expect(headers).toMatchObject({
      'cf-ray': id,
      'x-request-id': id,
      'x-svc-model-id': 'test-model',
      'x-svc-model-name': 'Test Model',
      'x-svc-model-router': 'backend-1',
      'x-svc-balance-usd': '2.50',
      'x-svc-balance-diem': '0.00',
      'x-ratelimit-limit-requests': '100000',
      'x-ratelimit-remaining-requests': '99999',
      'x-ratelimit-type': 'user',
    });
    expect(headers['x-svc-version']).toMatch(/^\d{8}\.\d{6}$/);
    expect(id).toMatch(/^chatcmpl-[0-9a-f]{32}$/);
  });

  it('passes unknown fields to the backend byte for byte, and its own fields not at all', async () => {
    const { apiKey } = await platform.account();
    platform.simulator.clearLog();
    const body =
      '{"model":"test-model","messages":[{"role":"user","content":"hi"}],"x_big":123456789012345678901234567890.10,' +
      '"x_obj": {"b":1,  "a":[1e2]} ,"svc_parameters":{"enable_web_search":"off"},"max_tokens":0,"user":"u"}';
    expect((await platform.chat(apiKey, body)).status).toBe(200);
    const sent = platform.simulator.requests().at(-1)?.body ?? '';
    expect(sent).toContain('"x_big":123456789012345678901234567890.10');
    expect(sent).toContain('"x_obj":{"b":1,  "a":[1e2]}');
    expect(JSON.parse(sent)).not.toHaveProperty('svc_parameters');
    expect(JSON.parse(sent)).toMatchObject({ max_tokens: 8_192 });
    expect(JSON.parse(sent)).not.toHaveProperty('user');
  });

  it('charges nothing for a completion without output', async () => {
    const { id, apiKey } = await platform.account();
    const messages = [{ role: 'user', content: 'hi [[sim fault=empty]]' }];
    const response = await platform.chat(apiKey, { model: 'test-model', messages });
    expect(await response.json()).toMatchObject({ cost: { usd: 0, diem: 0 } });
    expect(await spentNano(id, '10.00')).toBe(0);
  });

  it('ends a completion with `length` when the money runs out, and charges exactly what was delivered', async () => {
    const { id, apiKey } = await platform.account('0.10');
    const messages = [{ role: 'user', content: 'go [[sim tokens=500 itl-ms=1]]' }];
    const response = await platform.chat(apiKey, { model: 'dear', messages, stream: true, max_tokens: 9 });
    const { chunks, done } = await chunksOf(response);
    const { usage, cost } = chunks.at(-1) ?? {};
    expect(done).toBe(true);
    expect(
      chunks
        .flatMap(({ choices }) => choices)
        .map((choice) => choice.finish_reason)
        .filter(Boolean),
    ).toEqual(['length']);
    expect(usage?.completion_tokens).toBeGreaterThan(0);
    expect(await spentNano(id, '0.10')).toBe(Math.round((cost?.usd ?? 0) * 1e9));
    expect(await platform.audit()).toMatchObject({ body: { ok: true } });
  });

  it('closes the backend call when the client disconnects, and charges what was delivered', async () => {
    const { id, apiKey } = await platform.account();
    platform.simulator.clearLog();
    const messages = [{ role: 'user', content: 'go [[sim tokens=5000 itl-ms=5]]' }];
    const abort = new AbortController();
    const init = { signal: abort.signal };
    const response = await platform.chat(apiKey, { model: 'test-model', messages, stream: true }, init);
    const reader = response.body?.getReader();
    for (let reads = 0; reads < 3; reads += 1) await reader?.read();
    abort.abort();
    await eventually('the backend is cancelled', () => platform.simulator.cancellations().length === 1);
    await eventually('what was delivered is charged', async () => (await spentNano(id, '10.00')) > 0);
    const [cancelled] = platform.simulator.cancellations();
    expect(cancelled).toMatchObject({ stream: true, phase: 'decode' });
  });

  it('also closes a backend call that is not streamed, and charges nothing for it', async () => {
    const { id, apiKey } = await platform.account();
    platform.simulator.clearLog();
    const messages = [{ role: 'user', content: 'go [[sim tokens=5000 itl-ms=5]]' }];
    const abort = new AbortController();
    const answer = platform.chat(apiKey, { model: 'test-model', messages }, { signal: abort.signal });
    await eventually('the backend is asked', () => platform.simulator.stats().inFlight === 1);
    abort.abort();
    await expect(answer).rejects.toThrow(/abort/i);
    await eventually('the backend is cancelled', () => platform.simulator.cancellations().length === 1);
    expect(await spentNano(id, '10.00')).toBe(0);
  });
});

describe('200, then a failing backend', () => {
  it.each(['cut-mid-stream', 'missing-done,missing-finish', 'garbage', 'error-mid-stream'])(
    'reports %s in the stream, ends it, and bills what was delivered',
    async (fault) => {
      const { id, apiKey } = await platform.account();
      const messages = [{ role: 'user', content: `go [[sim fault=${fault} after=3 tokens=20 itl-ms=5]]` }];
      const response = await platform.chat(apiKey, { model: 'test-model', messages, stream: true });
      const { chunks, done } = await chunksOf(response);
      expect(response.status).toBe(200);
      expect(chunks.at(-1)?.error).toMatchObject({
        code: 'INFERENCE_FAILED',
        type: 'api_error',
        param: null,
      });
      expect(done).toBe(true);
      expect(await spentNano(id, '10.00')).toBeGreaterThan(0);
    },
  );
});

describe('400', () => {
  it.each([
    ['no model', { messages: MESSAGES }, 'model', 'model is required'],
    ['a model of the wrong type', { model: 7, messages: MESSAGES }, 'model', 'model must be a string'],
    ['no messages', { model: 'test-model' }, 'messages', undefined],
    ['an empty conversation', { model: 'test-model', messages: [] }, 'messages', undefined],
    [
      'an unknown role',
      { model: 'test-model', messages: [{ role: 'x', content: '' }] },
      'messages.0.role',
      undefined,
    ],
    [
      'an empty text part',
      { model: 'test-model', messages: [{ role: 'user', content: [{ type: 'text', text: '' }] }] },
      'messages.0.content',
      undefined,
    ],
    [
      'a temperature out of range',
      { model: 'test-model', messages: MESSAGES, temperature: 3 },
      'temperature',
      undefined,
    ],
    [
      'a stream that is not a boolean',
      { model: 'test-model', messages: MESSAGES, stream: 'yes' },
      'stream',
      undefined,
    ],
    ['a body that is not an object', [], '', undefined],
  ] as const)('reports the field for %s', async (...row) => {
    const [, body, param, message] = row;
    const { apiKey } = await platform.account('0');
    const response = await platform.chat(apiKey, body);
    const answer = await errorOf(response);
    expect(response.status).toBe(400);
    expect(answer).toMatchObject({
      code: 'INVALID_REQUEST',
      error: { type: 'invalid_request_error', code: 'INVALID_REQUEST' },
    });
    expect(answer.error.param ?? '').toContain(param);
    expect(answer.issues?.length).toBeGreaterThan(0);
    expect(answer.details).toHaveProperty('_errors');
    expect(answer.issues?.some((issue) => message === undefined || issue.message === message)).toBe(true);
  });

  it('reports malformed JSON', async () => {
    const { apiKey } = await platform.account('0');
    const response = await platform.chat(apiKey, '{"model": "test-model", ');
    expect(response.status).toBe(400);
    expect(await errorOf(response)).toMatchObject({
      code: 'INVALID_JSON',
      error: { message: 'Invalid JSON request' },
    });
  });

  it('refuses features that this deployment does not offer, naming them', async () => {
    const { apiKey } = await platform.account();
    const body = { model: 'test-model:enable_web_search=on', messages: MESSAGES };
    const answer = await errorOf(await platform.chat(apiKey, body));
    expect(answer).toMatchObject({
      code: 'NOT_AVAILABLE',
      error: { param: 'svc_parameters.enable_web_search' },
    });
  });

  it('passes on the error of the backend', async () => {
    const { apiKey } = await platform.account();
    const messages = [{ role: 'user', content: '[[sim fault=context_length]]' }];
    const response = await platform.chat(apiKey, { model: 'test-model', messages });
    expect(response.status).toBe(400);
    expect(await errorOf(response)).toMatchObject({ code: 'TOO_MANY_TOKENS', error: { param: 'messages' } });
  });
});

describe('401', () => {
  it.each(['SVC_INFERENCE_KEY_wrong', 'nonsense', ''])('rejects the key %j', async (key) => {
    const response = await platform.chat(key, { model: 'test-model', messages: MESSAGES });
    expect(response.status).toBe(401);
    expect(await errorOf(response)).toMatchObject({
      code: 'AUTHENTICATION_FAILED',
      error: { type: 'authentication_error', message: 'Authentication failed' },
    });
  });

  it('checks the key before the body, so that unknown clients cannot make it parse one', async () => {
    const response = await platform.chat('SVC_INFERENCE_KEY_wrong', '{"model": [[[');
    expect(response.status).toBe(401);
  });

  it('restricts models for paid accounts to them', async () => {
    const free = await platform.account();
    const paid = await platform.account('1.00', { paid: true });
    const body = { model: 'paid-only', messages: MESSAGES };
    expect((await errorOf(await platform.chat(free.apiKey, body))).code).toBe('PRO_ONLY_MODEL');
    expect((await platform.chat(paid.apiKey, body)).status).toBe(200);
  });
});

describe('402', () => {
  it('returns payment terms to a client without credentials', async () => {
    const response = await fetch(`${platform.apiUrl}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'test-model', messages: MESSAGES }),
    });
    const body = (await response.json()) as Record<string, unknown>;
    expect(response.status).toBe(402);
    expect(body).toMatchObject({
      x402Version: 2,
      accepts: expect.any(Array),
      resource: { url: expect.any(String) },
    });
    const header = Buffer.from(response.headers.get('payment-required') ?? '', 'base64').toString();
    expect(JSON.parse(header)).toMatchObject({ x402Version: 2, resource: body['resource'] });
  });

  it.each([true, false])('rejects an account without balance (stream: %s)', async (stream) => {
    const { id, apiKey } = await platform.account('0');
    platform.simulator.clearLog();
    const response = await platform.chat(apiKey, { model: 'test-model', messages: MESSAGES, stream });
    expect(response.status).toBe(402);
    expect(await errorOf(response)).toMatchObject({
      code: 'INSUFFICIENT_BALANCE',
      error: { type: 'insufficient_balance' },
    });
    expect(platform.simulator.requests()).toEqual([]);
    expect(await platform.balances(id)).toEqual({ usd: '0.00', diem: '0.00' });
  });
});

describe('404', () => {
  it('names a model that does not exist', async () => {
    const { apiKey } = await platform.account();
    const response = await platform.chat(apiKey, { model: 'no-such', messages: MESSAGES });
    expect(response.status).toBe(404);
    const answer = await errorOf(response);
    expect(answer).toMatchObject({ code: 'MODEL_NOT_FOUND', error: { param: 'model' } });
    expect(answer.error.message).toContain('no-such');
  });
});

describe('413', () => {
  it('rejects a body of more than 35 MB', async () => {
    const { apiKey } = await platform.account();
    const messages = [{ role: 'user', content: 'x'.repeat(35_000_000) }];
    const response = await platform.chat(apiKey, { model: 'test-model', messages });
    expect(response.status).toBe(413);
    expect((await errorOf(response)).code).toBe('PAYLOAD_TOO_LARGE');
  });
});

describe('415', () => {
  it('refuses a body whose content type is not JSON', async () => {
    const { apiKey } = await platform.account();
    const headers = { 'content-type': 'text/plain' };
    const response = await platform.chat(apiKey, { model: 'test-model', messages: MESSAGES }, { headers });
    expect(response.status).toBe(415);
    expect((await errorOf(response)).code).toBe('INVALID_CONTENT_TYPE');
  });
});

describe('429', () => {
  it('admits exactly the number of requests of the limit, and returns when to retry', async () => {
    const { apiKey } = await platform.account();
    const ask = () => platform.chat(apiKey, { model: 'small-limit', messages: MESSAGES, max_tokens: 10 });
    const answers = await Promise.all([ask(), ask(), ask(), ask(), ask(), ask()]);
    const statuses = answers.map(({ status }) => status);
    // The six requests may fall into two windows.
    expect([3, 6]).toContain(statuses.filter((status) => status === 200).length);
    const refused = answers.find(({ status }) => status === 429);
    if (!refused) return;
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(refused.headers.get('x-ratelimit-remaining-requests')).toBe('0');
    expect((await errorOf(refused)).code).toBe('RATE_LIMIT_EXCEEDED');
  });
});

describe('500', () => {
  it.each([true, false])('reports failed inference, and charges nothing (stream: %s)', async (stream) => {
    const { id, apiKey } = await platform.account();
    const messages = [{ role: 'user', content: '[[sim fault=500]]' }];
    const response = await platform.chat(apiKey, { model: 'test-model', messages, stream });
    expect(response.status).toBe(500);
    expect(await errorOf(response)).toMatchObject({ code: 'INFERENCE_FAILED', error: { type: 'api_error' } });
    expect(await spentNano(id, '10.00')).toBe(0);
  });
});

describe('503', () => {
  it.each([true, false])('reports a down backend, and leaves no hold (stream: %s)', async (stream) => {
    // The credit covers two holds, not three: a leaked hold would make the last request a 402.
    const { id, apiKey } = await platform.account('0.01');
    for (let round = 0; round < 3; round += 1) {
      const response = await platform.chat(apiKey, {
        model: 'nobody-there',
        messages: MESSAGES,
        stream,
        max_tokens: 8_192,
      });
      expect(response.status).toBe(503);
      expect((await errorOf(response)).code).toBe('MODEL_OFFLINE');
      expect(response.headers.get('retry-after')).toBe('5');
    }
    expect(await platform.balances(id)).toMatchObject({ usd: '0.01' });
  });

  it.each(['503', '429'])('reports a model at capacity when its backend returns %s', async (fault) => {
    const { apiKey } = await platform.account();
    const messages = [{ role: 'user', content: `[[sim fault=${fault}]]` }];
    const response = await platform.chat(apiKey, { model: 'test-model', messages });
    expect(response.status).toBe(503);
    expect((await errorOf(response)).code).toBe('MODEL_AT_CAPACITY');
  });
});
