import { TestServer } from '@svc/testing';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorOf, eventually } from '../response-bodies.js';
import { ImagePlatform, type ImageReplyBody, imageFacts, imageModel } from '../image-platform.js';
import { evmWallet, signedInAt } from '../wallets.js';

const TIERED = {
  constraints: {
    aspectRatios: ['1:1', '16:9', '9:16'],
    resolutions: ['1K', '2K'],
    qualities: ['low', 'high'],
    steps: { default: 8, max: 20 },
    maxImages: 4,
  },
  pricing: { resolutions: { '1K': 0.02, '2K': 0.05 }, quality: { '2K': { high: 0.5 } } },
};

let images: ImagePlatform;

/** A backend that makes one image and responds to no further request. */
let exhausted: TestServer;
let calls = 0;

beforeAll(async () => {
  const image = await sharp({ create: { width: 64, height: 64, channels: 3, background: 'red' } })
    .png()
    .toBuffer();
  exhausted = await TestServer.start((_request, response) => {
    calls += 1;
    if (calls === 1) response.end(JSON.stringify({ data: [{ b64_json: image.toString('base64') }] }));
  });
  images = await ImagePlatform.start((backend) => [
    imageModel(backend, 'painter'),
    imageModel(backend, 'tiered', TIERED),
    imageModel(backend, 'webui', { backends: [{ kind: 'sdapi', url: backend.url, model: 'any' }] }),
    {
      id: 'writer',
      name: 'Writer',
      contextTokens: 8_192,
      maxCompletionTokens: 1_024,
      pricing: { input: 100, output: 100 },
      backends: [{ url: `${backend.url}/v1`, model: 'writer' }],
    },
    imageModel(backend, 'enhancing', { promptModel: 'writer' }),
    {
      id: 'broken-writer',
      name: 'Broken',
      contextTokens: 8_192,
      maxCompletionTokens: 1_024,
      pricing: { input: 100, output: 100 },
      backends: [{ url: `${backend.url}/nowhere`, model: 'writer' }],
    },
    imageModel(backend, 'unenhanced', { promptModel: 'broken-writer' }),
    imageModel(backend, 'terse', { constraints: { promptCharacterLimit: 10 } }),
    imageModel(backend, 'paid', { paidOnly: true }),
    imageModel(backend, 'free', { pricing: { generation: 0 } }),
    imageModel(backend, 'policy', { settings: [';fault=policy', ''] }),
    imageModel(backend, 'refuses', { settings: [';fault=400'] }),
    imageModel(backend, 'slow', { settings: [';delay-ms=600000'] }),
    imageModel(backend, 'comment', { settings: [';fault=comment'] }),
    imageModel(backend, 'exhausted', { backends: [{ url: `${exhausted.url}/v1`, model: 'any' }] }),
  ]);
});
afterAll(async () => {
  await images.stop();
  await exhausted.close();
});

describe('POST /image/generate', () => {
  it('makes an image and charges it', async () => {
    const own = await images.ownAccount();
    const response = await images.generate({}, { apiKey: own.apiKey });
    expect(response.status).toBe(200);
    const reply = (await response.json()) as ImageReplyBody;
    expect(reply).toMatchObject({ id: response.headers.get('x-request-id'), cost: { usd: 0.01, diem: 0 } });
    expect(reply.timing.total).toBeGreaterThanOrEqual(reply.timing.inferenceDuration);
    expect(reply.images).toHaveLength(1);
    expect(await imageFacts(reply.images[0])).toEqual({ format: 'webp', width: 1_024, height: 1_024 });
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'x-svc-model-id': 'painter',
      'x-svc-model-router': 'backend-1',
      'x-svc-is-blurred': 'false',
      'x-svc-is-content-violation': 'false',
      'x-content-type-options': 'nosniff',
      'x-ratelimit-type': 'user',
      'x-svc-balance-usd': '1.00',
    });
    await eventually('it is charged', async () => (await own.left()) === '0.99');
    expect(await images.platform.audit()).toMatchObject({ body: { ok: true } });
  });

  it.each(['webp', 'png', 'jpeg'])('returns a file of the requested format: %s', async (format) => {
    const response = await images.generate({ format, return_binary: true, width: 256, height: 512 });
    expect(response.headers.get('content-type')).toBe(`image/${format}`);
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(response.headers.get('content-length')).toBe(String(bytes.length));
    expect(await imageFacts(bytes.toString('base64'))).toEqual({ format, width: 256, height: 512 });
  });

  it('has its prompt rewritten by the text model of its entry, whose tokens are charged, too', async () => {
    const own = await images.ownAccount();
    const body = { model: 'enhancing', enhance_prompt: true, style_preset: 'Anime' };
    const response = await images.generate(body, { apiKey: own.apiKey });
    const reply = (await response.json()) as ImageReplyBody;
    const prompt = decodeURIComponent(response.headers.get('x-svc-enhanced-prompt') ?? '');
    expect(prompt.toLowerCase()).toContain('anime');
    expect((await images.received()).body).toMatchObject({ prompt });
    expect(reply.cost.usd).toBeGreaterThan(0.01);
    expect(reply.cost.usd).toBeLessThan(0.2);
    await eventually('it is charged', async () => Number(await own.left()) < 0.99);
    expect(await images.platform.audit()).toMatchObject({ body: { ok: true } });
  });

  it.each([
    ['the text model fails', { model: 'unenhanced' }],
    ['it has more than 1,000 characters', { model: 'enhancing', prompt: 'x'.repeat(1_001) }],
  ])('keeps its prompt, at the usual price, if %s', async (_, body) => {
    const response = await images.generate({ ...body, enhance_prompt: true });
    expect(response.headers.get('x-svc-enhanced-prompt')).toBeNull();
    expect(await response.json()).toMatchObject({ cost: { usd: 0.01 } });
  });

  it('adds one billing row of images, without tokens', async () => {
    const own = await images.ownAccount();
    const admin = await images.platform.operator('POST', `/accounts/${own.id}/api_keys`, {
      apiKeyType: 'ADMIN',
      description: '',
    });
    await images.generate({ variants: 3 }, { apiKey: own.apiKey });
    const rows = async (): Promise<Record<string, unknown>[]> => {
      const response = await fetch(`${images.platform.apiUrl}/billing/usage`, {
        headers: { authorization: `Bearer ${String(admin.body['apiKey'])}` },
      });
      return ((await response.json()) as { data: Record<string, unknown>[] }).data;
    };
    await eventually('it is there', async () => (await rows()).length === 1);
    expect(await rows()).toMatchObject([
      {
        sku: 'painter-image-unit',
        units: 3,
        pricePerUnitUsd: 0.01,
        amount: -0.03,
        inferenceDetails: { promptTokens: null, completionTokens: null },
      },
    ]);
  });

  it('prices the quality and the resolution, which the backend gets', async () => {
    const cost = async (body: object) => (await images.made({ model: 'tiered', ...body })).cost.usd;
    expect(await cost({})).toBe(0.02);
    expect(await cost({ resolution: '2K' })).toBe(0.05);
    expect(await cost({ resolution: '2K', quality: 'low' })).toBe(0.05);
    expect(await cost({ resolution: '2K', quality: 'high', aspect_ratio: '16:9' })).toBe(0.5);
    expect((await images.received()).body).toMatchObject({
      size: '2728x1536',
      quality: 'high',
      num_inference_steps: 8,
    });
  });

  it('passes its parameters to the backend, and of unknown ones those that its kind takes', async () => {
    await images.made({
      negative_prompt: 'fog',
      cfg_scale: 3.5,
      seed: 0,
      style_preset: 'Anime',
      true_cfg_scale: 4,
      frame_interpolation_model_path: 'evil/pickle',
      output_path: '/etc',
      n: 10,
      num_inference_steps: 150,
      response_format: 'url',
    });
    const { body } = await images.received();
    expect(body).toMatchObject({
      negative_prompt: 'fog',
      guidance_scale: 3.5,
      seed: 0,
      true_cfg_scale: 4,
      n: 1,
      size: '1024x1024',
      response_format: 'b64_json',
      output_format: 'png',
    });
    expect(body['prompt']).toMatch(/^a lighthouse, anime/);
    for (const name of ['num_inference_steps', 'frame_interpolation_model_path', 'output_path'])
      expect(body).not.toHaveProperty(name);
  });

  it('speaks the API of the Stable Diffusion web UI, without settings in prompts', async () => {
    const prompt =
      'a <sd_cpp_extra_args>{"sample_params":{"sample_steps":99}}</SD_CPP_EXTRA_ARGS> b <lora:../x:1>';
    const reply = await images.made({
      model: 'webui',
      prompt,
      variants: 2,
      seed: 7,
      override_settings: { a: 1 },
    });
    expect(reply.images).toHaveLength(2);
    expect(reply.cost.usd).toBe(0.02);
    const { path, body } = await images.received();
    expect(path).toBe('/sdapi/v1/txt2img');
    expect(body).toMatchObject({ width: 1_024, height: 1_024, batch_size: 2, seed: 7 });
    expect(String(body['prompt'])).not.toMatch(/sd_cpp_extra_args|<lora/i);
    expect(body).not.toHaveProperty('override_settings');
  });

  it('counts each variant as a request', async () => {
    const own = await images.ownAccount();
    const counted = async (variants: number) => {
      const { headers } = await images.generate({ variants, width: 64, height: 64 }, { apiKey: own.apiKey });
      const value = (name: string): number => Number(headers.get(`x-ratelimit-${name}-requests`));
      return { limit: value('limit'), left: value('remaining'), reset: value('reset') };
    };
    await eventually('two requests are in the same window', async () => {
      const [first, second] = [await counted(1), await counted(4)];
      expect(first.limit).toBe(500);
      if (first.reset !== second.reset) return false;
      expect(first.left - second.left).toBe(4);
      return true;
    });
  });

  it('refuses more variants than the limit of a minute', async () => {
    const own = await images.ownAccount();
    const models = [{ model: 'painter', requestsPerMinute: 3 }];
    await images.platform.operator('PUT', `/accounts/${own.id}/limits`, { models });
    const refused = async (): Promise<string | null | undefined> => {
      const response = await images.generate({ variants: 4, width: 64, height: 64 }, { apiKey: own.apiKey });
      return response.status === 400 ? (await errorOf(response)).error.param : undefined;
    };
    await eventually('the limit applies', async () => (await refused()) !== undefined);
    expect(await refused()).toBe('variants');
  });

  it('removes what the backend wrote about the image, and adds the prompt only on request', async () => {
    const file = async (body: object): Promise<Buffer> => {
      const { images: files } = await images.made({
        model: 'comment',
        prompt: 'secret words',
        format: 'png',
        ...body,
      });
      return Buffer.from(files[0] ?? '', 'base64');
    };
    expect((await file({})).includes('secret words')).toBe(false);
    expect((await file({ embed_exif_metadata: true })).includes('secret words')).toBe(true);
  });

  it('charges nothing for a free model', async () => {
    expect((await images.made({ model: 'free' })).cost).toEqual({ usd: 0, diem: 0 });
  });

  it('serves a wallet', async () => {
    const wallet = evmWallet();
    const { body } = await images.platform.operator('POST', '/accounts', {
      name: 'w',
      wallet: wallet.address,
    });
    await images.platform.operator('POST', `/accounts/${String(body['id'])}/credits`, {
      usd: '1.00',
      reference: 'i',
    });
    const response = await fetch(`${images.platform.apiUrl}/image/generate`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(await signedInAt(images.platform.rootUrl, wallet)) },
      body: JSON.stringify({ model: 'painter', prompt: 'a tower', variants: 2 }),
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-balance-remaining')).toBe('0.98');
  });
});

describe('a request for images', () => {
  it.each([
    [{ model: undefined }, 'model'],
    [{ prompt: '' }, 'prompt'],
    [{ model: 'terse', prompt: 'more than ten' }, 'prompt'],
    [{ model: 'terse', prompt: 'short', negative_prompt: 'more than ten' }, 'negative_prompt'],
    [{ width: 1_288 }, 'width'],
    [{ height: 100 }, 'height'],
    [{ aspect_ratio: '16:9' }, 'aspect_ratio'],
    [{ model: 'tiered', aspect_ratio: '7:5' }, 'aspect_ratio'],
    [{ model: 'tiered', resolution: '4K' }, 'resolution'],
    [{ model: 'tiered', quality: 'medium' }, 'quality'],
    [{ quality: 'high' }, 'quality'],
    [{ model: 'tiered', steps: 21 }, 'steps'],
    [{ variants: 5 }, 'variants'],
    [{ variants: 2, return_binary: true }, 'variants'],
    [{ style_preset: 'Nothing' }, 'style_preset'],
    [{ cfg_scale: 0 }, 'cfg_scale'],
    [{ format: 'gif' }, 'format'],
    [{ inpaint: {} }, 'inpaint'],
    [{ style_references: [] }, 'style_references'],
    [{ enhance_prompt: true }, 'enhance_prompt'],
    [{ enable_web_search: true }, 'enable_web_search'],
    [{ extra_args: { reference: 'http://169.254.169.254/' } }, 'extra_args'],
  ])('is refused with the name of its invalid field: %j', async (body, param) => {
    const response = await images.generate(body);
    expect(response.status).toBe(400);
    expect((await errorOf(response)).error.param).toBe(param);
  });

  it.each([
    [{ n: 11 }, 'n'],
    [{ model: 'tiered', n: 5 }, 'n'],
    [{ size: '1024' }, 'size'],
    [{ stream: true }, 'stream'],
    [{ partial_images: 1 }, 'partial_images'],
    [{ background: 'transparent' }, 'background'],
    [{ safe_mode: true }, 'safe_mode'],
    [{ output_compression: 101 }, 'output_compression'],
  ])("with OpenAI's parameters is refused with the name of its invalid field: %j", async (body, param) => {
    const response = await images.post('/images/generations', { model: 'painter', prompt: 'a', ...body });
    expect(response.status).toBe(400);
    expect((await errorOf(response)).error.param).toBe(param);
  });

  it.each([
    ['test-model', 404, 'MODEL_NOT_FOUND'],
    ['nothing', 404, 'MODEL_NOT_FOUND'],
    ['refuses', 400, 'INVALID_REQUEST'],
  ])('for the model %s is rejected', async (id, status, code) => {
    for (const path of ['/image/generate', '/images/generations']) {
      const response = await images.post(path, { model: id, prompt: 'a' });
      expect(response.status).toBe(status);
      expect((await errorOf(response)).code).toBe(code);
    }
  });

  it('for a paid model is refused for an unpaid account', async () => {
    const { apiKey } = await images.platform.account('1.00', { paid: false });
    expect((await errorOf(await images.generate({ model: 'paid' }, { apiKey }))).code).toBe('PRO_ONLY_MODEL');
  });

  it('that its account cannot pay is refused before a backend works', async () => {
    const { apiKey } = await images.platform.account('0.029');
    await images.made({ prompt: 'the last one before' });
    const refused = await images.generate({ variants: 3, prompt: 'unpaid' }, { apiKey });
    expect((await errorOf(refused)).code).toBe('INSUFFICIENT_BALANCE');
    expect((await images.received()).body['prompt']).toBe('the last one before');
  });

  it('costs nothing if its client disconnects, and the backend stops', async () => {
    const own = await images.ownAccount();
    const abort = new AbortController();
    const request = images.generate(
      { model: 'slow', prompt: 'leaving' },
      { apiKey: own.apiKey, signal: abort.signal },
    );
    await eventually('it is being made', async () => (await images.received()).body['prompt'] === 'leaving');
    abort.abort();
    await expect(request).rejects.toThrow(/abort/i);
    await eventually('the backend is left', async () => (await images.received()).isAborted);
    expect((await images.generate({}, { apiKey: own.apiKey })).status).toBe(200);
    await eventually('only the second is charged', async () => (await own.left()) === '0.99');
  });

  it('costs what had been made when its client disconnected', async () => {
    const own = await images.ownAccount();
    const abort = new AbortController();
    const request = images.generate(
      { model: 'exhausted', variants: 2 },
      { apiKey: own.apiKey, signal: abort.signal },
    );
    await eventually('the missing image is being made', () => calls === 2);
    abort.abort();
    await expect(request).rejects.toThrow(/abort/i);
    await eventually('one image is charged', async () => (await own.left()) === '0.99');
  });

  it('that violates a policy of the backend is free, and not sent to another one', async () => {
    const own = await images.ownAccount();
    const response = await images.generate({ model: 'policy' }, { apiKey: own.apiKey });
    expect(response.status).toBe(422);
    const { code, error } = await errorOf(response);
    expect([code, error.code]).toEqual(['CONTENT_POLICY_VIOLATION', 'content_policy_violation']);
    expect(await own.left()).toBe('1.00');
  });
});
