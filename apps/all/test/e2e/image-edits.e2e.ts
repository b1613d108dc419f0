import { toFile } from 'openai';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorOf, eventually } from '../answers.js';
import { ImagePlatform, imageFacts, imageModel } from '../image-platform.js';

const EDITOR = {
  type: 'inpaint',
  constraints: { maxInputImages: 3, widthHeightDivisor: 16 },
  pricing: { inpaint: 0.04, inputImages: { additional: 0.01 } },
};

let images: ImagePlatform;
let picture: Buffer;

const drawn = (width: number, height: number): Promise<Buffer> =>
  sharp({ create: { width, height, channels: 4, background: '#336699' } })
    .png()
    .toBuffer();

beforeAll(async () => {
  images = await ImagePlatform.start((backend) => [
    imageModel(backend, 'editor', EDITOR),
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
  picture = await drawn(128, 64);
});
afterAll(() => images.stop());

const edit = (body: object, init?: Parameters<ImagePlatform['post']>[2]): Promise<Response> =>
  images.post('/images/edits', { model: 'editor', prompt: 'at night', ...body }, init);

interface EditReply {
  readonly data: readonly { readonly b64_json: string }[];
  readonly cost: { readonly usd: number };
}

describe('POST /images/edits', () => {
  it('changes a picture of the openai client', async () => {
    const { data } = await images.account.openai.images.edit({
      model: 'editor',
      prompt: 'at night',
      image: await toFile(picture, 'a.png', { type: 'image/png' }),
    });
    expect(await imageFacts(data?.[0]?.b64_json)).toMatchObject({ format: 'png' });
    const { path, body } = await images.received();
    expect(path).toBe('/v1/images/edits');
    expect(body).toMatchObject({ prompt: 'at night', n: '1', size: '1280x640', response_format: 'b64_json' });
    expect(body['image']).toEqual([{ type: 'image/png', bytes: picture.length }]);
  });

  it('changes several pictures of the openai client together', async () => {
    const files = [await drawn(64, 64), picture].map((bytes) =>
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

  it('charges each edit and its further pictures', async () => {
    const own = await images.ownAccount();
    const base64 = picture.toString('base64');
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
    const base64 = picture.toString('base64');
    const response = await edit({ model: 'masked', image: base64, mask: base64 });
    expect(response.status).toBe(200);
    expect(((await response.json()) as EditReply).cost.usd).toBe(0.02);
    expect((await images.received()).body['mask']).toEqual([{ type: 'image/png', bytes: picture.length }]);
    const other = (await drawn(64, 64)).toString('base64');
    const refused = await edit({ model: 'masked', image: base64, mask: other });
    expect((await errorOf(refused)).error.param).toBe('mask');
  });

  it('sends only the picture itself, upright', async () => {
    const lying = await sharp(picture).withMetadata({ orientation: 6 }).jpeg().toBuffer();
    const tail = Buffer.alloc(50_000, '<script>alert(1)</script>');
    const image = Buffer.concat([lying, tail]).toString('base64');
    expect((await edit({ image })).status).toBe(200);
    const { body } = await images.received();
    expect(body['size']).toBe('640x1280');
    const [file] = body['image'] as { type: string; bytes: number }[];
    expect(file?.type).toBe('image/jpeg');
    expect(file?.bytes).toBeLessThan(tail.length);
  });

  it('refuses faulty pictures by their field, free of charge', async () => {
    const own = await images.ownAccount();
    const good = picture.toString('base64');
    const text = (content: string): string => Buffer.from(content).toString('base64');
    const faulty = [
      (await drawn(63, 64)).toString('base64'),
      picture.subarray(0, 60).toString('base64'),
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
    const response = await edit({ model, image: picture.toString('base64') }, { apiKey: own.apiKey });
    expect(response.status).toBe(status);
    expect(await own.left()).toBe('1.00');
  });
});
