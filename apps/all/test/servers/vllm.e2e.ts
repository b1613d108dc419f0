import { join } from 'node:path';
import { offerLocalModels, readCatalog } from '@svc/catalog';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Platform, type TestAccount } from '../platform.js';
import { WEATHER } from '../tools.js';
import { type Completion, bothWays, comparable, gathered } from './same-response.js';
import { REQUEST_MS, START_MS, TinyServers, openServers } from './tiny-servers.js';

const CONTEXT_TOKENS = 1_024;

const python = await openServers();

const SCHEMA = { type: 'object', properties: { yes: { type: 'boolean' } }, required: ['yes'] };
const user = (content: unknown): object => ({ role: 'user', content });
const HELLO = [user('hello world')];
const CALL = { id: 'c1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Rome"}' } };

/**
 * Requests whose responses must be the same through the platform, whole and streamed, but for this: a choice
 * with calls always ends with `tool_calls`, while a demanded tool ends with `stop` at vLLM.
 */
const PAIRS: readonly (readonly [name: string, body: object])[] = [
  ['a text', {}],
  ['a text in parts', { messages: [user([{ type: 'text', text: 'hello world' }])] }],
  ['a system message', { messages: [{ role: 'system', content: 'Be brief.' }, ...HELLO] }],
  [
    'a conversation with a tool',
    {
      messages: [
        ...HELLO,
        { role: 'assistant', content: 'A moment.', tool_calls: [CALL] },
        { role: 'tool', tool_call_id: 'c1', content: 'Sunny' },
      ],
      tools: [WEATHER],
    },
  ],
  ['text in any script', { messages: [user('ſüß € 漢字 🦘')] }],
  ['several choices', { n: 2, temperature: 1 }],
  ['log probabilities', { logprobs: true, top_logprobs: 2 }],
  ['a stop word', { stop: ['e'] }],
  ['stop token ids', { stop_token_ids: [69, 70, 71, 72] }],
  ['one token', { max_tokens: 1 }],
  ['sampling', { temperature: 0.8, top_p: 0.9, top_k: 20, min_p: 0.01, repetition_penalty: 1.1 }],
  ['penalties', { frequency_penalty: 1, presence_penalty: 1, logit_bias: { 65: 5 } }],
  [
    'a schema',
    {
      response_format: { type: 'json_schema', json_schema: { name: 'decision', schema: SCHEMA } },
      max_tokens: 40,
    },
  ],
  ['an object', { response_format: { type: 'json_object' }, max_tokens: 40 }],
  [
    'a demanded tool',
    {
      tools: [{ type: 'function', function: { name: 'decide', parameters: SCHEMA } }],
      tool_choice: { type: 'function', function: { name: 'decide' } },
      max_tokens: 60,
    },
  ],
  ['ignored ends', { ignore_eos: true, min_tokens: 8, max_tokens: 8 }],
  ['log probabilities of the prompt', { prompt_logprobs: 2 }],
];

/** Requests that the server refuses. */
const REFUSED: readonly (readonly [name: string, body: object, field: string | null])[] = [
  ['a prompt that is too long', { messages: [user('word '.repeat(CONTEXT_TOKENS))] }, 'messages'],
  ['a field of a wrong type', { min_tokens: 'many' }, 'min_tokens'],
  ['an unknown choice of a field', { truncate_prompt_tokens: -7 }, 'truncate_prompt_tokens'],
];

describe.skipIf(!python)('vLLM', { timeout: REQUEST_MS }, () => {
  let chatUrl: string;
  let embeddingUrl: string;
  let transformersUrl: string;
  let servers: TinyServers;
  let platform: Platform;
  let account: TestAccount;

  beforeAll(async () => {
    servers = await TinyServers.begin(python);
    const { chat } = servers;
    chatUrl = await servers.serve(
      'vllm',
      ['serve', chat, '--served-model-name', 'chat', 'tiny-chat'],
      `--enforce-eager --max-model-len ${CONTEXT_TOKENS} --dtype bfloat16 --max-num-seqs 4 --enable-auto-tool-choice --tool-call-parser hermes --enable-prompt-tokens-details`,
    );
    embeddingUrl = await servers.serve(
      'vllm',
      ['serve', servers.embedding, '--served-model-name', 'embedding', 'tiny-embedding'],
      '--enforce-eager --dtype float32 --runner pooling --convert embed',
    );
    transformersUrl = await servers.serve('transformers', ['serve'], '--device cpu');
    const pricing = { input: 1, output: 1 };
    const limits = { contextTokens: CONTEXT_TOKENS, maxCompletionTokens: CONTEXT_TOKENS };
    const capabilities = {
      supportsFunctionCalling: true,
      supportsResponseSchema: true,
      supportsLogProbs: true,
    };
    platform = await Platform.start({
      models: [
        { id: 'chat', pricing, capabilities, ...limits, backends: [{ url: chatUrl, model: 'chat' }] },
        { id: 'transformers', pricing, ...limits, backends: [{ url: transformersUrl, model: chat }] },
        {
          id: 'embedding',
          type: 'embedding',
          name: 'embedding',
          tier: 'XS',
          embeddingDimensions: 64,
          maxInputTokens: 512,
          pricing: { input: 1, output: 0 },
          backends: [{ url: embeddingUrl, model: 'embedding' }],
        },
      ],
    });
    account = await platform.account('10.00');
  }, 3 * START_MS);

  afterAll(async () => {
    await platform?.stop();
    await servers?.stop();
  });

  const { direct, through } = bothWays(
    () => chatUrl,
    (body) => platform.chat(account.apiKey, body),
  );

  it('is found on this machine with what its models can do', async () => {
    const path = join(servers.folder, 'local-models.yaml');
    const catalogPath = platform.env['SVC_CATALOG'] ?? '';
    await offerLocalModels(path, await readCatalog(catalogPath), {
      servers: [chatUrl, embeddingUrl].map((url) => ({ name: 'vLLM', url })),
      secret: () => undefined,
    });
    const { models } = await readCatalog(catalogPath, path);
    expect(models.find(({ id }) => id === 'tiny-chat')).toMatchObject({
      type: 'text',
      contextTokens: CONTEXT_TOKENS,
      capabilities: { supportsFunctionCalling: true },
    });
    expect(models.find(({ id }) => id === 'tiny-embedding')).toMatchObject({
      type: 'embedding',
      embeddingDimensions: 64,
    });
  });

  it.each(PAIRS)('responds through the platform as it does directly: %s', async (_name, body) => {
    const theirs = (await (await direct(body)).json()) as Completion;
    const response = await through(body);
    expect(response.status).toBe(200);
    expect(comparable((await response.json()) as Completion)).toEqual(comparable(theirs));
  });

  it.each(PAIRS.filter(([, body]) => !('prompt_logprobs' in body)))(
    'streams through the platform as it does directly: %s',
    async (_name, body) => {
      const streamed = { ...body, stream: true, stream_options: { include_usage: true } };
      const theirs = gathered(await direct(streamed));
      const response = await through(streamed);
      expect(response.status).toBe(200);
      expect(await gathered(response)).toEqual(await theirs);
    },
  );

  it.each(REFUSED)(
    'is refused through the platform as directly, free of charge: %s',
    async (_name, body, field) => {
      const theirs = await direct(body);
      const ours = await through(body);
      expect([theirs.status, ours.status]).toEqual([400, 400]);
      const { error } = (await ours.json()) as { error: { param: string | null; message: string } };
      expect(error.param).toBe(field);
      expect(error.message).toMatch(/\w+ \w+/);
    },
  );

  it('turns texts into the same vectors', async () => {
    const body = JSON.stringify({ model: 'embedding', input: ['hello', 'world'] });
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${account.apiKey}` };
    const [theirs, ours] = await Promise.all(
      [embeddingUrl, platform.apiUrl].map(async (url) => {
        const response = await fetch(`${url}/embeddings`, { method: 'POST', headers, body });
        return (await response.json()) as {
          data: { embedding: number[] }[];
          usage: { prompt_tokens: number };
        };
      }),
    );
    expect(ours?.data.map(({ embedding }) => embedding)).toEqual(
      theirs?.data.map(({ embedding }) => embedding),
    );
    expect(ours?.usage.prompt_tokens).toBe(theirs?.usage.prompt_tokens);
  });

  it.each([false, true])('of transformers: a completion ends well (streamed: %s)', async (stream) => {
    const response = await through({ model: 'transformers', stream, seed: undefined });
    const text = await response.text();
    expect([response.status, text]).toEqual([200, expect.not.stringContaining('"error"')]);
    expect(text).toMatch(/"finish_reason":"(?:stop|length)"/);
    expect(text).toContain('"cost"');
  });

  it('leaves correct books', async () => {
    expect((await platform.audit()).body).toMatchObject({ ok: true });
  });
});
