import { toFile } from 'openai';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorOf, eventually } from '../response-bodies.js';
import { ImagePlatform, imageFacts, imageModel } from '../image-platform.js';

const EDITOR = {
  type: 'inpaint',
  constraints: { maxInputImages: 3, widthHeightDivisor: 16 },
  pricing: { inpaint: 0.04, inputImages: { additional: 0.01 } },
};

let images: ImagePlatform;
let drawing: Buffer;

const drawn = (width: number, height: number): Promise<Buffer> =>
  sharp({ create: { width, height, channels: 4, background: '#336699' } })
    .png()
    .toBuffer();

beforeAll(async () => {
  images = await ImagePlatform.start((backend) => [
    imageModel(backend, 'editor', { ...EDITOR, aliases: ['shared'] }),
    imageModel(backend, 'painter', { aliases: ['shared'] }),
    imageModel(backend, 'tiers', {
      ...EDITOR,
      constraints: {
        maxInputImages: 2,
        resolutions: ['1K', '2K'],
        qualities: ['low', 'high'],
        defaultQuality: 'low',
        aspectRatios: ['1:1', '16:9', '5:4'],
      },
      pricing: { quality: { '1K': { low: 0.01, high: 0.03 }, '2K': { low: 0.02, high: 0.06 } } },
    }),
    imageModel(backend, 'masked', {
      ...EDITOR,
      constraints: { supportsMask: true, resolutions: ['1K', '2K'] },
      pricing: { resolutions: { '1K': 0.02, '2K': 0.05 } },
    }),
    imageModel(backend, 'broken', { ...EDITOR, settings: [';fault=broken'] }),
    imageModel(backend, 'policy', { ...EDITOR, settings: [';fault=policy', ''] }),
    imageModel(backend, 'webui', {
      ...EDITOR,
      backends: [{ kind: 'sdapi', url: backend.url, model: 'any' }],
    }),
  ]);
  drawing = await drawn(128, 64);
});
afterAll(() => images.stop());

const edit = (body: object, init?: Parameters<ImagePlatform['post']>[2]): Promise<Response> =>
  images.post('/images/edits', { model: 'editor', prompt: 'at night', ...body }, init);

interface EditReply {
  readonly data: readonly { readonly b64_json: string }[];
  readonly cost: { readonly usd: number };
}

describe('POST /images/edits', () => {
  it('changes an image of the openai client', async () => {
    const { data } = await images.account.openai.images.edit({
      model: 'editor',
      prompt: 'at night',
      image: await toFile(drawing, 'a.png', { type: 'image/png' }),
    });
    expect(await imageFacts(data?.[0]?.b64_json)).toMatchObject({ format: 'png' });
    const { path, body } = await images.received();
    expect(path).toBe('/v1/images/edits');
    expect(body).toMatchObject({ prompt: 'at night', n: '1', size: '1280x640', response_format: 'b64_json' });
    expect(body['image']).toEqual([{ type: 'image/png', bytes: drawing.length }]);
  });

  it('changes images in the JSON form of OpenAI, whose name for image models it may have in common', async () => {
    const url = `data:image/png;base64,${drawing.toString('base64')}`;
    const body = { model: 'shared', image: undefined, images: [{ image_url: url }, { image_url: url }] };
    const response = await edit(body);
    expect(response.status).toBe(200);
    expect(response.headers.get('x-svc-model-id')).toBe('editor');
    expect((await images.received()).body['image']).toHaveLength(2);
    const masked = await edit({
      ...body,
      model: 'masked',
      images: [{ image_url: url }],
      mask: { image_url: url },
    });
    expect(masked.status).toBe(200);
    expect((await images.received()).body['mask']).toHaveLength(1);
    const made = await images.generate({ model: 'shared' });
    expect(made.headers.get('x-svc-model-id')).toBe('painter');
  });

  it.each([
    [{ images: [{ file_id: 'file-1' }] }, 'images.0.image_url'],
    [{ images: [{ image_url: 'data:image/png;base64,eA==' }] }, 'images.0'],
    [{}, 'image'],
  ])('refuses other images of that form by their field: %j', async (body, param) => {
    expect((await errorOf(await edit(body))).error.param).toBe(param);
  });

  it('changes several images of the openai client together', async () => {
    const files = [await drawn(64, 64), drawing].map((bytes) =>
      toFile(bytes, 'a.png', { type: 'image/png' }),
    );
    const { data } = await images.account.openai.images.edit({
      model: 'editor',
      prompt: 'both',
      image: await Promise.all(files),
      n: 2,
      size: '1024x1024',
    });
    expect(data).toHaveLength(2);
    const { body } = await images.received();
    expect(body['image']).toHaveLength(2);
    expect(body).toMatchObject({ n: '2', size: '1024x1024' });
  });

  it('charges each edit and its further images', async () => {
    const own = await images.ownAccount();
    const base64 = drawing.toString('base64');
    const response = await edit(
      { image: [base64, `data:image/png;base64,${base64}`, base64], n: 2 },
      { apiKey: own.apiKey },
    );
    expect(response.status).toBe(200);
    const reply = (await response.json()) as EditReply;
    expect(reply.data).toHaveLength(2);
    expect(reply.cost.usd).toBe(0.12);
    expect(response.headers.get('x-svc-is-content-violation')).toBe('false');
    await eventually('it is charged', async () => (await own.left()) === '0.88');
    expect(await images.platform.audit()).toMatchObject({ body: { ok: true } });
  });

  it('sends a mask of the same size to a model that supports it', async () => {
    const base64 = drawing.toString('base64');
    const response = await edit({ model: 'masked', image: base64, mask: base64 });
    expect(response.status).toBe(200);
    expect(((await response.json()) as EditReply).cost.usd).toBe(0.02);
    expect((await images.received()).body['mask']).toEqual([{ type: 'image/png', bytes: drawing.length }]);
    const other = (await drawn(64, 64)).toString('base64');
    const refused = await edit({ model: 'masked', image: base64, mask: other });
    expect((await errorOf(refused)).error.param).toBe('mask');
  });

  it('sends only the image itself, upright', async () => {
    const lying = await sharp(drawing).withMetadata({ orientation: 6 }).jpeg().toBuffer();
    const tail = Buffer.alloc(50_000, '<script>alert(1)</script>');
    const image = Buffer.concat([lying, tail]).toString('base64');
    expect((await edit({ image })).status).toBe(200);
    const { body } = await images.received();
    expect(body['size']).toBe('640x1280');
    const [file] = body['image'] as { type: string; bytes: number }[];
    expect(file?.type).toBe('image/jpeg');
    expect(file?.bytes).toBeLessThan(tail.length);
  });

  it('refuses faulty images by their field, free of charge', async () => {
    const own = await images.ownAccount();
    const good = drawing.toString('base64');
    const text = (content: string): string => Buffer.from(content).toString('base64');
    const faulty = [
      (await drawn(63, 64)).toString('base64'),
      drawing.subarray(0, 60).toString('base64'),
      text('<svg xmlns="http://www.w3.org/2000/svg" width="100" height="100"/>'),
      text('GIF89a/*<script>alert(1)</script>*/'),
      'no base64',
      'http://127.0.0.1:1/a.png',
      'http://169.254.169.254/latest/meta-data',
    ];
    for (const image of faulty) {
      const response = await edit({ image }, { apiKey: own.apiKey });
      expect(response.status).toBe(400);
      expect((await errorOf(response)).error.param).toBe('image');
    }
    const second = await edit({ image: [good, text('nothing')] }, { apiKey: own.apiKey });
    expect((await errorOf(second)).error.param).toMatch(/^image.1/);
    expect(await own.left()).toBe('1.00');
  });

  it.each([
    [{ image: undefined }, 'image'],
    [{ image: [] }, 'image'],
    [{ image: ['a', 'b', 'c', 'd'] }, 'image'],
    [{ image: 'a', mask: 'a' }, 'mask'],
    [{ image: 'a', prompt: '' }, 'prompt'],
    [{ image: 'a', n: 11 }, 'n'],
    [{ image: 'a', stream: true }, 'stream'],
    [{ image: 'a', safe_mode: true }, 'safe_mode'],
    [{ image: 'a', url: 'http://169.254.169.254/' }, 'url'],
  ])('refuses an invalid field by its name: %j', async (body, param) => {
    const response = await edit(body);
    expect(response.status).toBe(400);
    expect((await errorOf(response)).error.param).toBe(param);
  });

  it.each([
    ['painter', 404],
    ['broken', 500],
    ['policy', 422],
    ['webui', 503],
  ])('charges nothing if the model %s cannot change it', async (model, status) => {
    const own = await images.ownAccount();
    const response = await edit({ model, image: drawing.toString('base64') }, { apiKey: own.apiKey });
    expect(response.status).toBe(status);
    expect(await own.left()).toBe('1.00');
  });
});

/** The reply of a request that must succeed with a file, and its facts. */
async function fileOf(response: Response): Promise<object> {
  expect(response.status).toBe(200);
  const bytes = Buffer.from(await response.arrayBuffer());
  return { type: response.headers.get('content-type'), ...(await imageFacts(bytes.toString('base64'))) };
}

describe('POST /image/edit', () => {
  const change = (body: object, init?: Parameters<ImagePlatform['post']>[2]): Promise<Response> =>
    images.post('/image/edit', { model: 'editor', prompt: 'at night', ...body }, init);

  it('returns the file of a changed image in the shape of the first', async () => {
    const own = await images.ownAccount();
    const response = await change({ image: drawing.toString('base64') }, { apiKey: own.apiKey });
    expect(response.headers.get('x-svc-is-content-violation')).toBe('false');
    expect(response.headers.get('x-svc-model-id')).toBe('editor');
    expect(await fileOf(response)).toEqual({ type: 'image/png', format: 'png', width: 1280, height: 640 });
    await eventually('it is charged', async () => (await own.left()) === '0.96');
  });

  it('reads a form in any order, and converts the result', async () => {
    const form = new FormData();
    form.append('image', new File([new Uint8Array(drawing)], 'a.png', { type: 'image/png' }));
    form.append('aspect_ratio', '1:1');
    form.append('output_format', 'jpg');
    form.append('modelId', 'editor');
    form.append('prompt', 'at night');
    const response = await fetch(`${images.platform.apiUrl}/image/edit`, {
      method: 'POST',
      headers: { authorization: `Bearer ${images.account.apiKey}` },
      body: form,
    });
    expect(await fileOf(response)).toMatchObject({ type: 'image/jpeg', format: 'jpeg', width: 1024 });
    expect((await images.received()).body).toMatchObject({ size: '1024x1024', prompt: 'at night' });
  });

  it('makes the resolutions and ratios of the model, at their prices', async () => {
    const own = await images.ownAccount();
    const image = drawing.toString('base64');
    const body = { model: 'tiers', image, resolution: '2K', aspect_ratio: '5:4' };
    const reply = await fileOf(await change(body, { apiKey: own.apiKey }));
    expect(reply).toMatchObject({ type: 'image/jpeg', width: 2288, height: 1832 });
    await eventually('it is charged', async () => (await own.left()) === '0.98');
  });

  it.each([
    [{ resolution: '2K' }, 'resolution'],
    [{ model: 'tiers', resolution: '4K' }, 'resolution'],
    [{ model: 'tiers', aspect_ratio: '3:2' }, 'aspect_ratio'],
    [{ aspect_ratio: '7:1' }, 'aspect_ratio'],
    [{ quality: 'high' }, 'quality'],
    [{ output_format: 'svg' }, 'output_format'],
    [{ image: ['a'] }, 'image'],
    [{ image: undefined }, 'image'],
    [{ enhance_prompt: true }, 'enhance_prompt'],
    [{ prompt: 'x'.repeat(7_501) }, 'prompt'],
  ])('refuses by its name: %j', async (body, param) => {
    const response = await change({ image: drawing.toString('base64'), ...body });
    expect(response.status).toBe(400);
    expect((await errorOf(response)).error.param).toBe(param);
  });
});

describe('POST /image/multi-edit', () => {
  const combine = (body: object, init?: Parameters<ImagePlatform['post']>[2]): Promise<Response> =>
    images.post('/image/multi-edit', { modelId: 'editor', prompt: 'together', ...body }, init);

  it('makes one image of several, of a form or JSON', async () => {
    const own = await images.ownAccount();
    const base64 = drawing.toString('base64');
    const body = { modelId: 'tiers', images: [base64, base64], quality: 'high' };
    const reply = await fileOf(await combine(body, { apiKey: own.apiKey }));
    expect(reply).toMatchObject({ type: 'image/png' });
    await eventually('it is charged', async () => (await own.left()) === '0.97');
    const form = new FormData();
    for (const name of ['a.png', 'b.png'])
      form.append('images', new File([new Uint8Array(drawing)], name, { type: 'image/png' }));
    form.append('modelId', 'tiers');
    form.append('prompt', 'together');
    const response = await fetch(`${images.platform.apiUrl}/image/multi-edit`, {
      method: 'POST',
      headers: { authorization: `Bearer ${own.apiKey}` },
      body: form,
    });
    await fileOf(response);
    expect((await images.received()).body['image']).toHaveLength(2);
    await eventually('it is charged', async () => (await own.left()) === '0.96');
    expect(await images.platform.audit()).toMatchObject({ body: { ok: true } });
  });

  it.each([
    [{ model: 'editor' }, 'model'],
    [{ images: [] }, 'images'],
    [{ images: 'a' }, 'images'],
    [{ modelId: 'tiers', images: ['a', 'b', 'c'] }, 'images'],
    [{ images: ['bm8gcGljdHVyZQ=='] }, 'images.0'],
    [{ quality: 'high' }, 'quality'],
  ])('refuses by its name: %j', async (body, param) => {
    const response = await combine({ images: [drawing.toString('base64')], ...body });
    expect(response.status).toBe(400);
    expect((await errorOf(response)).error.param).toBe(param);
  });
});
