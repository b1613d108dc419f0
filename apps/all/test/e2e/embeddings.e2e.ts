import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { OpenAIEmbeddings } from '@langchain/openai';
import { type Simulator, startSimulator } from '@svc/simulator';
import { embedMany } from 'ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorOf, eventually } from '../response-bodies.js';
import { Platform, type TestAccount } from '../platform.js';
import { evmWallet, signedInAt } from '../wallets.js';

/** USD per million tokens: a token costs 0.0001 USD. */
const PRICE = 100;

interface Reply {
  readonly data: readonly { readonly index: number; readonly embedding: readonly number[] | string }[];
  readonly usage: { readonly prompt_tokens: number; readonly total_tokens: number };
  readonly cost: { readonly usd: number };
}

let backend: Simulator;
let platform: Platform;
let account: TestAccount;

/** A model with one simulated backend per entry of `settings`. */
function model(id: string, settings: readonly string[] = [''], more: object = {}): object {
  return {
    id,
    name: id,
    type: 'embedding',
    tier: 'XS',
    embeddingDimensions: 8,
    pricing: { input: PRICE },
    backends: settings.map((setting, at) => ({
      url: `${backend.url}/v1`,
      model: `embed;dimensions=8${setting}`,
      // Makes it practically certain that the first one is called first.
      weight: at === 0 ? 1e9 : 1e-9,
    })),
    ...more,
  };
}

const FAULTS = ['count', 'length', 'nan', 'twice', '500', '503', '404'] as const;

beforeAll(async () => {
  backend = await startSimulator({ port: 0 });
  platform = await Platform.start({
    models: [
      model('vectors', [''], { aliases: ['text-embedding-ada-002'] }),
      model('custom', [''], { supportsCustomDimensions: true }),
      model('small', [''], { maxInputTokens: 4 }),
      model('floats', [';fault=floats,shuffled']),
      model('batches', [';max-batch=32']),
      model('paid', [''], { paidOnly: true }),
      model('free', [''], { pricing: { input: 0 } }),
      model('no-usage', [';fault=no-usage']),
      model('under', [';fault=under']),
      model('over', [';fault=over']),
      model('refuses', [';fault=400']),
      model('slow', [';delay-ms=600000']),
      ...FAULTS.map((fault) => model(`fault-${fault}`, [`;fault=${fault}`])),
      ...FAULTS.map((fault) => model(`saved-${fault}`, [`;fault=${fault}`, ''])),
    ],
  });
  account = await platform.account('100.00');
});
afterAll(async () => {
  await platform.stop();
  await backend.close();
});

function post(body: object, init: RequestInit & { apiKey?: string } = {}): Promise<Response> {
  const { apiKey = account.apiKey, ...rest } = init;
  return fetch(`${platform.apiUrl}/embeddings`, {
    method: 'POST',
    body: JSON.stringify(body),
    ...rest,
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...rest.headers },
  });
}

async function embed(body: object): Promise<Reply> {
  const response = await post(body);
  expect(response.status).toBe(200);
  return (await response.json()) as Reply;
}

const vectorsOf = ({ data }: Reply) => data.map(({ embedding }) => embedding);

describe('POST /embeddings', () => {
  it('converts a text to a vector and charges its tokens', async () => {
    const own = await platform.account('1.00');
    const response = await post({ model: 'vectors', input: 'one two three' }, { apiKey: own.apiKey });
    expect(response.status).toBe(200);
    const reply = (await response.json()) as Reply;
    expect(reply).toEqual({
      object: 'list',
      model: 'vectors',
      data: [{ object: 'embedding', index: 0, embedding: expect.any(Array) }],
      usage: { prompt_tokens: 3, total_tokens: 3 },
      cost: { usd: 0.0003, diem: 0 },
    });
    const [vector] = vectorsOf(reply) as number[][];
    expect(vector).toHaveLength(8);
    expect(Math.hypot(...(vector ?? []))).toBeCloseTo(1, 5);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'x-svc-model-id': 'vectors',
      'x-svc-model-router': 'backend-1',
      'x-ratelimit-type': 'user',
      'x-svc-balance-usd': '1.00',
    });
    await eventually('it is charged', async () => (await platform.balances(own.id)).usd === '0.9997');
    expect(await platform.audit()).toMatchObject({ body: { ok: true } });
  });

  it('adds the request to the billing rows, with its tokens', async () => {
    const own = await platform.account('1.00');
    const admin = await platform.operator('POST', `/accounts/${own.id}/api_keys`, {
      apiKeyType: 'ADMIN',
      description: '',
    });
    await post({ model: 'vectors', input: 'one two three' }, { apiKey: own.apiKey });
    const rows = async (): Promise<Record<string, unknown>[]> => {
      const response = await fetch(`${platform.apiUrl}/billing/usage`, {
        headers: { authorization: `Bearer ${String(admin.body['apiKey'])}` },
      });
      return ((await response.json()) as { data: Record<string, unknown>[] }).data;
    };
    await eventually('it is there', async () => (await rows()).length === 1);
    expect(await rows()).toMatchObject([
      { sku: 'vectors-embedding-input-mtoken', amount: -0.0003, units: 0.000003 },
    ]);
  });

  it('keeps the order of the texts, even if the backend does not', async () => {
    const input = ['alpha', 'beta', 'gamma', '', 'alpha'];
    const expected = vectorsOf(await embed({ model: 'vectors', input }));
    expect(expected[0]).toEqual(expected[4]);
    expect(expected[0]).not.toEqual(expected[1]);
    expect(vectorsOf(await embed({ model: 'floats', input }))).toEqual(expected);
  });

  it('encodes vectors in base64, whatever encoding the backend sends', async () => {
    for (const id of ['vectors', 'floats']) {
      const input = ['alpha', 'beta'];
      const numbers = vectorsOf(await embed({ model: id, input }));
      const encoded = vectorsOf(await embed({ model: id, input, encoding_format: 'base64' })) as string[];
      const decoded = encoded.map((text) => {
        const bytes = Buffer.from(text, 'base64');
        return Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readFloatLE(at * 4));
      });
      expect(decoded).toEqual(numbers);
    }
  });

  it('splits batches that are too large for a backend, up to 2,048 texts', async () => {
    const input = Array.from({ length: 2_048 }, (_, at) => `text ${at}`);
    const reply = await embed({ model: 'batches', input });
    expect(reply.data.map(({ index }) => index)).toEqual(input.map((_, at) => at));
    const [last] = vectorsOf(await embed({ model: 'batches', input: 'text 2047' }));
    expect(reply.data.at(-1)?.embedding).toEqual(last);
  });

  it('compresses for clients that accept it', async () => {
    const { headers } = await post(
      { model: 'vectors', input: 'a' },
      { headers: { 'accept-encoding': 'br' } },
    );
    expect(headers.get('content-encoding')).toBe('br');
  });

  it('returns shorter vectors if the model supports it', async () => {
    const reply = await embed({ model: 'custom', input: 'a', dimensions: 4 });
    expect(vectorsOf(reply)[0]).toHaveLength(4);
  });

  it('charges nothing for a free model', async () => {
    expect((await embed({ model: 'free', input: 'a b c' })).cost).toEqual({ usd: 0, diem: 0 });
  });

  it('serves a wallet', async () => {
    const wallet = evmWallet();
    const { body } = await platform.operator('POST', '/accounts', { name: 'w', wallet: wallet.address });
    await platform.operator('POST', `/accounts/${String(body['id'])}/credits`, {
      usd: '1.00',
      reference: 'r',
    });
    const response = await fetch(`${platform.apiUrl}/embeddings`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(await signedInAt(platform.rootUrl, wallet)) },
      body: JSON.stringify({ model: 'vectors', input: 'one two' }),
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-balance-remaining')).toBe('0.9998');
  });
});

describe("a backend's token count", () => {
  const input = 'This text has far too many words for a count of one token to be true. '.repeat(40);

  it.each(['no-usage', 'under', 'over'])('is replaced if it cannot be true: %s', async (id) => {
    const { usage } = await embed({ model: id, input });
    const { usage: right } = await embed({ model: 'vectors', input });
    expect(usage.prompt_tokens).toBeGreaterThan(right.prompt_tokens / 5);
    expect(usage.prompt_tokens).toBeLessThan(right.prompt_tokens * 5);
  });
});

describe('a request for embeddings', () => {
  it.each([
    [{ input: 'a' }, 'model'],
    [{ model: 'vectors' }, 'input'],
    [{ model: 'vectors', input: '' }, 'input'],
    [{ model: 'vectors', input: [] }, 'input'],
    [{ model: 'vectors', input: Array.from({ length: 2_049 }, () => 'a') }, 'input'],
    [{ model: 'vectors', input: 'a', encoding_format: 'hex' }, 'encoding_format'],
    [{ model: 'vectors', input: 'a', dimensions: 0 }, 'dimensions'],
    [{ model: 'vectors', input: 'a', dimensions: 4 }, 'dimensions'],
    [{ model: 'custom', input: 'a', dimensions: 9 }, 'dimensions'],
    [{ model: 'small', input: ['a', 'this is a longer text'] }, 'input.1'],
  ])('is refused with the name of its invalid field: %#', async (body, param) => {
    const response = await post(body);
    expect(response.status).toBe(400);
    expect((await errorOf(response)).error.param).toBe(param);
  });

  it.each([[[1, 2, 3]], [[[1, 2, 3]]]])(
    "with arrays of tokens is refused, naming LangChain's setting: %j",
    async (input) => {
      const {
        error: { message },
      } = await errorOf(await post({ model: 'vectors', input }));
      expect(message).toContain(
        'Token array inputs are not supported. Pass a string or an array of strings.',
      );
      expect(message).toContain('check_embedding_ctx_length=False');
    },
  );

  it.each([
    ['test-model', 404, 'MODEL_NOT_FOUND'],
    ['nothing', 404, 'MODEL_NOT_FOUND'],
    ['refuses', 400, 'INVALID_REQUEST'],
  ])('for the model %s is rejected', async (id, status, code) => {
    const response = await post({ model: id, input: 'a' });
    expect(response.status).toBe(status);
    expect((await errorOf(response)).code).toBe(code);
  });

  it('for a paid model is refused for an unpaid account', async () => {
    const { apiKey } = await platform.account('1.00', { paid: false });
    expect((await errorOf(await post({ model: 'paid', input: 'a' }, { apiKey }))).code).toBe(
      'PRO_ONLY_MODEL',
    );
  });

  it('that its account cannot pay is refused', async () => {
    const { apiKey } = await platform.account('0.0001');
    const before = backend.stats().served;
    const refused = await post({ model: 'vectors', input: 'one two three' }, { apiKey });
    expect((await errorOf(refused)).code).toBe('INSUFFICIENT_BALANCE');
    expect(backend.stats().served).toBe(before);
  });

  it('costs nothing if its client disconnects', async () => {
    const own = await platform.account('1.00');
    const abort = new AbortController();
    const request = post({ model: 'slow', input: 'a' }, { apiKey: own.apiKey, signal: abort.signal });
    const spendable = async () => (await platform.balances(own.id)).usd;
    setTimeout(() => abort.abort(), 300);
    await expect(request).rejects.toThrow(/abort/i);
    const next = await post({ model: 'vectors', input: 'a' }, { apiKey: own.apiKey });
    expect(next.status).toBe(200);
    await eventually('only the second is charged', async () => (await spendable()) === '0.9999');
  });
});

describe('a backend', () => {
  it.each(FAULTS)('costs nothing with a wrong response: %s', async (fault) => {
    const own = await platform.account('1.00');
    const response = await post({ model: `fault-${fault}`, input: ['a', 'b'] }, { apiKey: own.apiKey });
    expect(response.status).toBeGreaterThanOrEqual(500);
    expect((await platform.balances(own.id)).usd).toBe('1.00');
  });

  it.each(FAULTS)('is replaced by the next after a wrong response: %s', async (fault) => {
    const input = ['a', 'b'];
    const { data } = await embed({ model: `saved-${fault}`, input });
    expect(data).toEqual((await embed({ model: 'vectors', input })).data);
  });
});

describe('a client', () => {
  it('openai gets the same numbers by default as with `float`', async () => {
    const input = ['alpha', 'beta'];
    const { openai } = account;
    const byDefault = await openai.embeddings.create({ model: 'text-embedding-ada-002', input });
    const floats = await openai.embeddings.create({ model: 'vectors', input, encoding_format: 'float' });
    expect(byDefault.data).toEqual(floats.data);
    expect(byDefault.model).toBe('vectors');
    expect(byDefault.data[0]?.embedding).toHaveLength(8);
  });

  it('AI SDK embeds many texts', async () => {
    const provider = createOpenAICompatible({
      name: 'svc',
      baseURL: platform.apiUrl,
      apiKey: account.apiKey,
    });
    const { embeddings, usage } = await embedMany({
      model: provider.embeddingModel('vectors'),
      values: ['alpha', 'beta'],
    });
    expect(embeddings.map(({ length }) => length)).toEqual([8, 8]);
    expect(usage.tokens).toBeGreaterThan(0);
  });

  it('LangChain embeds documents and a query', async () => {
    const embeddings = new OpenAIEmbeddings({
      model: 'vectors',
      apiKey: account.apiKey,
      configuration: { baseURL: platform.apiUrl },
    });
    const [document] = await embeddings.embedDocuments(['alpha', 'beta']);
    expect(document).toEqual(await embeddings.embedQuery('alpha'));
  });
});
