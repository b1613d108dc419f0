import { Catalog } from '@svc/catalog';
import { Backend, COUNTING_KINDS } from '@svc/contracts/catalog';
import { describe, expect, it } from 'vitest';
import { type Reply, TestBackend, replying } from '../../test/backend.js';
import { RouterFixture } from '../../test/router-fixture.js';
import { catalogFile, patientRouter } from '../../test/routing.js';
import { SerialisedRouter } from '../../test/serialised-router.js';
import { DIALECTS, dialectOf } from '../dialects/dialects.js';

const CHAT = {
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Hi' },
  ],
  tools: [{ type: 'function', function: { name: 'now', parameters: { type: 'object', properties: {} } } }],
  max_tokens: 5,
  temperature: 0.5,
};
const CALL = {
  requestId: 'r',
  accountId: 'a',
  model: 'm',
  body: [Buffer.from(JSON.stringify(CHAT))],
};
const { signal } = new AbortController();

const CONTENTS = [{ role: 'user', parts: [{ text: 'Hi' }] }];
const SYSTEM = { parts: [{ text: 'Be brief.' }] };
const DECLARED = [
  { functionDeclarations: [{ name: 'now', parametersJsonSchema: { type: 'object', properties: {} } }] },
];
const CONFIG = { maxOutputTokens: 5, temperature: 0.5 };
const INPUT_SCHEMA = { type: 'object', properties: {} };

/** What each kind gets, and answers. */
const COUNTS: readonly (readonly [
  kind: string,
  model: string,
  path: string,
  body: object,
  answer: object,
])[] = [
  [
    'anthropic',
    'claude-x',
    '/messages/count_tokens',
    {
      model: 'claude-x',
      system: [{ type: 'text', text: 'Be brief.' }],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
      tools: [{ name: 'now', input_schema: INPUT_SCHEMA }],
    },
    { input_tokens: 77 },
  ],
  [
    'gemini',
    'gemini-x',
    '/models/gemini-x:countTokens',
    {
      generateContentRequest: {
        model: 'models/gemini-x',
        contents: CONTENTS,
        systemInstruction: SYSTEM,
        tools: DECLARED,
        generationConfig: CONFIG,
      },
    },
    { totalTokens: 77 },
  ],
  [
    'vertex',
    'gemini-x',
    '/models/gemini-x:countTokens',
    { contents: CONTENTS, systemInstruction: SYSTEM, tools: DECLARED, generationConfig: CONFIG },
    { totalTokens: 77, totalBillableCharacters: 11 },
  ],
  [
    'bedrock',
    'eu.anthropic.claude-x-v1:0',
    '/model/anthropic.claude-x-v1%3A0/count-tokens',
    {
      input: {
        converse: {
          system: [{ text: 'Be brief.' }],
          messages: [{ role: 'user', content: [{ text: 'Hi' }] }],
          toolConfig: { tools: [{ toolSpec: { name: 'now', inputSchema: { json: INPUT_SCHEMA } } }] },
        },
      },
    },
    { inputTokens: 77 },
  ],
];

it('the kinds that count are those of the catalogue', () => {
  const counting = Object.entries(DIALECTS).flatMap(([kind, { chat }]) => (chat?.counting ? [kind] : []));
  expect(new Set(counting)).toEqual(COUNTING_KINDS);
  expect(new Set(COUNTS.map(([kind]) => kind))).toEqual(COUNTING_KINDS);
});

it.each(COUNTS)('a backend of the kind %s is asked for a count in its form', (...row) => {
  const [kind, model, path, body, answer] = row;
  const { chat } = dialectOf(Backend.parse({ kind, model, url: 'https://provider.test/v1' }));
  const request = chat?.counting?.request({ model }, CALL.body);
  expect(request?.path).toBe(path);
  expect(JSON.parse(Buffer.concat(request?.body ?? []).toString())).toEqual(body);
  expect(answer).toMatchObject({ [String(chat?.counting?.tokens)]: 77 });
});

describe.each([
  ['in one process', false],
  ['between processes', true],
])('the count of a prompt, %s', (_, isRemote) => {
  const fixture = new RouterFixture((catalog) => {
    const { router, stop } = patientRouter(catalog);
    return { router: isRemote ? new SerialisedRouter(router) : router, stop };
  });

  /** Two backends of these kinds, the first of them preferred. */
  async function given(kinds: readonly [string, string], reply: Reply): Promise<TestBackend[]> {
    const servers = [await TestBackend.start(reply), await TestBackend.start(reply)];
    fixture.backends.push(...servers);
    const backends = servers.map(({ url }, at) => ({ url, model: 'x', kind: kinds[at], weight: 1e-9 ** at }));
    await fixture.begin(new Catalog(catalogFile({ id: 'm', backends })));
    return servers;
  }

  it('is that of the first backend that counts', async () => {
    const [first, second] = await given(['openai', 'anthropic'], replying({ input_tokens: 77 }));
    const { result, backend } = await fixture.router.chat.count(CALL, signal);
    expect([result, backend]).toEqual([{ tokens: 77 }, 'backend-2']);
    expect(first?.requests).toEqual([]);
    expect(second?.requests).toMatchObject([{ url: '/v1/messages/count_tokens' }]);
  });

  it.each([
    [{ error: { type: 'not_found_error' } }, 404],
    [{ error: { type: 'rate_limit_error' } }, 429],
    [{ error: { type: 'api_error' } }, 500],
    [{ input_tokens: 0 }, 200],
    [{ input_tokens: 77 }, 201],
    [['no count'], 200],
  ])('fails with %j of status %d, and keeps no chat off the backend', async (body, status) => {
    const [first, second] = await given(['anthropic', 'anthropic'], replying(body, status));
    await expect(fixture.router.chat.count(CALL, signal)).rejects.toMatchObject({ code: 'INFERENCE_FAILED' });
    for (const server of [first, second])
      if (server) server.reply = replying({ type: 'message', content: [] });
    await fixture.router.chat.complete(CALL, signal);
    expect(first?.requests.map(({ url }) => url)).toEqual(['/v1/messages/count_tokens', '/v1/messages']);
    expect(second?.requests).toEqual([]);
  });

  it('fails if no backend counts', async () => {
    const servers = await given(['openai', 'openai'], replying({ input_tokens: 77 }));
    await expect(fixture.router.chat.count(CALL, signal)).rejects.toMatchObject({ code: 'MODEL_OFFLINE' });
    expect(servers.map(({ requests }) => requests.length)).toEqual([0, 0]);
  });
});
