import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chunksOf, errorOf } from '../response-bodies.js';
import { Platform, type TestAccount } from '../platform.js';
import { type Script, ScriptedBackend, scriptMessage } from '../scripted-backend.js';

const PRICING = { input: 1, output: 20 };

let platform: Platform;
let scripted: ScriptedBackend;
let account: TestAccount;

beforeAll(async () => {
  scripted = await ScriptedBackend.start();
  platform = await Platform.start({
    models: [
      { id: 'plain', pricing: PRICING },
      { id: 'small', pricing: PRICING, contextTokens: 300, maxCompletionTokens: 300 },
      { id: 'twice', pricing: PRICING, backends: ['a', 'b'].map((model) => ({ url: scripted.url, model })) },
      { id: 'scripted', pricing: PRICING, backends: [{ url: scripted.url, model: 'scripted' }] },
    ],
  });
  account = await platform.account('100.00');
});

afterAll(async () => {
  await platform.stop();
  await scripted.close();
});

const ask = (rest: object = {}) => ({ model: 'plain', messages: [{ role: 'user', content: 'hi' }], ...rest });

/** A message that makes a scripted backend send this, in one piece. */
function script(content: string, stream: boolean, usage: object = {}): Script {
  const choice = { index: 0, finish_reason: 'stop' };
  return stream
    ? { chunks: [{ choices: [{ ...choice, delta: { content } }] }, { choices: [], usage }] }
    : { answer: { choices: [{ ...choice, message: { role: 'assistant', content } }], usage } };
}

describe('the request to a backend', () => {
  const requestFor = async (rest: object): Promise<Record<string, unknown>> => {
    platform.simulator.clearLog();
    expect((await platform.chat(account.apiKey, ask(rest))).status).toBe(200);
    return JSON.parse(platform.simulator.requests().at(-1)?.body ?? '') as Record<string, unknown>;
  };

  it.each([
    [{}, { max_tokens: 8_192 }],
    [{ max_tokens: 1_000_000 }, { max_tokens: 8_192 }],
    [{ max_tokens: 7 }, { max_tokens: 7 }],
    [{ max_completion_tokens: 7, max_tokens: 9 }, { max_completion_tokens: 7 }],
    [{ max_completion_tokens: 1_000_000, n: 2 }, { max_completion_tokens: 8_192 }],
    [{ max_tokens: null }, { max_tokens: 8_192 }],
  ])('always has a token limit, whatever the client sends: %j', async (rest, limit) => {
    for (const stream of [false, true]) {
      const { max_tokens, max_completion_tokens } = await requestFor({ ...rest, stream });
      expect({ max_tokens, max_completion_tokens }).toEqual({
        max_tokens: undefined,
        max_completion_tokens: undefined,
        ...limit,
      });
    }
  });

  it('leaves room for the prompt if the client sets no limit', async () => {
    const { max_tokens: limit } = await requestFor({ model: 'small' });
    expect(Number(limit)).toBeGreaterThan(250);
    expect(Number(limit)).toBeLessThan(300);
  });
});

describe('output of a backend', () => {
  const usage = (prompt_tokens: number, completion_tokens: number) => ({ prompt_tokens, completion_tokens });
  const WORDS = 'ten words that a backend counts as ten million tokens';
  const scriptOf = (counts: object, stream: boolean) => ({
    model: 'scripted',
    messages: [scriptMessage(script(WORDS, stream, counts))],
    max_tokens: 20,
    stream,
  });

  it.each([
    [false, usage(9, 10_000_000)],
    [true, usage(9, 10_000_000)],
    [false, usage(9, Number.MAX_SAFE_INTEGER)],
    [true, usage(9, Number.MAX_SAFE_INTEGER)],
    [false, usage(50_000_000, 9)],
    [true, usage(50_000_000, 9)],
  ])('is charged within plausible limits (stream: %s, %j), and no hold is left', async (stream, counts) => {
    const { id, apiKey } = await platform.account('10.00');
    const response = await platform.chat(apiKey, scriptOf(counts, stream));
    expect(response.status).toBe(200);
    const answer = stream
      ? (await chunksOf(response)).chunks.at(-1)
      : ((await response.json()) as { usage: { prompt_tokens: number; completion_tokens: number } });
    expect(answer?.usage?.completion_tokens).toBeLessThanOrEqual(20);
    expect(answer?.usage?.prompt_tokens).toBeLessThan(1_000);
    expect(Number((await platform.balances(id)).usd)).toBeGreaterThan(9.99);
    const next = await platform.chat(apiKey, ask());
    expect(Number(next.headers.get('x-svc-balance-usd'))).toBeGreaterThan(9.99);
  });

  it.each([false, true])(
    'is charged at a minimum if the reported usage is far too low (stream: %s)',
    async (stream) => {
      const { id, apiKey } = await platform.account('10.00');
      const text = 'some words of a long answer, '.repeat(1_000);
      const body = {
        ...scriptOf(usage(1, 1), stream),
        messages: [scriptMessage(script(text, stream, usage(1, 1)))],
      };
      const response = await platform.chat(apiKey, { ...body, max_tokens: 8_000 });
      const answer = stream
        ? (await chunksOf(response)).chunks.at(-1)
        : ((await response.json()) as { usage: { prompt_tokens: number; completion_tokens: number } });
      // In 6,000 words in each direction, a token has at most two words.
      for (const tokens of [answer?.usage?.prompt_tokens, answer?.usage?.completion_tokens]) {
        expect(tokens).toBeGreaterThanOrEqual(2_999);
        expect(tokens).toBeLessThan(6_000);
      }
      expect(Number((await platform.balances(id)).usd)).toBeLessThan(9.998);
    },
  );

  it('that is missing for one huge delta leaves it undelivered and uncharged', async () => {
    const { id, apiKey } = await platform.account('100.00');
    const flood = { choices: [{ index: 0, delta: { content: 'x'.repeat(3_000_000) } }] };
    const body = { model: 'scripted', messages: [scriptMessage({ chunks: [flood] })], stream: true };
    const { chunks, done } = await chunksOf(await platform.chat(apiKey, body));
    expect({ done, reason: chunks.at(-1)?.choices[0]?.finish_reason }).toEqual({
      done: true,
      reason: 'length',
    });
    expect((await platform.balances(id)).usd).toBe('100.00');
  });
});

describe('a request that a backend did not respond to', () => {
  it.each([true, false])(
    'reports the number of retries, and nothing without retries (stream: %s)',
    async (stream) => {
      const messages = [scriptMessage(script('hi', stream))];
      const retriesOf = async (refusals: number): Promise<string | null> => {
        scripted.refuse(refusals);
        const response = await platform.chat(account.apiKey, { model: 'twice', messages, stream });
        expect(response.status).toBe(200);
        await response.text();
        return response.headers.get('x-retry-count');
      };
      expect(await retriesOf(0)).toBeNull();
      expect(await retriesOf(1)).toBe('1');
    },
  );

  it.each([false, true])(
    'is refused with the reason and the field of the backend, costs nothing, and is logged (stream: %s)',
    async (stream) => {
      const { id, apiKey } = await platform.account('10.00');
      const message = `only greedy sampling at ${scripted.url}`;
      scripted.refuse(1, { status: 400, body: { error: { message, param: 'temperature' } } });
      const response = await platform.chat(apiKey, ask({ model: 'scripted', stream, temperature: 1 }));
      expect(response.status).toBe(400);
      expect(await errorOf(response)).toEqual({
        code: 'INVALID_REQUEST',
        error: {
          message: 'The model rejected the request: only greedy sampling at …',
          type: 'invalid_request_error',
          param: 'temperature',
          code: 'INVALID_REQUEST',
        },
      });
      expect((await platform.balances(id)).usd).toBe('10.00');
      const requestId = response.headers.get('x-request-id') ?? '';
      await expect
        .poll(async () =>
          (await platform.log()).split('\n').find((line) => line.includes(`"requestId":"${requestId}"`)),
        )
        .toMatch(
          /"level":"warn".*"model":"scripted","backend":"backend-1","status":400,.*greedy sampling at …/,
        );
    },
  );

  it.each([
    [true, false],
    [false, true],
  ])(
    'in time is refused with advice to stream, unless it is a stream (stream: %s)',
    async (stream, isAdvised) => {
      const messages = [scriptMessage({ status: 504 })];
      const response = await platform.chat(account.apiKey, { model: 'scripted', messages, stream });
      expect(response.status).toBe(504);
      const { error } = await errorOf(response);
      expect(error).toMatchObject({ code: 'REQUEST_TIMEOUT', type: 'timeout_error' });
      expect(error.message.includes('stream=true')).toBe(isAdvised);
    },
  );
});

describe('a hold before the request', () => {
  it('covers unknown members too, since a backend may read them', async () => {
    const { apiKey } = await platform.account('0.0001');
    const documents = [{ text: 'x'.repeat(3_000_000) }];
    expect((await platform.chat(apiKey, ask({ documents }))).status).toBe(402);
    expect((await platform.chat(apiKey, ask({ max_tokens: 1 }))).status).toBe(200);
  });
});

describe('the echo of parameters', () => {
  it('never claims encryption for a request in plain text', async () => {
    const echoed = async (body: object): Promise<unknown> => {
      const answer = (await (await platform.chat(account.apiKey, ask(body))).json()) as {
        svc_parameters: { enable_e2ee: boolean };
      };
      return answer.svc_parameters.enable_e2ee;
    };
    expect(await echoed({})).toBe(false);
    expect(await echoed({ svc_parameters: { enable_e2ee: true } })).toBe(false);
  });

  it('is the same for a search of X requested in the body and as a suffix of the model’s name', async () => {
    const body = await platform.chat(account.apiKey, ask({ svc_parameters: { enable_x_search: true } }));
    const suffix = await platform.chat(account.apiKey, ask({ model: 'plain:enable_x_search=true' }));
    expect([suffix.status, await suffix.json()]).toEqual([body.status, await body.json()]);
  });
});
