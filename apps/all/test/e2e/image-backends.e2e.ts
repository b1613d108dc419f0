import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { DallEAPIWrapper } from '@langchain/openai';
import { COMFY_WORKFLOW, ComfyServer } from '@svc/testing';
import { generateImage } from 'ai';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../response-bodies.js';
import { ImagePlatform, type ImageReplyBody, imageFacts, imageModel } from '../image-platform.js';

interface OpenAiReply {
  readonly created: number;
  readonly data: readonly { readonly b64_json?: string; readonly url?: string }[];
  readonly size: string;
  readonly cost: { readonly usd: number };
}

/** Faults that leave no image to sell, and whether the router tries another backend. */
const FAULTS = [
  ['html', true],
  ['html-image', true],
  ['empty', true],
  ['url-foreign', true],
  ['500', true],
  ['503', true],
  ['404', true],
  ['black', false],
  ['broken', false],
  ['huge', false],
] as const;

let images: ImagePlatform;
let comfy: ComfyServer;

beforeAll(async () => {
  const red = sharp({ create: { width: 64, height: 96, channels: 3, background: 'red' } });
  comfy = await ComfyServer.start(await red.png().toBuffer());
  const workflow = { kind: 'comfyui', url: comfy.url, model: 'sd.safetensors', workflow: COMFY_WORKFLOW };
  images = await ImagePlatform.start((backend) => [
    imageModel(backend, 'painter', { aliases: ['gpt-image-1'], traits: ['default'] }),
    imageModel(backend, 'comfy', { backends: [{ ...workflow, maxInFlight: 1 }] }),
    imageModel(backend, 'wide', { constraints: { aspectRatios: ['1:1', '16:9', '9:16'] } }),
    ...['missing', 'single', 'first-black', 'url', 'url-relative', 'jpeg'].map((fault) =>
      imageModel(backend, fault, { settings: [`;fault=${fault}`] }),
    ),
    ...FAULTS.map(([fault]) => imageModel(backend, `fault-${fault}`, { settings: [`;fault=${fault}`] })),
    ...FAULTS.map(([fault]) => imageModel(backend, `saved-${fault}`, { settings: [`;fault=${fault}`, ''] })),
  ]);
});
afterAll(async () => {
  await images.stop();
  await comfy.close();
});

async function madeByOpenAi(body: object): Promise<OpenAiReply> {
  const response = await images.post('/images/generations', {
    model: 'painter',
    prompt: 'a lighthouse',
    ...body,
  });
  expect(response.status).toBe(200);
  return (await response.json()) as OpenAiReply;
}

describe('a backend', () => {
  it.each(FAULTS)('costs nothing without an image that can be sold: %s', async (fault) => {
    const own = await images.ownAccount();
    const response = await images.generate({ model: `fault-${fault}` }, { apiKey: own.apiKey });
    expect(response.status).toBeGreaterThanOrEqual(500);
    expect(await own.left()).toBe('1.00');
  });

  it.each(FAULTS.filter(([, isRetried]) => isRetried))(
    'is replaced by the next after a wrong response: %s',
    async (fault) => {
      const { images: files } = await images.made({ model: `saved-${fault}`, seed: 1 });
      expect(files).toEqual((await images.made({ seed: 1 })).images);
    },
  );

  it.each(['url', 'url-relative', 'jpeg'])('may respond with %s', async (id) => {
    const { images: files } = await images.made({ model: id });
    expect(await imageFacts(files[0])).toEqual({ format: 'webp', width: 1_024, height: 1_024 });
  });

  it('is called once more for a missing or black image', async () => {
    for (const id of ['missing', 'first-black']) {
      const { images: files, cost } = await images.made({ model: id, variants: 2, seed: 3 });
      expect([files.length, new Set(files).size, cost.usd]).toEqual([2, 2, 0.02]);
    }
  });

  it('that still makes too few is paid for those that were delivered', async () => {
    const own = await images.ownAccount();
    const response = await images.generate({ model: 'single', variants: 4 }, { apiKey: own.apiKey });
    const { images: files, cost } = (await response.json()) as ImageReplyBody;
    expect([files.length, cost.usd]).toEqual([2, 0.02]);
    await eventually('they are charged', async () => (await own.left()) === '0.98');
  });
});

describe('ComfyUI', () => {
  it('makes images that are charged, and stops without a charge when the client disconnects', async () => {
    const own = await images.ownAccount();
    const request = { model: 'comfy', variants: 2 };
    const made = (await (await images.generate(request, { apiKey: own.apiKey })).json()) as ImageReplyBody;
    expect(made.cost.usd).toBe(0.02);
    expect(await imageFacts(made.images[1])).toEqual({ format: 'webp', width: 64, height: 96 });
    comfy.fate = 'works';
    const abort = new AbortController();
    const left = images.generate(request, { apiKey: own.apiKey, signal: abort.signal });
    await eventually('it works', () => comfy.graphs.length === 2);
    abort.abort();
    await expect(left).rejects.toThrow(/abort/i);
    await eventually('it is interrupted', () => comfy.cleanUps.includes('interrupt 2'));
    await eventually('the first is charged', async () => (await own.left()) === '0.98');
  });
});

describe('POST /images/generations', () => {
  it('makes PNGs of the nearest size by default', async () => {
    const { data, size, cost } = await madeByOpenAi({ n: 2, size: '1536x1024' });
    expect(await imageFacts(data[0]?.b64_json)).toEqual({ format: 'png', width: 1_280, height: 856 });
    expect([data.length, size, cost.usd]).toEqual([2, '1280x856', 0.02]);
    const tall = await madeByOpenAi({ model: 'wide', size: '1024x1792' });
    expect(tall.size).toBe('768x1368');
  });

  it('returns data URLs in place of URLs', async () => {
    const { data } = await madeByOpenAi({ response_format: 'url', output_format: 'jpeg' });
    expect(data[0]?.url).toMatch(/^data:image\/jpeg;base64,\/9j\//);
    expect(data[0]).not.toHaveProperty('b64_json');
  });

  it('has a default model', async () => {
    const response = await images.post('/images/generations', { prompt: 'a' });
    expect(response.headers.get('x-svc-model-id')).toBe('painter');
  });
});

describe('GET /image/styles', () => {
  it('lists names that are accepted as style_preset', async () => {
    const response = await fetch(`${images.platform.apiUrl}/image/styles`);
    const { object, data } = (await response.json()) as { object: string; data: string[] };
    expect([object, data.includes('Cinematic')]).toEqual(['list', true]);
    expect((await images.made({ style_preset: data.at(-1) })).images).toHaveLength(1);
  });
});

describe('a client', () => {
  it('openai makes two images by the name of its own model', async () => {
    const { openai } = images.account;
    const { data } = await openai.images.generate({
      model: 'gpt-image-1',
      prompt: 'a lighthouse',
      n: 2,
      size: '1024x1024',
      quality: 'high',
      background: 'auto',
    });
    expect(data).toHaveLength(2);
    expect(await imageFacts(data?.[0]?.b64_json)).toEqual({ format: 'png', width: 1_024, height: 1_024 });
  });

  it('LangChain makes an image', async () => {
    const tool = new DallEAPIWrapper({
      apiKey: images.account.apiKey,
      baseUrl: images.platform.apiUrl,
      model: 'painter',
      dallEResponseFormat: 'b64_json',
    });
    expect(await imageFacts(String(await tool.invoke('a lighthouse')))).toMatchObject({ format: 'png' });
  });

  it('AI SDK makes an image', async () => {
    const provider = createOpenAICompatible({
      name: 'svc',
      baseURL: images.platform.apiUrl,
      apiKey: images.account.apiKey,
    });
    const { image } = await generateImage({
      model: provider.imageModel('painter'),
      prompt: 'a lighthouse',
      size: '512x512',
    });
    expect(image.mediaType).toBe('image/png');
    expect(await imageFacts(image.base64)).toEqual({ format: 'png', width: 512, height: 512 });
  });
});
