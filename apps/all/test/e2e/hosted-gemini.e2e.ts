import { json } from 'node:stream/consumers';
import { parseUsd } from '@svc/contracts/money';
import { TestServer, repeats } from '@svc/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Platform, type TestAccount } from '../platform.js';

/** Of tests that repeat. */
const LONG = { timeout: 3_600_000 };

const KEY = 'AIzaTest';
const PRICING = { input: 2, cacheInput: 0.2, output: 12 };
const TOOL = { name: 'weather', description: 'The weather', parameters: { type: 'object', properties: {} } };

interface Content {
  readonly role: string;
  readonly parts: readonly Record<string, unknown>[];
}
interface Received {
  readonly url: string;
  readonly key: unknown;
  readonly body: { readonly contents: readonly Content[] };
}

let parts: readonly object[] = [{ text: 'Hello.' }];
/** The answer to counts of tokens; without one, the server never answers them. */
let count: { readonly status: number; readonly body: object } | undefined;
let usageMetadata: object = { promptTokenCount: 5, candidatesTokenCount: 2 };
const received: Received[] = [];
let server: TestServer;
let platform: Platform;
let account: TestAccount;

beforeAll(async () => {
  server = await TestServer.start((request, response) => {
    void json(request).then((body) => {
      const url = request.url ?? '';
      received.push({ url, key: request.headers['x-goog-api-key'], body: body as Received['body'] });
      if (url.endsWith(':countTokens')) {
        if (count) response.writeHead(count.status).end(JSON.stringify(count.body));
        return;
      }
      const content = { role: 'model', parts };
      const whole = { candidates: [{ index: 0, content, finishReason: 'STOP' }], usageMetadata };
      if (!url.includes(':stream')) {
        response.setHeader('content-type', 'application/json').end(JSON.stringify(whole));
        return;
      }
      response.setHeader('content-type', 'text/event-stream');
      for (const part of parts)
        response.write(
          `data: ${JSON.stringify({ candidates: [{ index: 0, content: { role: 'model', parts: [part] } }] })}\r\n\r\n`,
        );
      response.end(
        `data: ${JSON.stringify({ candidates: [{ index: 0, finishReason: 'STOP' }], usageMetadata })}\r\n\r\n`,
      );
    });
  });
  const backends = [
    { kind: 'gemini', url: `${server.url}/v1beta`, model: 'gemini-3-pro', apiKeyEnv: 'GOOGLE_KEY' },
  ];
  const capabilities = { supportsFunctionCalling: true, supportsReasoning: true };
  platform = await Platform.start({
    hasOwnProcess: true,
    env: { GOOGLE_KEY: KEY },
    models: [{ id: 'hosted', pricing: PRICING, capabilities, backends }],
  });
  account = await platform.account('1000.00');
});

afterAll(async () => {
  await platform?.stop();
  await server?.close();
});

type Body = Record<string, unknown>;

async function ask(path: string, body: object): Promise<Body> {
  const response = await fetch(`${platform.apiUrl}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${account.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'hosted', ...body }),
  });
  const answer = (await response.json()) as Body;
  expect([response.status, answer]).toMatchObject([200, {}]);
  return answer;
}

/** The parts that the server got as the model's last turn. */
const lastModelParts = () => received.at(-1)?.body.contents.findLast(({ role }) => role === 'model')?.parts;

const SIGNED = { functionCall: { name: 'weather', args: { city: 'Oslo' } }, thoughtSignature: 'CiQB==' };

describe('a backend of the kind gemini', () => {
  it('is called with the key of the operator, at the path of its model', async () => {
    await ask('/chat/completions', { messages: [{ role: 'user', content: 'Hi' }] });
    expect(received.at(-1)).toMatchObject({ url: '/v1beta/models/gemini-3-pro:generateContent', key: KEY });
  });

  it('gets the signature of a call back from a client of chat completions', async () => {
    parts = [SIGNED];
    const messages = [{ role: 'user', content: 'The weather in Oslo?' }];
    const tools = [{ type: 'function', function: TOOL }];
    const { choices } = await ask('/chat/completions', { messages, tools });
    const [{ message }] = choices as [{ message: Body }];
    const [call] = message['tool_calls'] as [{ id: string }];
    parts = [{ text: 'Sunny.' }];
    const result = { role: 'tool', tool_call_id: call.id, content: 'sunny' };
    await ask('/chat/completions', { messages: [...messages, message, result], tools });
    expect(lastModelParts()).toEqual([SIGNED]);
  });

  it('gets it back from a client of messages', async () => {
    parts = [{ text: 'I look.' }, SIGNED];
    const tools = [{ name: TOOL.name, description: TOOL.description, input_schema: TOOL.parameters }];
    const messages = [{ role: 'user', content: 'The weather in Oslo?' }];
    const { content } = await ask('/messages', { messages, tools, max_tokens: 500 });
    const call = (content as { type: string; id: string }[]).find(({ type }) => type === 'tool_use');
    parts = [{ text: 'Sunny.' }];
    const result = {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: call?.id, content: 'sunny' }],
    };
    await ask('/messages', {
      messages: [...messages, { role: 'assistant', content }, result],
      tools,
      max_tokens: 500,
    });
    expect(lastModelParts()).toEqual([{ text: 'I look.' }, SIGNED]);
  });

  it('counts the tokens of a prompt, and an estimate is returned if it does not, free of charge', async () => {
    const content = 'How many tokens has this?';
    const before = await platform.balances(account.id);
    const counts = async (): Promise<unknown[]> => [
      (await ask('/messages/count_tokens', { messages: [{ role: 'user', content }] }))['input_tokens'],
      (await ask('/responses/input_tokens', { input: content }))['input_tokens'],
    ];
    count = { status: 200, body: { totalTokens: 4_321 } };
    expect(await counts()).toEqual([4_321, 4_321]);
    expect(received.at(-1)).toMatchObject({
      url: '/v1beta/models/gemini-3-pro:countTokens',
      key: KEY,
      body: { generateContentRequest: { contents: [{ role: 'user', parts: [{ text: content }] }] } },
    });
    count = { status: 500, body: {} };
    const estimates = await counts();
    expect(estimates[0]).toBeLessThan(100);
    expect(estimates[0]).toBe(estimates[1]);
    count = undefined;
    expect(await counts()).toEqual(estimates);
    expect(await platform.balances(account.id)).toEqual(before);
  });

  it(
    'costs what its usage says at the prices of the catalogue, reasoning as output and cached tokens once',
    LONG,
    async () => {
      parts = [{ text: 'Hello.' }];
      const property = fc.asyncProperty(
        fc.record({
          prompt: fc.integer({ min: 1, max: 5_000 }),
          cached: fc.nat(5_000),
          output: fc.integer({ min: 1, max: 200 }),
          thoughts: fc.nat(500),
        }),
        fc.boolean(),
        async ({ prompt, cached, output, thoughts }, stream) => {
          const read = Math.min(prompt, cached);
          usageMetadata = {
            promptTokenCount: prompt,
            cachedContentTokenCount: read,
            candidatesTokenCount: output,
            thoughtsTokenCount: thoughts,
            totalTokenCount: prompt + output + thoughts,
          };
          const before = parseUsd((await platform.balances(account.id)).usd) ?? 0n;
          const messages = [{ role: 'user', content: 'word '.repeat(prompt + 10) }];
          const body = { model: 'hosted', messages, stream, max_tokens: 2_000 };
          await (await platform.chat(account.apiKey, body)).text();
          const after = parseUsd((await platform.balances(account.id)).usd) ?? 0n;
          const expected =
            BigInt(prompt - read) * 2_000n + BigInt(read) * 200n + BigInt(output + thoughts) * 12_000n;
          expect(before - after).toBe(expected);
        },
      );
      await fc.assert(property, { numRuns: repeats('HOSTED_USAGES') });
    },
  );
});
