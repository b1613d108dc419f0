import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import OpenAI from 'openai';
import { request } from 'undici';
import { errorOf } from '../response-bodies.js';
import { Platform, TEST_MODEL, type TestAccount } from '../platform.js';

let platform: Platform;
let account: TestAccount;

const PAST = { date: '2020-01-01', removesAt: '2020-02-01' };
const COMING = { startsAt: '2020-01-01', date: '2020-02-01', removesAt: '2999-01-01' };

beforeAll(async () => {
  platform = await Platform.start({
    models: [
      {
        id: 'painter',
        type: 'image',
        traits: ['fastest'],
        name: 'Painter',
        tier: 'XS',
        constraints: { resolutions: ['1K', '2K'], qualities: ['low', 'high'], aspectRatios: ['1:1', '16:9'] },
        pricing: { generation: 0.01, quality: { '2K': { high: 0.05 } } },
      },
      { id: 'coder', capabilities: { optimizedForCode: true }, traits: ['default_code'] },
      {
        id: 'lab/rich-1.5',
        description: 'All that can be said',
        modelSource: 'https://example.com/rich',
        pricing: { input: 1, output: 2, extended: { contextTokenThreshold: 1000, input: 3, output: 4 } },
        constraints: { temperature: 0.7, topP: 0.9, repetitionPenalty: 1.1 },
        capabilities: { supportsReasoning: true, reasoningEffortOptions: ['low', 'high'] },
        aliases: ['gpt-4o'],
        betaModel: true,
        uncensored: true,
        regionRestrictions: ['DE'],
        privacy: 'anonymized',
        deprecation: { ...COMING, replacementModelId: 'test-model' },
      },
      { id: 'gone', aliases: ['gpt-3'], deprecation: { ...PAST, replacementModelId: 'test-model' } },
      {
        id: 'moved',
        aliases: ['gpt-4'],
        deprecation: { ...PAST, autoRemap: true, replacementModelId: 'test-model' },
      },
    ],
  });
  account = await platform.account();
});

afterAll(() => platform.stop());

async function get(path: string): Promise<Record<string, unknown>> {
  const response = await fetch(platform.apiUrl + path);
  expect(response.status).toBe(200);
  return (await response.json()) as Record<string, unknown>;
}

async function ids(query: string): Promise<unknown> {
  const { data } = (await get(`/models${query}`)) as { data: { id: string }[] };
  return data.map(({ id }) => id);
}

const chat = (model: string): Promise<Response> =>
  platform.chat(account.apiKey, { model, messages: [{ role: 'user', content: 'Hello' }], max_tokens: 4 });

describe('200', () => {
  it('lists text models without credentials, with prices and capabilities', async () => {
    const body = (await get('/models')) as { data: unknown[] };
    expect(body).toMatchObject({ object: 'list', type: 'text' });
    expect(body.data[0]).toMatchObject({
      id: 'test-model',
      object: 'model',
      owned_by: 'svc',
      type: 'text',
      context_length: TEST_MODEL.contextTokens,
      model_spec: {
        name: 'Test Model',
        availableContextTokens: TEST_MODEL.contextTokens,
        maxCompletionTokens: TEST_MODEL.maxCompletionTokens,
        capabilities: {
          supportsFunctionCalling: true,
          supportsAudioInput: false,
          quantization: 'not-available',
        },
        constraints: { temperature: { default: 1 }, top_p: { default: 1 } },
        pricing: { input: { usd: 0.15, diem: 0.15 }, output: { usd: 0.6 }, cache_input: { usd: 0.075 } },
      },
    });
    expect(body.data[0]).not.toHaveProperty('model_spec.uncensored');
    expect(body.data[0]).not.toHaveProperty('model_spec.deprecation');
  });

  it('lists by type, without removed models', async () => {
    expect(await ids('?type=image')).toEqual(['painter']);
    expect(await ids('?type=code')).toEqual(['coder']);
    expect(await ids('?type=embedding')).toEqual([]);
    expect(await ids('?type=all')).toEqual(['test-model', 'painter', 'coder', 'lab/rich-1.5']);
  });

  it('returns all catalogue members of a text model', async () => {
    expect(await get('/models/lab/rich-1.5')).toMatchObject({
      id: 'lab/rich-1.5',
      model_spec: {
        description: 'All that can be said',
        modelSource: 'https://example.com/rich',
        betaModel: true,
        uncensored: true,
        regionRestrictions: ['DE'],
        privacy: 'anonymized',
        offline: false,
        constraints: {
          temperature: { default: 0.7 },
          top_p: { default: 0.9 },
          repetition_penalty: { default: 1.1 },
        },
        capabilities: { supportsReasoning: true, reasoningEffortOptions: ['low', 'high'] },
        pricing: {
          extended: { context_token_threshold: 1000, input: { usd: 3, diem: 3 }, output: { usd: 4 } },
        },
        deprecation: { ...COMING, autoRemap: false, replacementModelId: 'test-model' },
      },
    });
  });

  it('returns the choices and prices of an image model', async () => {
    expect(await get('/models/painter')).toMatchObject({
      type: 'image',
      model_spec: {
        supportsStyleReferences: false,
        constraints: {
          promptCharacterLimit: 7_500,
          steps: { default: 0, max: 0 },
          widthHeightDivisor: 8,
          aspectRatios: ['1:1', '16:9'],
          resolutions: ['1K', '2K'],
          qualities: ['low', 'high'],
        },
        pricing: {
          generation: { usd: 0.01, diem: 0.01 },
          quality: { '2K': { high: { usd: 0.05, diem: 0.05 } } },
        },
      },
    });
  });

  it('resolves an alias or a removed model to its model', async () => {
    expect(await get('/models/gpt-4o')).toMatchObject({ id: 'lab/rich-1.5' });
    expect(await get('/models/moved')).toMatchObject({ id: 'test-model' });
  });

  it('maps traits to models, by type', async () => {
    expect(await get('/models/traits')).toEqual({
      object: 'list',
      type: 'text',
      data: { default_code: 'coder' },
    });
    expect(await get('/models/traits?type=image')).toMatchObject({
      type: 'image',
      data: { fastest: 'painter' },
    });
  });

  it('maps alternative names to models', async () => {
    expect(await get('/models/compatibility_mapping')).toEqual({
      object: 'list',
      type: 'text',
      data: { 'gpt-4o': 'lab/rich-1.5', 'gpt-4': 'test-model' },
    });
  });

  it('works with the openai client', async () => {
    const { apiKey } = await platform.account();
    const openai = new OpenAI({ apiKey, baseURL: platform.apiUrl });
    const { data } = await openai.models.list();
    expect(data.map(({ id }) => id)).toContain('test-model');
    expect(await openai.models.retrieve('lab/rich-1.5')).toMatchObject({
      id: 'lab/rich-1.5',
      object: 'model',
    });
  });

  it('returns a warning with completions of a deprecated model', async () => {
    const response = await chat('lab/rich-1.5');
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'x-svc-model-id': 'lab/rich-1.5',
      'x-svc-model-deprecation-date': '2020-02-01',
      'x-svc-model-deprecation-warning':
        'The model lab/rich-1.5 is deprecated and will be removed on 2999-01-01; use test-model instead.',
      'x-svc-deprecated': 'true',
      'x-svc-deprecated-replacement': 'test-model',
    });
    expect((await chat('test-model')).headers.get('x-svc-deprecated')).toBeNull();
  });

  it('uses the replacement of a removed model, and reports it', async () => {
    const response = await chat('moved');
    expect(await response.json()).toMatchObject({ model: 'test-model' });
    expect(response.headers.get('x-svc-model-id')).toBe('test-model');
    expect(response.headers.get('x-svc-model-deprecation-warning')).toBe(
      'The model moved was removed on 2020-02-01; test-model answers in its place.',
    );
  });
});

describe('400', () => {
  it.each(['/models', '/models/traits', '/models/compatibility_mapping'])(
    'reports the parameter of an unknown type at %s',
    async (path) => {
      const response = await fetch(`${platform.apiUrl}${path}?type=poem`);
      expect(response.status).toBe(400);
      const body = await errorOf(response);
      expect(body).toMatchObject({ code: 'INVALID_REQUEST', error: { param: 'type' } });
      expect(body.issues?.[0]?.path).toEqual(['type']);
      expect(body.details).toHaveProperty('type._errors');
    },
  );
});

describe('401', () => {
  it.each(['Bearer none', 'Bearer SVC_INFERENCE_KEY_wrong', 'Bearer ', 'Basic bm9uZTpub25l', ''])(
    'needs no credentials, but rejects the wrong ones in %j',
    async (authorization) => {
      for (const path of ['/models', '/models/traits', '/models/test-model', '/openapi.yaml']) {
        const { status } = await fetch(platform.apiUrl + path, { headers: { authorization } });
        expect([path, status]).toEqual([path, 401]);
      }
    },
  );
});

describe('404', () => {
  it('returns the common error envelope for an unknown route', async () => {
    const response = await fetch(`${platform.apiUrl}/nothing`);
    expect(response.status).toBe(404);
    expect((await errorOf(response)).code).toBe('NOT_FOUND');
  });

  it.each([
    ['/v1/models', 'did you mean /api/v1/models? Check the base URL'],
    ['/chat/completions', 'did you mean /api/v1/chat/completions?'],
    ['/api/v1/v1/messages', 'did you mean /api/v1/messages?'],
    ['/api/v1/api/v1/embeddings', 'did you mean /api/v1/embeddings?'],
    ['/api/v1/threads', 'the API is below /api/v1 and described at /docs'],
  ])('names an unknown path and the right one: %s', async (path, hint) => {
    const response = await fetch(platform.rootUrl + path);
    expect(response.status).toBe(404);
    const { message } = (await errorOf(response)).error;
    expect(message).toContain(`There is no ${path} here`);
    expect(message).toContain(hint);
  });

  it('names what has replaced an endpoint that the public interface has retired', async () => {
    const { statusCode, body } = await request(`${platform.apiUrl}/video/transcriptions`, { method: 'POST' });
    expect(statusCode).toBe(410);
    expect(await body.json()).toMatchObject({
      code: 'ENDPOINT_RETIRED',
      error: { message: expect.stringContaining('use /api/v1/audio/transcriptions') },
    });
  });

  it("is in Anthropic's envelope for its clients, so that they show what to change", async () => {
    const { statusCode, headers, body } = await request(`${platform.apiUrl}/v1/messages`, {
      method: 'POST',
      headers: { 'anthropic-version': '2023-06-01' },
    });
    expect([statusCode, headers['request-id']]).toEqual([404, expect.stringMatching(/^req-/)]);
    const message: unknown = expect.stringContaining('did you mean /api/v1/messages?');
    expect(await body.json()).toMatchObject({
      type: 'error',
      error: { type: 'not_found_error', message, details: { error_code: 'NOT_FOUND' } },
    });
  });

  it.each(['/models/', '//models', '/models/?type=all'])('is not for a slash too many: %s', async (path) => {
    const { statusCode, body } = await request(platform.apiUrl + path);
    await body.dump();
    expect(statusCode).toBe(200);
  });

  it('names the type of a model that is used on the route of another, and its route', async () => {
    const chatted = await chat('painter');
    expect(chatted.status).toBe(404);
    const { code, error } = await errorOf(chatted);
    expect([code, error.param]).toEqual(['MODEL_NOT_FOUND', 'model']);
    expect(error.message).toBe(
      'painter is a model of the type image; use it with POST /api/v1/image/generate.',
    );
    const drawn = await fetch(`${platform.apiUrl}/image/generate`, {
      method: 'POST',
      headers: { authorization: `Bearer ${account.apiKey}`, 'content-type': 'application/json' },
      // A trait of a type is no name of another.
      body: JSON.stringify({ model: 'default_code', prompt: 'x' }),
    });
    expect((await errorOf(drawn)).error.message).toContain('Specified model not found: default_code');
  });

  it('suggests a model with a similar name', async () => {
    const response = await fetch(`${platform.apiUrl}/models/tset-model`);
    expect(response.status).toBe(404);
    const { code, error } = await errorOf(response);
    expect(code).toBe('MODEL_NOT_FOUND');
    expect(error.message).toBe('Specified model not found: tset-model. Did you mean test-model?');
  });

  it('refuses a chat with a model of another type', async () => {
    const response = await chat('painter');
    expect(response.status).toBe(404);
    expect((await errorOf(response)).code).toBe('MODEL_NOT_FOUND');
  });
});

describe('410', () => {
  it('reports since when a removed model without a working replacement is gone', async () => {
    const response = await fetch(`${platform.apiUrl}/models/gone`);
    expect(response.status).toBe(410);
    expect(await errorOf(response)).toMatchObject({ code: 'MODEL_RETIRED', error: { param: 'model' } });
  });

  it('refuses a chat with a removed model, naming its replacement', async () => {
    const response = await chat('gone');
    expect(response.status).toBe(410);
    const { code, error } = await errorOf(response);
    expect(code).toBe('MODEL_RETIRED');
    expect(error.message).toContain('Use test-model instead.');
  });
});

describe('@anthropic-ai/sdk', () => {
  const models = () =>
    new Anthropic({ apiKey: account.apiKey, baseURL: platform.apiUrl.replace(/\/v1$/, ''), maxRetries: 0 })
      .models;

  it('lists the text models, with and without a limit, in the form that it expects', async () => {
    const found: Anthropic.ModelInfo[] = [];
    for await (const each of models().list()) found.push(each);
    expect(found.map(({ id }) => id)).toEqual(await ids(''));
    expect(found[0]).toEqual({
      type: 'model',
      id: 'test-model',
      display_name: 'Test Model',
      created_at: '2026-01-01T00:00:00.000Z',
      max_input_tokens: TEST_MODEL.contextTokens,
      max_tokens: TEST_MODEL.maxCompletionTokens,
      lifecycle: 'active',
      deprecated_at: null,
      retires_at: null,
      line: null,
      capabilities: null,
    });
    const limited: string[] = [];
    for await (const { id } of models().list({ limit: 1 })) limited.push(id);
    expect(limited).toEqual(found.map(({ id }) => id));
  });

  it('retrieves a model by its id or another name, with its deprecation', async () => {
    const rich = await models().retrieve('lab/rich-1.5');
    expect(rich).toMatchObject({
      type: 'model',
      id: 'lab/rich-1.5',
      lifecycle: 'deprecated',
      deprecated_at: '2020-02-01T00:00:00.000Z',
      retires_at: '2999-01-01T00:00:00.000Z',
    });
    expect(await models().retrieve('gpt-4o')).toEqual(rich);
    expect(await models().retrieve('painter')).toMatchObject({ id: 'painter', max_tokens: null });
    await expect(models().retrieve('no-such')).rejects.toBeInstanceOf(Anthropic.NotFoundError);
  });
});
