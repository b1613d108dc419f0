import { once } from 'node:events';
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { type IncomingMessage, type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Anthropic from '@anthropic-ai/sdk';
import type { ModelInfo } from '@anthropic-ai/sdk/resources/models';
import { CatalogFile } from '@svc/contracts/catalog';
import OpenAI from 'openai';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { pricedCatalog } from '../../test/priced-catalog.js';
import { type Added, type Addition, addModels } from './new-entries.js';

let dir: string;
let server: Server | undefined;
let requests: IncomingMessage[] = [];

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'svc-add-'));
  requests = [];
});

afterEach(async () => {
  server?.close();
  server?.closeAllConnections();
  server = undefined;
  await rm(dir, { recursive: true });
});

/** A provider that responds to each request with what its path and query have, and its base. */
async function provider(responses: Readonly<Record<string, object>>, status = 200): Promise<string> {
  server = createServer((request, response) => {
    requests.push(request);
    const body = responses[request.url ?? ''];
    response
      .writeHead(body ? status : 404, { 'content-type': 'application/json' })
      .end(JSON.stringify(body ?? {}));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const add = (url: string, options: Partial<Addition> = {}): Promise<Added> =>
  addModels({ kind: 'openai', url, apiKey: 'the-key', keyEnv: 'PROVIDER_KEY', only: [], ...options });

async function file(name: string, content: object | string): Promise<string> {
  const path = join(dir, name);
  await writeFile(path, typeof content === 'string' ? content : stringify(content));
  return path;
}

const yes = { supported: true };
const no = { supported: false };
const claude = (id: string, more: Partial<ModelInfo> = {}): ModelInfo =>
  ({
    id,
    type: 'model',
    created_at: '2026-02-01T00:00:00Z',
    deprecated_at: null,
    retires_at: null,
    lifecycle: 'active',
    line: null,
    display_name: `Claude: ${id}`,
    max_input_tokens: 200_000,
    max_tokens: 64_000,
    capabilities: {
      effort: { supported: true },
      image_input: yes,
      structured_outputs: yes,
      thinking: { supported: true, types: { adaptive: id.endsWith('old') ? no : yes } },
    },
    ...more,
  }) as ModelInfo;

it("makes entries of Anthropic's models from all pages, with their context and capabilities", async () => {
  const url = await provider({
    '/v1/models?limit=1000': {
      data: [claude('claude-b')],
      has_more: true,
      last_id: 'claude-b',
      first_id: '',
    },
    '/v1/models?limit=1000&after_id=claude-b': {
      data: [claude('claude-a-old'), claude('claude-gone', { lifecycle: 'retired' }), { no: 'model' }],
      has_more: false,
      last_id: 'claude-gone',
      first_id: '',
    },
  });
  const { text, lines } = await add(`${url}/v1`, { kind: 'anthropic' });
  const { models } = parse(text) as { models: object[] };
  expect(models).toEqual([
    {
      id: 'claude-a-old',
      name: 'Claude: claude-a-old',
      privacy: 'anonymized',
      contextTokens: 200_000,
      maxCompletionTokens: 64_000,
      capabilities: {
        supportsFunctionCalling: true,
        supportsVision: true,
        supportsMultipleImages: true,
        supportsResponseSchema: true,
        supportsReasoning: true,
        supportsReasoningEffort: true,
      },
      pricing: { input: null, output: null },
      backends: [
        {
          kind: 'anthropic',
          url: `${url}/v1`,
          model: 'claude-a-old',
          apiKeyEnv: 'PROVIDER_KEY',
          thinking: 'budget',
        },
      ],
    },
    expect.objectContaining({ id: 'claude-b' }),
  ]);
  expect(lines).toEqual(['claude-gone: the provider has retired it']);
  expect(requests.map(({ headers }) => headers['x-api-key'])).toEqual(['the-key', 'the-key']);
  expect(text).not.toContain('the-key');
  const sdk = new Anthropic({ apiKey: 'the-key', baseURL: url });
  const ids: string[] = [];
  for await (const { id } of sdk.models.list({ limit: 1_000 })) ids.push(id);
  expect(ids.filter(Boolean)).toEqual(['claude-b', 'claude-a-old', 'claude-gone']);
});

it('reads what others with the API of OpenAI say about a model, and leaves out what makes no text', async () => {
  const url = await provider({
    '/models': {
      object: 'list',
      data: [
        { id: 'gpt-9', object: 'model', created: 1, owned_by: 'x' },
        { id: 'text-embedding-9', object: 'model', created: 1, owned_by: 'x' },
        {
          id: 'lab/router',
          name: 'Router',
          context_length: 1_000,
          top_provider: { max_completion_tokens: 100 },
          architecture: { input_modalities: ['text', 'image'], output_modalities: ['text'] },
          supported_parameters: ['tools', 'logprobs'],
        },
        { id: 'lab/picture', architecture: { output_modalities: ['image'] } },
        { id: 'groq', context_window: 2_000, max_completion_tokens: 200, active: true },
        { id: 'paused', active: false },
        {
          id: 'mistral',
          max_context_length: 3_000,
          capabilities: { completion_chat: true, function_calling: true, vision: false },
        },
        { id: '\u001b[2Jodd', object: 'model' },
      ],
    },
  });
  const { text, lines } = await add(url);
  const { models } = parse(text) as { models: Record<string, unknown>[] };
  const brief = models.map((model) => [
    model['id'],
    model['contextTokens'],
    model['maxCompletionTokens'],
    model['capabilities'],
  ]);
  expect(brief).toEqual([
    ['gpt-9', null, null, undefined],
    ['groq', 2_000, 200, undefined],
    [
      'lab/router',
      1_000,
      100,
      {
        supportsFunctionCalling: true,
        supportsVision: true,
        supportsMultipleImages: true,
        supportsResponseSchema: false,
        supportsLogProbs: true,
        supportsReasoning: false,
        supportsReasoningEffort: false,
      },
    ],
    [
      'mistral',
      3_000,
      null,
      { supportsFunctionCalling: true, supportsVision: false, supportsMultipleImages: false },
    ],
  ]);
  expect(lines).toEqual([
    String.raw`"\u001b[2Jodd": its id has characters that ids of the catalogue cannot have`,
    'lab/picture: it does not make text',
    'paused: the provider does not offer it now',
    'text-embedding-9: it does not make text',
  ]);
  const sdk = new OpenAI({ apiKey: 'the-key', baseURL: url });
  expect((await sdk.models.list()).data).toHaveLength(8);
});

it('reads the lists of Gemini, of Bedrock and of Together', async () => {
  const gemini = {
    name: 'models/gemini-2.5-x',
    displayName: 'Gemini X',
    inputTokenLimit: 10,
    outputTokenLimit: 5,
    supportedGenerationMethods: ['generateContent'],
    thinking: true,
  };
  const bedrock = {
    modelId: 'a.b-v1:0',
    modelName: 'B',
    inputModalities: ['TEXT'],
    outputModalities: ['TEXT'],
  };
  const url = await provider({
    '/v1beta/models?pageSize=1000': { models: [gemini], nextPageToken: 'a b' },
    '/v1beta/models?pageSize=1000&pageToken=a%20b': {
      models: [{ ...gemini, name: 'models/e', supportedGenerationMethods: ['embedContent'] }],
    },
    '/foundation-models?byOutputModality=TEXT': {
      modelSummaries: [bedrock, { ...bedrock, modelId: 'p', inferenceTypesSupported: ['INFERENCE_PROFILE'] }],
    },
    '/together/models': [{ id: 't', type: 'chat', context_length: 7 }],
  });
  const found = [];
  for (const [kind, base] of [
    ['gemini', '/v1beta'],
    ['bedrock', ''],
    ['openai', '/together'],
  ] as const) {
    const { text, lines } = await add(`${url}${base}`, { kind });
    const { models } = parse(text) as { models: Record<string, unknown>[] };
    found.push(...models.map(({ id, name, contextTokens }) => [id, name, contextTokens]), ...lines);
  }
  expect(found).toEqual([
    ['gemini-2.5-x', 'Gemini X', 10],
    'e: it does not make text',
    ['a.b-v1:0', 'B', null],
    'p: it needs an inference profile, whose id is then the model of the backend',
    ['t', 't', 7],
  ]);
});

const three = {
  '/models': { data: ['alpha-1', 'alpha-2', 'beta'].map((id) => ({ id, context_length: 100 })) },
};

it('appends complete entries to a catalogue, keeps its comments, and leaves the others out', async () => {
  const url = await provider(three);
  const into = await file('catalog.yaml', `# Ours.\n${stringify(pricedCatalog())}`);
  const whole = { maxCompletionTokens: 10, pricing: { input: 1, output: 2 } };
  const prices = await file('prices.yaml', { 'alpha-1': whole, 'alpha-2': { pricing: {} }, gamma: whole });
  const first = await add(url, { into, prices, only: ['alpha-*', 'delta'] });
  expect(first).toMatchObject({ text: '', ids: ['alpha-1'] });
  expect(first.lines).toEqual([
    'delta: the key can use no such model',
    'gamma: has a price, but is not in the list',
    expect.stringMatching(/^alpha-2: is incomplete \(.*maxCompletionTokens: .*pricing\.input: /),
  ]);
  const text = await readFile(into, 'utf8');
  expect(text).toMatch(/^# Ours\.\n/);
  const { models } = CatalogFile.parse(parse(text));
  expect(models.at(-1)).toMatchObject({
    id: 'alpha-1',
    contextTokens: 100,
    pricing: { input: 1, output: 2 },
  });
  const again = await add(url, { into, prices, only: ['alpha-1'] });
  expect(again.ids).toEqual([]);
  expect(again.lines).toContain('alpha-1: is in the catalogue already');
  await expect(readFile(into, 'utf8')).resolves.toBe(text);
  await expect(readdir(dir)).resolves.toEqual(['catalog.yaml', 'prices.yaml']);
});

it('changes nothing if the catalogue would be broken with the new entries', async () => {
  const url = await provider(three);
  const text = stringify(pricedCatalog());
  const into = await file('catalog.yaml', text);
  const prices = await file('prices.yaml', {
    beta: { maxCompletionTokens: 10, pricing: { input: 1, output: 2 }, tier: 'M' },
  });
  await expect(add(url, { into, prices })).rejects.toThrow(/tier/);
  await expect(readFile(into, 'utf8')).resolves.toBe(text);
});

it.each([
  ['refuses the key', 401, /refuses the key \(401\)/],
  ['fails', 500, /responds with 500/],
  ['responds with something else', 200, /no list of models/],
])('says so if the provider %s, without the key', async (_case, status, message) => {
  const url = await provider({ '/models': { error: 'the-key' } }, status);
  await expect(add(url)).rejects.toThrow(message);
  await expect(add(url)).rejects.not.toThrow(/the-key/);
});

it('appends entries whose price is that of the provider with a markup', async () => {
  const url = await provider(three);
  const into = await file('catalog.yaml', stringify(pricedCatalog()));
  const providerPricing = { input: 1.5, output: 2 };
  const whole = { maxCompletionTokens: 10, providerPricing, markup: 1.2 };
  const prices = await file('prices.yaml', { 'alpha-1': whole, 'alpha-2': { ...whole, markup: undefined } });
  const { ids, lines } = await add(url, { into, prices, only: ['alpha-*'] });
  expect(ids).toEqual(['alpha-1']);
  expect(lines).toEqual([expect.stringMatching(/^alpha-2: is incomplete/)]);
  const { models } = CatalogFile.parse(parse(await readFile(into, 'utf8')));
  expect(models.at(-1)).toMatchObject({ providerPricing, markup: 1.2, pricing: { input: 1.8, output: 2.4 } });
});
