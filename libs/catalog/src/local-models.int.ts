import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { CatalogFile } from '@svc/contracts/catalog';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { readCatalog } from './catalog-file.js';
import { Catalog } from './catalog.js';
import { type LocalServer, offerLocalModels } from './local-models.js';

const CATALOG = {
  models: [
    {
      id: 'known',
      name: 'Known',
      aliases: ['Also-Known'],
      contextTokens: 10,
      maxCompletionTokens: 10,
      pricing: { input: 1, output: 1 },
    },
  ],
  tiers: Object.fromEntries(
    ['XS', 'L'].map((tier) => [tier, { standard: { requestsPerMinute: 1, tokensPerMinute: 1 } }]),
  ),
};

let dir: string;
let servers: Server[];

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'svc-local-models-'));
  servers = [];
  await writeFile(join(dir, 'catalog.yaml'), stringify(CATALOG));
});

afterEach(async () => {
  for (const server of servers) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  await rm(dir, { recursive: true, force: true });
});

/** Responses by path; a function gets the parsed body of the request. */
type Routes = Readonly<Record<string, object | string | number | ((body: { model: string }) => unknown)>>;

/** A response with another status than 200. */
class Refused {
  constructor(
    readonly status: number,
    readonly body: object,
  ) {}
}

async function serve(routes: Routes): Promise<string> {
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const route = routes[request.url ?? ''];
      const value: unknown =
        typeof route === 'function' ? route(JSON.parse(body) as { model: string }) : route;
      if (value instanceof Refused) response.writeHead(value.status).end(JSON.stringify(value.body));
      else response.writeHead(value === undefined ? 404 : 200).end(JSON.stringify(value ?? {}));
    });
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

const listing = (...data: readonly unknown[]): Routes => ({ '/v1/models': { object: 'list', data } });

/** The models found on these servers, and the resulting catalogue. */
async function offered(
  ...urls: readonly string[]
): Promise<{ found: readonly LocalServer[]; catalog: Catalog }> {
  const path = join(dir, 'local-models.yaml');
  const named = urls.map((url, at) => ({ name: `Server ${at + 1}`, url }));
  const secret = (): undefined => undefined;
  const found = await offerLocalModels(path, CatalogFile.parse(CATALOG), { servers: named, secret });
  return { found, catalog: new Catalog(await readCatalog(join(dir, 'catalog.yaml'), path)) };
}

describe('the models of servers on this machine', () => {
  it('get the base name of a path as their id, and are requested by the full path', async () => {
    const url = await serve(listing({ id: '/models/My-Tiny.Q4.gguf' }, { id: 'models\\sub\\other.gguf' }));
    const { found, catalog } = await offered(url);
    expect(found).toMatchObject([{ models: ['My-Tiny.Q4.gguf', 'other.gguf'], skipped: [] }]);
    expect(catalog.text.find('My-Tiny.Q4')?.backends).toMatchObject([
      { url, model: '/models/My-Tiny.Q4.gguf' },
    ]);
    expect(catalog.text.find('other.gguf')?.backends).toMatchObject([{ model: 'models\\sub\\other.gguf' }]);
  });

  it('keep names such as org/model, and get an alias without `:latest`', async () => {
    const { catalog } = await offered(
      await serve(
        listing(
          { id: 'meta-llama/Llama-3.2-3B' },
          { id: 'tiny:latest' },
          { id: 'big:latest' },
          { id: 'big' },
        ),
      ),
    );
    expect(catalog.text.find('meta-llama/Llama-3.2-3B')?.backends[0]?.model).toBe('meta-llama/Llama-3.2-3B');
    expect(catalog.text.find('tiny')?.id).toBe('tiny:latest');
    expect(catalog.text.find('big')?.id).toBe('big');
  });

  it('are skipped one by one, with the reason', async () => {
    const many = Array.from({ length: 60 }, (_, at) => ({ id: `many-${at}` }));
    const first = await serve(
      listing(
        { id: 'My Model' },
        { id: 'known' },
        { id: 'also-known:latest' },
        { id: 'x'.repeat(300) },
        {},
        { id: 'good' },
      ),
    );
    const { found, catalog } = await offered(
      first,
      await serve(listing({ id: 'good' })),
      await serve(listing(...many)),
    );
    expect(found.map(({ models, skipped }) => [models.length, skipped])).toEqual([
      [
        2,
        [
          { name: 'My Model', reason: expect.stringContaining('letters, digits') as string },
          { name: 'known', reason: 'there is already a model known' },
          { name: 'x'.repeat(300), reason: 'its name has more than 256 characters' },
        ],
      ],
      [0, [{ name: 'good', reason: 'there is already a model good' }]],
      [50, [{ name: '10 more', reason: 'at most 50 models of a server are offered' }]],
    ]);
    expect(catalog.text.find('also-known')?.id).toBe('known');
    expect(catalog.text.find('good')?.backends[0]?.url).toBe(first);
  });

  it('are empty if no model server listens', async () => {
    const { found } = await offered(
      'http://127.0.0.1:1/v1',
      await serve({}),
      await serve({ '/v1/models': 'hello' }),
      await serve({ '/v1/models': { object: 'list', data: null } }),
    );
    expect(found).toEqual([]);
    expect(await readFile(join(dir, 'local-models.yaml'), 'utf8')).toContain('models: []');
  });

  describe('when a server requires a key', () => {
    /** A server that lists one model for the right key, and the catalogue with a backend there. */
    async function locked(denial: object, status = 401): Promise<{ url: string; known: object }> {
      const server = createServer((request, response) => {
        const isAllowed = request.headers.authorization === 'Bearer right';
        const list = { object: 'list', data: [{ id: 'behind-a-key' }] };
        response.writeHead(isAllowed ? 200 : status).end(JSON.stringify(isAllowed ? list : denial));
      });
      servers.push(server);
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
      const backends = [{ url: `${url}/`, model: 'x', apiKeyEnv: 'LOCKED_KEY' }];
      return { url, known: { ...CATALOG, models: [{ ...CATALOG.models[0], backends }] } };
    }

    const found = (url: string, catalog: object, key?: string): Promise<readonly LocalServer[]> =>
      offerLocalModels(join(dir, 'local-models.yaml'), CatalogFile.parse(catalog), {
        servers: [{ name: 'Locked', url }],
        secret: (name) => (name === 'LOCKED_KEY' ? key : undefined),
      });

    it.each([
      [401, { error: { message: 'Invalid API Key' } }],
      [401, { detail: 'Invalid API key' }],
      [403, { error: 'Forbidden' }],
    ])('are reported as skipped, with the setting that adds them: %i %j', async (status, denial) => {
      const { url } = await locked(denial, status);
      expect(await found(url, CATALOG)).toEqual([
        {
          name: 'Locked',
          url,
          models: [],
          skipped: [
            { name: 'all models', reason: expect.stringMatching(/wants a key.*apiKeyEnv/) as string },
          ],
        },
      ]);
    });

    it('are listed with the key of a configured backend', async () => {
      const { url, known } = await locked({ error: 'Unauthorized' });
      expect(await found(url, known, 'right')).toMatchObject([{ models: ['behind-a-key'], skipped: [] }]);
      const catalog = await readCatalog(join(dir, 'catalog.yaml'), join(dir, 'local-models.yaml'));
      expect(new Catalog(catalog).text.find('behind-a-key')?.backends).toMatchObject([
        { url, apiKeyEnv: 'LOCKED_KEY' },
      ]);
    });

    it.each([['wrong'], [undefined]])('are reported as skipped if the key is %s', async (key) => {
      const { url, known } = await locked({ error: 'Unauthorized' });
      const reason = expect.stringContaining('rejects the key in LOCKED_KEY') as string;
      expect(await found(url, known, key)).toMatchObject([{ models: [], skipped: [{ reason }] }]);
    });

    it('are not reported if another kind of program denies access', async () => {
      const { url } = await locked(['not a model server'], 403);
      expect(await found(url, CATALOG)).toEqual([]);
    });
  });

  it('are looked up only at the first start', async () => {
    const url = await serve(listing({ id: 'a' }));
    expect((await offered(url)).found).toHaveLength(1);
    expect((await offered(url)).found).toEqual([]);
  });
});

describe('the properties that a server reports', () => {
  const props = {
    default_generation_settings: { n_ctx: 8_192 },
    modalities: { vision: true, audio: false },
    chat_template_caps: { supports_tools: true, supports_tool_calls: true },
  };
  const shows: Readonly<Record<string, object>> = {
    'tools:latest': {
      capabilities: ['completion', 'tools', 'vision'],
      model_info: { 'general.architecture': 'qwen3', 'qwen3.context_length': 40_960 },
    },
    'plain:latest': {
      capabilities: ['completion'],
      parameters: 'stop "x"\nnum_ctx                        2048',
      model_info: { 'general.architecture': 'llama', 'llama.context_length': 131_072 },
    },
    'vectors:latest': { capabilities: ['embedding'] },
  };
  const studio = {
    data: [
      {
        id: 'vlm',
        type: 'vlm',
        capabilities: ['tool_use'],
        max_context_length: 131_072,
        loaded_context_length: 4_096,
      },
      { id: 'llm', type: 'llm', max_context_length: 32_768 },
      { id: 'embed', type: 'embeddings', max_context_length: 512 },
    ],
  };
  const ids = (...names: readonly string[]): Routes => listing(...names.map((id) => ({ id })));
  const vllm = listing({ id: 'm', owned_by: 'vllm', max_model_len: 40_960 });
  const NO_PARSER = new Refused(400, {
    error: {
      message: '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
    },
  });
  const CHAT: Routes = { '/v1/chat/completions': () => ({ choices: [{ message: { content: 'a' } }] }) };
  const routes = (...paths: readonly string[]): Routes => ({
    '/openapi.json': { paths: Object.fromEntries(paths.map((path) => [path, {}])) },
  });
  const vectors = (path = '/v1/embeddings'): Routes => ({
    [path]: () => ({ object: 'list', data: [{ index: 0, embedding: [0.1, 0.2, 0.3] }] }),
  });

  it.each([
    ['nothing', ids('m'), { m: [4_096, false, false] }],
    ['nonsense', { ...listing({ id: 'm', max_model_len: 'x' }), '/props': 7 }, { m: [4_096, false, false] }],
    ['a length', listing({ id: 'm', max_model_len: 40_960 }), { m: [40_960, false, false] }],
    ['vLLM', { ...vllm, ...CHAT }, { m: [40_960, true, false] }],
    [
      'vLLM without a parser of tools',
      { ...vllm, '/v1/chat/completions': () => NO_PARSER },
      { m: [40_960, false, false] },
    ],
    ['llama.cpp', { ...ids('m'), '/props': props }, { m: [8_192, true, true] }],
    [
      'llama.cpp of several',
      { ...ids('m', 'n'), '/props': props },
      { m: [4_096, false, false], n: [4_096, false, false] },
    ],
    [
      'Ollama',
      { ...ids(...Object.keys(shows)), '/api/show': ({ model }: { model: string }) => shows[model] },
      { 'tools:latest': [40_960, true, true], 'plain:latest': [2_048, false, false] },
    ],
    [
      'LM Studio',
      { ...ids('vlm', 'llm', 'embed'), '/api/v0/models': studio },
      { vlm: [4_096, true, true], llm: [32_768, false, false] },
    ],
  ])('set the context, tools and vision of a model: %s', async (_, routes, expected) => {
    const { catalog } = await offered(await serve(routes));
    const models = catalog.text.list.filter(({ id }) => id !== 'known');
    const read = models.map(({ id, contextTokens, maxCompletionTokens, capabilities }) => {
      expect(maxCompletionTokens).toBeLessThanOrEqual(contextTokens);
      return [
        id,
        [contextTokens, capabilities.supportsFunctionCalling, capabilities.supportsVision],
      ] as const;
    });
    expect(Object.fromEntries(read)).toEqual(expected);
  });

  it('names the kind of a server that needs it', async () => {
    const described = { '/openapi.json': { info: { title: '🦙 llama.cpp Python API' }, paths: {} } };
    const { catalog } = await offered(await serve({ ...ids('m'), ...described }));
    expect(catalog.text.find('m')?.backends).toMatchObject([{ kind: 'llama-cpp-python' }]);
  });

  it.each([
    ['vLLM, whose routes say so', { ...vllm, ...routes('/v1/models', '/v1/embeddings'), ...vectors() }, 'm'],
    [
      'vLLM, which refuses chats with it',
      {
        ...vllm,
        ...routes('/v1/chat/completions', '/v1/embeddings'),
        '/v1/chat/completions': () =>
          new Refused(400, { error: { message: 'The model does not support Chat Completions API' } }),
        ...vectors(),
      },
      'm',
    ],
    ['vLLM, which has no route for chats', { ...vllm, ...vectors() }, 'm'],
    [
      'infinity',
      {
        '/models': listing({ id: 'm', capabilities: ['embed'] })['/v1/models'] ?? {},
        ...vectors('/embeddings'),
      },
      'm',
    ],
    [
      'Ollama',
      { ...ids('vectors:latest'), '/api/show': ({ model }: { model: string }) => shows[model], ...vectors() },
      'vectors',
    ],
  ])('offer a model for embeddings with the length of its vectors: %s', async (_, served, name) => {
    const url = await serve(served);
    const { found, catalog } = await offered(url);
    expect(found).toMatchObject([{ models: [expect.stringContaining(name)], skipped: [] }]);
    expect(catalog.text.find(name)).toBeUndefined();
    const model = catalog.ofType('embedding').find(name);
    expect(model).toMatchObject({ embeddingDimensions: 3, pricing: { input: 0 } });
    expect(url).toContain(model?.backends[0]?.url);
  });

  it('leave out a model for embeddings that returns none', async () => {
    const { found } = await offered(await serve({ ...ids('m'), ...routes('/v1/embeddings') }));
    const reason = 'it makes embeddings, but returned none for a short text';
    expect(found).toMatchObject([{ models: [], skipped: [{ name: 'm', reason }] }]);
  });

  it('cost no call of a model whose server reports them, or that may be charged for', async () => {
    const called: string[] = [];
    const call = (body: { model: string }): object => {
      called.push(body.model);
      return {};
    };
    const all = { '/v1/chat/completions': call, '/v1/embeddings': call };
    await offered(
      await serve({ ...ids('hosted'), ...all, ...routes('/v1/chat/completions', '/v1/embeddings') }),
      await serve({ ...ids('m'), ...all, '/props': props }),
      await serve({ ...ids('tools:latest'), ...all, '/api/show': ({ model }) => shows[model] }),
    );
    expect(called).toEqual([]);
  });
});
