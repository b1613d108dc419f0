import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type Simulator, startSimulator } from '@svc/simulator';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { repeats } from '@svc/testing';
import { errorOf, eventually } from '../response-bodies.js';
import { Platform, type TestAccount } from '../platform.js';
import { evmWallet, signedInAt } from '../wallets.js';

/** USD per million tokens: a token costs 0.0001 USD. */
const PRICE = 100;

interface Reply {
  readonly id: string;
  readonly model: string;
  readonly results: readonly { index: number; relevance_score: number; document?: { text: string } }[];
  readonly usage: { readonly prompt_tokens: number; readonly total_tokens: number };
  readonly meta: {
    readonly billed_units: { readonly input_tokens?: number; readonly search_units?: number };
  };
  readonly cost: { readonly usd: number; readonly diem: number };
}

interface ServerCall {
  readonly path: string;
  readonly body: {
    readonly documents?: string[];
    readonly texts?: string[];
    readonly [name: string]: unknown;
  };
}

/** What a fake server responds with, and what it was calls. */
let answer: (call: ServerCall) => { status?: number; headers?: Record<string, string>; body: unknown };
let calls: ServerCall[] = [];
let fake: Server;
let fakeUrl: string;
let backend: Simulator;
let platform: Platform;
let account: TestAccount;

function model(id: string, backends: readonly object[], more: object = {}): object {
  return { id, name: id, type: 'rerank', tier: 'XS', pricing: { input: PRICE }, backends, ...more };
}

beforeAll(async () => {
  backend = await startSimulator({ port: 0 });
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    // The check of its health.
    if (request.method === 'GET') return void response.end('{}');
    const body = JSON.parse(await text(request)) as ServerCall['body'];
    calls.push({ path: request.url ?? '', body });
    const { status = 200, headers = {}, body: sent } = answer({ path: request.url ?? '', body });
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof sent === 'string' ? sent : JSON.stringify(sent));
  };
  fake = createServer((request, response) => void respond(request, response));
  await new Promise<void>((resolve) => fake.listen(0, '127.0.0.1', resolve));
  fakeUrl = `http://127.0.0.1:${(fake.address() as AddressInfo).port}`;
  const simulated = { url: `${backend.url}/v1`, model: 'rerank' };
  const bad = { url: `${fakeUrl}/v1`, model: 'bad', weight: 1e9 };
  platform = await Platform.start({
    models: [
      model('ranks', [simulated], { aliases: ['rerank-v3.5'] }),
      model('free', [simulated], { pricing: { input: 0 } }),
      model('small', [simulated], { maxInputTokens: 8 }),
      model('jina', [{ url: `${fakeUrl}/v1`, model: 'j' }]),
      model('saved', [bad, { ...simulated, weight: 1e-9 }]),
      model('tei', [{ kind: 'tei', url: fakeUrl, model: 't', maxBatch: 2 }]),
      model('cohere', [{ kind: 'cohere', url: `${fakeUrl}/v2`, model: 'c' }], {
        pricing: { perSearch: 0.002 },
      }),
      model('sold', [{ kind: 'cohere', url: `${fakeUrl}/v2`, model: 'c' }], { pricing: { input: 0.123 } }),
      model('paid', [simulated], { paidOnly: true }),
    ],
  });
  account = await platform.account('1000.00');
});
afterAll(async () => {
  await platform.stop();
  await backend.close();
  await new Promise((resolve) => fake.close(resolve));
});

function post(body: object, apiKey = account.apiKey): Promise<Response> {
  return fetch(`${platform.apiUrl}/rerank`, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
  });
}

async function rank(body: object, apiKey?: string): Promise<Reply> {
  const response = await post(body, apiKey);
  expect(response.status).toBe(200);
  return (await response.json()) as Reply;
}

const DOCUMENTS = ['a red house', 'the blue sea', 'a lighthouse by the sea'];
const query = 'lighthouse sea';

/** A score for each document, in the form of Jina and Cohere. */
const scored = (documents: readonly unknown[] = [], more: object = {}) => ({
  results: documents.map((_, index) => ({ index, relevance_score: 1 / (index + 1) })),
  ...more,
});

describe('POST /rerank', () => {
  it('ranks documents, the most relevant first, and charges the tokens of each with the query', async () => {
    const own = await platform.account('1.00');
    const response = await post({ model: 'rerank-v3.5', query, documents: DOCUMENTS }, own.apiKey);
    expect(response.status).toBe(200);
    const reply = (await response.json()) as Reply;
    expect(reply.results).toEqual([
      { index: 2, relevance_score: 1 },
      { index: 1, relevance_score: 0.5 },
      { index: 0, relevance_score: 0 },
    ]);
    const { prompt_tokens: tokens } = reply.usage;
    expect(reply).toMatchObject({
      model: 'ranks',
      usage: { total_tokens: tokens },
      meta: { billed_units: { input_tokens: tokens } },
    });
    expect(tokens).toBeGreaterThan(10);
    expect(reply.cost.usd).toBeCloseTo(tokens / 10_000, 9);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'x-svc-model-id': 'ranks',
      'x-svc-balance-usd': '1.00',
    });
    const left = (1 - tokens / 10_000).toFixed(4);
    await eventually(
      'it is charged',
      async () => Number((await platform.balances(own.id)).usd) === Number(left),
    );
    expect(await platform.audit()).toMatchObject({ body: { ok: true } });
  });

  it('returns as many results as requested, and the documents if requested', async () => {
    const documents = [DOCUMENTS[0], { text: DOCUMENTS[2], title: 'ignored' }];
    const { results } = await rank({ model: 'ranks', query, documents, top_n: 1, return_documents: true });
    expect(results).toEqual([{ index: 1, relevance_score: 1, document: { text: DOCUMENTS[2] } }]);
    expect((await rank({ model: 'ranks', query, documents, top_n: 9 })).results).toHaveLength(2);
  });

  it('adds the request to the billing rows, with its tokens or searches', async () => {
    const own = await platform.account('1.00');
    answer = ({ body }) => ({
      body: scored(body.documents, { meta: { billed_units: { search_units: 1 } } }),
    });
    await rank({ model: 'cohere', query, documents: DOCUMENTS }, own.apiKey);
    const admin = await platform.operator('POST', `/accounts/${own.id}/api_keys`, {
      apiKeyType: 'ADMIN',
      description: '',
    });
    const rows = async (): Promise<unknown> => {
      const response = await fetch(`${platform.apiUrl}/billing/usage`, {
        headers: { authorization: `Bearer ${String(admin.body['apiKey'])}` },
      });
      return ((await response.json()) as { data: unknown }).data;
    };
    await eventually('it is there', async () => ((await rows()) as unknown[]).length === 1);
    expect(await rows()).toMatchObject([{ sku: 'cohere-rerank-search', amount: -0.002, units: 1 }]);
  });

  it('charges nothing for a free model, and serves a wallet', async () => {
    expect((await rank({ model: 'free', query, documents: DOCUMENTS })).cost).toEqual({ usd: 0, diem: 0 });
    const wallet = evmWallet();
    const { body } = await platform.operator('POST', '/accounts', { name: 'w', wallet: wallet.address });
    await platform.operator('POST', `/accounts/${String(body['id'])}/credits`, {
      usd: '1.00',
      reference: 'r',
    });
    const response = await fetch(`${platform.apiUrl}/rerank`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(await signedInAt(platform.rootUrl, wallet)) },
      body: JSON.stringify({ model: 'ranks', query, documents: DOCUMENTS }),
    });
    expect(response.status).toBe(200);
  });

  it('is made and charged once with an Idempotency-Key', async () => {
    const own = await platform.account('1.00');
    const send = () =>
      fetch(`${platform.apiUrl}/rerank`, {
        method: 'POST',
        body: JSON.stringify({ model: 'ranks', query, documents: DOCUMENTS }),
        headers: {
          authorization: `Bearer ${own.apiKey}`,
          'content-type': 'application/json',
          'idempotency-key': 'once',
        },
      });
    const first = await (await send()).text();
    const balance = (await platform.balances(own.id)).usd;
    const again = await send();
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(await again.text()).toBe(first);
    expect((await platform.balances(own.id)).usd).toBe(balance);
  });

  it("takes requests in the form of Cohere's client, and responds with what it reads", async () => {
    const response = await fetch(`${platform.apiUrl}/rerank`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${account.apiKey}`,
        'content-type': 'application/json',
        'x-fern-language': 'JavaScript',
        'x-fern-sdk-name': 'cohere-ai',
      },
      body: JSON.stringify({
        model: 'rerank-v3.5',
        query,
        documents: DOCUMENTS,
        top_n: 2,
        max_tokens_per_doc: 64,
      }),
    });
    const { id, results, meta } = (await response.json()) as Reply;
    expect([id.length > 0, results.map(({ index }) => index), typeof meta.billed_units]).toEqual([
      true,
      [2, 1],
      'object',
    ]);
  });
});

describe('a kind of server', () => {
  it('gets its own form: Text Embeddings Inference, in batches', async () => {
    calls = [];
    answer = ({ body: { texts = [] } }) => ({
      body: texts.map((one, index) => ({ index, score: one.length / 100 })),
      headers: { 'x-compute-tokens': '5' },
    });
    const reply = await rank({ model: 'tei', query, documents: DOCUMENTS, truncate: true, raw_scores: true });
    expect(reply.results.map(({ index }) => index)).toEqual([2, 1, 0]);
    expect(reply.usage.prompt_tokens).toBe(10);
    const sent = calls.map(({ path, body }) => [path, body]);
    expect(sent).toHaveLength(2);
    expect(sent).toContainEqual([
      '/rerank',
      { model: 't', query, texts: DOCUMENTS.slice(0, 2), truncate: true },
    ]);
  });

  it('gets its own form: Cohere, whose searches are priced', async () => {
    calls = [];
    answer = ({ body }) => ({
      body: scored(body.documents, { meta: { billed_units: { search_units: 2 } } }),
    });
    const documents = Array.from({ length: 101 }, (_, at) => `document ${at}`);
    const reply = await rank({ model: 'cohere', query, documents, max_tokens_per_doc: 99, priority: 1 });
    expect(calls).toEqual([
      { path: '/v2/rerank', body: { model: 'c', query, documents, max_tokens_per_doc: 99 } },
    ]);
    expect([reply.meta.billed_units, reply.cost.usd]).toEqual([{ search_units: 2 }, 0.004]);
  });

  it.each([0, 3, 1e9, undefined])(
    'that counts impossible searches is charged for the documents: %s',
    async (searches) => {
      answer = ({ body }) => ({
        body: scored(body.documents, { meta: { billed_units: { search_units: searches } } }),
      });
      const reply = await rank({ model: 'cohere', query, documents: DOCUMENTS });
      expect(reply.cost.usd).toBe(0.002);
    },
  );

  it.each([0, 1, 1e9, undefined])(
    'that counts impossible tokens is charged for an estimate: %s',
    async (tokens) => {
      answer = ({ body }) => ({ body: scored(body.documents, { usage: { prompt_tokens: tokens } }) });
      const documents = Array.from({ length: 40 }, () =>
        'This text has far too many words for one token. '.repeat(9),
      );
      const { usage } = await rank({ model: 'jina', query, documents });
      expect(usage.prompt_tokens).toBeGreaterThan(1_500);
      expect(usage.prompt_tokens).toBeLessThan(9_000);
    },
  );

  const row = (index: number, relevance_score: unknown) => ({ index, relevance_score });
  it.each([
    ['NaN', '{"results":[{"index":0,"relevance_score":NaN},{"index":1,"relevance_score":1}]}'],
    ['a result missing', { results: [row(0, 1)] }],
    ['an index twice', { results: [row(0, 1), row(0, 1)] }],
    ['an index out of range', { results: [row(0, 1), row(2, 1)] }],
    ['an error with status 200', { error: { message: 'out of memory', code: 500 } }],
    ['no JSON', '<html>'],
    ['nothing', ''],
  ])('costs nothing with a wrong response, and the next one is called: %s', async (_, body) => {
    const own = await platform.account('1.00');
    answer = () => ({ body });
    const failed = await post({ model: 'jina', query, documents: ['a', 'b'] }, own.apiKey);
    expect(failed.status).toBeGreaterThanOrEqual(500);
    expect((await platform.balances(own.id)).usd).toBe('1.00');
    const { results } = await rank({ model: 'saved', query, documents: ['a', query] }, own.apiKey);
    expect(results.map(({ index }) => index)).toEqual([1, 0]);
  });

  it('is charged to the nano-dollar for what it counts', async () => {
    const own = await platform.account('100.00');
    let charged = 0n;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.lorem({ maxCount: 30 }), { minLength: 1, maxLength: 12 }),
        fc.double({ min: 0.6, max: 1, noNaN: true }),
        async (documents, share) => {
          const bytes = documents.reduce((sum, one) => sum + one.length + query.length, 0);
          const tokens = Math.max(1, Math.floor(bytes * share));
          answer = ({ body }) => ({ body: scored(body.documents, { usage: { prompt_tokens: tokens } }) });
          const { usage, cost } = await rank({ model: 'sold', query, documents }, own.apiKey);
          // 0.123 USD per million tokens are 123 nano-dollars each.
          const nano = BigInt(tokens) * 123n;
          charged += nano;
          expect([usage.prompt_tokens, Math.round(cost.usd * 1e9)]).toEqual([tokens, Number(nano)]);
        },
      ),
      { numRuns: repeats('INPUT_USAGES') },
    );
    const left = 100_000_000_000n - charged;
    const shown = `${left / 1_000_000_000n}.${String(left % 1_000_000_000n).padStart(9, '0')}`;
    await eventually(
      'all is charged',
      async () => Number((await platform.balances(own.id)).usd) === Number(shown),
    );
    expect(await platform.audit()).toMatchObject({ body: { ok: true } });
  });
});

describe('a request to rank', () => {
  it.each([
    [{ query, documents: ['a'] }, 'model'],
    [{ model: 'ranks', documents: ['a'] }, 'query'],
    [{ model: 'ranks', query: '', documents: ['a'] }, 'query'],
    [{ model: 'ranks', query }, 'documents'],
    [{ model: 'ranks', query, documents: [] }, 'documents'],
    [{ model: 'ranks', query, documents: ['a', 1] }, 'documents.1'],
    [{ model: 'ranks', query, documents: ['a', { title: 'b' }] }, 'documents.1.text'],
    [{ model: 'ranks', query, documents: Array.from({ length: 1_001 }, () => 'a') }, 'documents'],
    [{ model: 'ranks', query, documents: ['a'], top_n: 0 }, 'top_n'],
    [{ model: 'ranks', query, documents: ['a'], return_documents: 'yes' }, 'return_documents'],
    [{ model: 'ranks', query, documents: ['a'], Documents: ['b'] }, 'Documents'],
    [{ model: 'small', query: 'a', documents: ['a', 'this is a much longer text'] }, 'documents.1'],
    [{ model: 'small', query: 'this is a much longer query', documents: ['a'] }, 'query'],
  ])('is refused with the name of its invalid field: %#', async (body, param) => {
    const response = await post(body);
    expect(response.status).toBe(400);
    expect((await errorOf(response)).error.param).toBe(param);
  });

  it.each([
    ['test-model', 404, 'MODEL_NOT_FOUND'],
    ['nothing', 404, 'MODEL_NOT_FOUND'],
  ])('for the model %s is rejected', async (id, status, code) => {
    const response = await post({ model: id, query, documents: ['a'] });
    expect(response.status).toBe(status);
    expect((await errorOf(response)).code).toBe(code);
  });

  it('that a backend refuses names the documents if they are too long', async () => {
    answer = () => ({
      status: 400,
      body: {
        error: {
          message: "This model's maximum context length is 512 tokens.",
          code: 'context_length_exceeded',
        },
      },
    });
    const refused = await errorOf(await post({ model: 'jina', query, documents: ['a'] }));
    expect([refused.code, refused.error.param]).toEqual(['TOO_MANY_TOKENS', 'documents']);
  });

  it('that its account cannot pay is refused', async () => {
    const { apiKey } = await platform.account('0.0001');
    const refused = await post({ model: 'ranks', query, documents: DOCUMENTS }, apiKey);
    expect((await errorOf(refused)).code).toBe('INSUFFICIENT_BALANCE');
  });
});
