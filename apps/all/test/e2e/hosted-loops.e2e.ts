import { json } from 'node:stream/consumers';
import { parseUsd } from '@svc/contracts/money';
import { TestServer, repeats } from '@svc/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RED_PNG } from '../message-requests.js';
import { Platform, type TestAccount } from '../platform.js';

/*
 * Two instances: the near one has the far one as a backend of the kinds `anthropic` and `openai`, so what a
 * client asks for goes through both, and a server behind the far one sees what has become of it.
 */

/** Of tests that repeat. */
const LONG = { timeout: 3_600_000 };

interface Message {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_calls?: readonly { id: string; function: { name: string; arguments: string } }[];
  readonly tool_call_id?: string;
  readonly reasoning_content?: string;
  readonly reasoning_details?: unknown;
}
interface Seen {
  readonly messages: readonly Message[];
  readonly stream?: boolean;
  readonly [name: string]: unknown;
}

const PRICING = { input: 3, cacheInput: 0.3, cacheWrite: 3.75, output: 15 };
const capabilities = {
  supportsFunctionCalling: true,
  supportsReasoning: true,
  supportsVision: true,
  supportsMultipleImages: true,
};
const RED = `data:image/png;base64,${RED_PNG}`;

const KINDS = ['anthropic', 'openai'] as const;

/** The usage that the server reports next. */
let usage: Record<string, unknown> = {};
let reply: object = { content: 'Hello.' };
const seen: Seen[] = [];
let server: TestServer;
let far: Platform;
let near: Platform;
let account: TestAccount;

beforeAll(async () => {
  server = await TestServer.start((request, response) => {
    void json(request).then((body) => {
      seen.push(body as Seen);
      const choice = { index: 0, finish_reason: 'stop' };
      if ((body as Seen).stream !== true) {
        response.end(
          JSON.stringify({ choices: [{ ...choice, message: { role: 'assistant', ...reply } }], usage }),
        );
        return;
      }
      const chunks = [
        { choices: [{ ...choice, delta: { role: 'assistant', ...reply } }] },
        { choices: [], usage },
      ];
      response.setHeader('content-type', 'text/event-stream');
      for (const chunk of chunks) response.write(`data: ${JSON.stringify(chunk)}\n\n`);
      response.end('data: [DONE]\n\n');
    });
  });
  const model = { capabilities, pricing: PRICING };
  far = await Platform.start({
    hasOwnProcess: true,
    models: [{ id: 'far', ...model, backends: [{ url: server.url, model: 'x' }] }],
  });
  const customer = await far.account('10000.00');
  const backend = { url: far.apiUrl, model: 'far', apiKeyEnv: 'FAR_KEY' };
  near = await Platform.start({
    hasOwnProcess: true,
    env: { FAR_KEY: customer.apiKey },
    models: KINDS.map((kind) => ({ id: `by-${kind}`, ...model, backends: [{ kind, ...backend }] })),
  });
  account = await near.account('10000.00');
});

afterAll(async () => {
  await near?.stop();
  await far?.stop();
  await server?.close();
});

interface Completion {
  readonly choices: { message: Message; finish_reason: string }[];
  readonly usage: Record<string, unknown>;
}

async function complete(body: { readonly model: string } & Record<string, unknown>): Promise<Completion> {
  const response = await near.chat(account.apiKey, { max_tokens: 8_192, ...body });
  const answer = (await response.json()) as Completion;
  expect([response.status, answer]).toMatchObject([200, { choices: [{}] }]);
  return answer;
}

/** A conversation as what it says: neither how its texts are divided, nor who joined which messages. */
function sayings(messages: readonly Message[]): string[] {
  const lines: string[] = [];
  const say = (who: string, what: unknown): void => {
    const line = `${who}: ${typeof what === 'string' ? what : JSON.stringify(what)}`;
    lines.push(line);
  };
  for (const { role, content, tool_calls: calls = [], tool_call_id: id } of messages) {
    const who = role === 'tool' ? `result ${id}` : role === 'developer' ? 'system' : role;
    const parts =
      typeof content === 'string' ? [{ type: 'text', text: content }] : ((content ?? []) as object[]);
    for (const part of parts) {
      const {
        type,
        text,
        image_url: image,
      } = part as { type: string; text?: string; image_url?: { url: string } };
      if (type === 'text' && text !== '') say(who, text);
      // The platform makes a file of its own of each image.
      if (image) say(who, image.url.startsWith('data:image/') ? 'an image' : image.url);
    }
    for (const call of calls)
      say(`call ${call.id} ${call.function.name}`, JSON.parse(call.function.arguments || '{}'));
  }
  return lines;
}

const words = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }).map((text) => `x${text}x`);
const input = fc.dictionary(
  fc.constantFrom('a', 'b', 'ü'),
  fc.oneof(words, fc.integer(), fc.constant(null), fc.array(words)),
);
const user = fc.oneof(
  words,
  fc.array(
    fc.oneof(
      words.map((text) => ({ type: 'text', text })),
      fc.constant({ type: 'image_url', image_url: { url: RED } }),
    ),
    {
      minLength: 1,
      maxLength: 3,
    },
  ),
);
const calls = fc.array(fc.tuple(input, words), { maxLength: 3 });

/** A user's turn, and what the assistant says and calls, with the results. */
const turn = fc.tuple(user, words, calls);

const conversation = fc
  .tuple(fc.option(words), fc.array(turn, { maxLength: 3 }), user)
  .map(([system, turns, last]) => {
    let id = 0;
    const messages: Message[] = system === null ? [] : [{ role: 'system', content: system }];
    for (const [question, answer, called] of turns) {
      const made = called.map(([given, result]) => ({ id: `call_${(id += 1)}`, given, result }));
      messages.push(
        { role: 'user', content: question },
        {
          role: 'assistant',
          content: answer,
          ...(made.length > 0 && {
            tool_calls: made.map(({ id: call, given }) => ({
              id: call,
              type: 'function',
              function: { name: 'look', arguments: JSON.stringify(given) },
            })),
          }),
        },
      );
      for (const { id: call, result } of made)
        messages.push({ role: 'tool', tool_call_id: call, content: result });
    }
    return [...messages, { role: 'user', content: last }];
  });

const tools = [
  { type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } },
];

describe.each(KINDS)('a backend of the kind %s, which is another instance', (kind) => {
  const model = `by-${kind}`;

  it('gets all that a conversation says, whatever it is', LONG, async () => {
    usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };
    const property = fc.asyncProperty(conversation, async (messages) => {
      seen.length = 0;
      await complete({ model, messages, tools });
      expect(sayings(seen[0]?.messages ?? [])).toEqual(sayings(messages));
    });
    await fc.assert(property, { numRuns: repeats('HOSTED_CONVERSATIONS') });
  });

  it('answers with all that its model says, streamed or whole, and takes its reasoning back', async () => {
    const detail = { type: 'reasoning.text', text: 'Hm.', signature: 'sealed==', index: 0 };
    const look = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"a":"é"}' } };
    reply = {
      reasoning_content: 'Hm.',
      reasoning_details: [detail],
      content: 'I look.',
      tool_calls: [{ index: 0, ...look }],
    };
    const messages = [{ role: 'user', content: 'Where?' }];
    const whole = (await complete({ model, messages, tools, reasoning_effort: 'high' })).choices[0]?.message;
    expect(whole).toMatchObject({
      content: 'I look.',
      reasoning_content: 'Hm.',
      tool_calls: [look],
      reasoning_details: [{ type: 'reasoning.text', text: 'Hm.' }],
    });
    const body = {
      model,
      messages,
      tools,
      max_tokens: 8_192,
      stream: true,
      reasoning_effort: 'high',
    };
    const streamed = await (await near.chat(account.apiKey, body)).text();
    for (const part of [
      '"Hm."',
      '"I look."',
      '{\\"a\\": \\"é\\"}'.replace(' ', ''),
      '"finish_reason":"tool_calls"',
    ])
      expect(streamed).toContain(part);
    reply = { content: 'There.' };
    seen.length = 0;
    const result = { role: 'tool', tool_call_id: 'call_1', content: 'Here' };
    await complete({ model, messages: [...messages, { role: 'assistant', ...whole }, result], tools });
    expect(seen[0]?.messages[1]).toMatchObject({ reasoning_content: 'Hm.', reasoning_details: [detail] });
  });

  it('costs what its usage says at the prices of the catalogue, cached tokens once', LONG, async () => {
    reply = { content: 'Hello.' };
    const property = fc.asyncProperty(
      // A prompt of no tokens is one that the backend does not count.
      fc
        .record({ fresh: fc.nat(50_000), read: fc.nat(50_000), output: fc.integer({ min: 1, max: 200 }) })
        .filter(({ fresh, read }) => fresh + read > 0),
      fc.boolean(),
      async ({ fresh, read, output }, stream) => {
        const prompt = fresh + read;
        usage = {
          prompt_tokens: prompt,
          completion_tokens: output,
          total_tokens: prompt + output,
          prompt_tokens_details: { cached_tokens: read },
        };
        const before = parseUsd((await near.balances(account.id)).usd) ?? 0n;
        const messages = [{ role: 'user', content: 'word '.repeat(prompt + 10) }];
        await (await near.chat(account.apiKey, { model, messages, stream, max_tokens: 8_192 })).text();
        const after = parseUsd((await near.balances(account.id)).usd) ?? 0n;
        // USD per million tokens are thousands of nano-dollars per token.
        expect(before - after).toBe(BigInt(fresh) * 3_000n + BigInt(read) * 300n + BigInt(output) * 15_000n);
      },
    );
    await fc.assert(property, { numRuns: repeats('HOSTED_USAGES') });
  });

  it.each(['/messages', '/responses'])('serves %s as well', async (path) => {
    usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };
    reply = { content: 'Hello from afar.' };
    const body =
      path === '/messages'
        ? { messages: [{ role: 'user', content: 'Hi' }], max_tokens: 50 }
        : { input: 'Hi' };
    const response = await fetch(`${near.apiUrl}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${account.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, ...body }),
    });
    expect(await response.text()).toContain('Hello from afar.');
  });
});
