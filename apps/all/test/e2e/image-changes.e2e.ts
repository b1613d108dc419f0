import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorOf, eventually } from '../response-bodies.js';
import { ImagePlatform, imageFacts, imageModel } from '../image-platform.js';

let images: ImagePlatform;
let drawing: Buffer;
let base64: string;

const drawn = (width: number, height: number): Promise<Buffer> =>
  sharp({ create: { width, height, channels: 3, background: '#336699' } })
    .png()
    .toBuffer();

const UPSCALER = { type: 'upscale', pricing: { upscale: { '2x': 0.02, '4x': 0.08 } } };

beforeAll(async () => {
  images = await ImagePlatform.start((backend) => {
    const webUi = { kind: 'sdapi', url: backend.url, model: 'R-ESRGAN 4x+' };
    const simulated = { backends: [{ kind: 'simulator', url: `${backend.url}/v1`, model: 'any' }] };
    const rembg = (settings = '') => ({
      backends: [{ kind: 'rembg', url: backend.url, model: `u2net${settings}` }],
    });
    return [
      imageModel(backend, 'upscaler', { ...UPSCALER, traits: ['default'], backends: [webUi] }),
      imageModel(backend, 'no-upscaler', UPSCALER),
      imageModel(backend, 'sim-upscaler', { ...UPSCALER, ...simulated }),
      imageModel(backend, 'sim-remover', simulated),
      imageModel(backend, 'painter'),
      imageModel(backend, 'remover', { traits: ['background-removal'], ...rembg() }),
      ...['broken', 'black', 'small', 'huge', 'html-image', '500'].map((fault) =>
        imageModel(backend, `remover-${fault}`, rembg(`;fault=${fault}`)),
      ),
    ];
  });
  drawing = await drawn(300, 200);
  base64 = drawing.toString('base64');
});
afterAll(() => images.stop());

type Init = Parameters<ImagePlatform['post']>[2];

const upscale = (body: object, init?: Init): Promise<Response> =>
  images.post('/image/upscale', { image: base64, ...body }, init);

const cutOut = (body: object, init?: Init): Promise<Response> =>
  images.post('/image/background-remove', { image: base64, ...body }, init);

/** The reply of a request that must succeed with a file, and its facts. */
async function fileOf(response: Response): Promise<object> {
  expect(response.status).toBe(200);
  const bytes = Buffer.from(await response.arrayBuffer());
  return { type: response.headers.get('content-type'), ...(await imageFacts(bytes.toString('base64'))) };
}

function formOf(fields: Readonly<Record<string, string>>): RequestInit {
  const form = new FormData();
  form.append('image', new File([new Uint8Array(drawing)], 'a.png', { type: 'image/png' }));
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  return { method: 'POST', headers: { authorization: `Bearer ${images.account.apiKey}` }, body: form };
}

describe('the simulator of a catalogue', () => {
  it('enlarges images and removes backgrounds', async () => {
    expect(await fileOf(await upscale({ model: 'sim-upscaler', scale: 2 }))).toMatchObject({ width: 600 });
    expect(await fileOf(await cutOut({ model: 'sim-remover' }))).toMatchObject({ width: 300, format: 'png' });
  });
});

describe('POST /image/upscale', () => {
  it.each([
    [{}, 600, '0.98'],
    [{ scale: 2, model: 'upscaler', creativity: 0.01 }, 600, '0.98'],
    [{ scale: 3 }, 900, '0.92'],
    [{ scale: 4 }, 1_200, '0.92'],
  ])('enlarges an image at the price of the scale: %j', async (body, width, left) => {
    const own = await images.ownAccount();
    const response = await upscale(body, { apiKey: own.apiKey });
    expect(response.headers.get('x-svc-model-id')).toBe('upscaler');
    expect(response.headers.get('x-svc-is-content-violation')).toBe('false');
    expect(await fileOf(response)).toEqual({
      type: 'image/png',
      format: 'png',
      width,
      height: (width * 2) / 3,
    });
    await eventually('it is charged', async () => (await own.left()) === left);
    expect(await images.platform.audit()).toMatchObject({ body: { ok: true } });
  });

  it('reads a form', async () => {
    const response = await fetch(`${images.platform.apiUrl}/image/upscale`, formOf({ scale: '4' }));
    expect(await fileOf(response)).toMatchObject({ width: 1_200, height: 800 });
    const { path, body } = await images.received();
    expect(path).toBe('/sdapi/v1/extra-single-image');
    expect(body).toMatchObject({ image: base64, upscaling_resize: 4, upscaler_1: 'R-ESRGAN 4x+' });
  });

  it('reduces the scale, and with it the price, to keep the result within its bounds', async () => {
    const own = await images.ownAccount();
    const image = (await drawn(2_500, 2_500)).toString('base64');
    const reply = await fileOf(await upscale({ image, scale: 4 }, { apiKey: own.apiKey }));
    expect(reply).toMatchObject({ width: 4_074, height: 4_074 });
    await eventually('it is charged', async () => (await own.left()) === '0.98');
  });

  it('refuses an image that cannot become larger', async () => {
    const own = await images.ownAccount();
    const image = (await drawn(4_096, 4_096)).toString('base64');
    const response = await upscale({ image }, { apiKey: own.apiKey });
    expect(response.status).toBe(400);
    expect((await errorOf(response)).error.param).toBe('image');
    expect(await own.left()).toBe('1.00');
  });

  it.each([
    [{ image: undefined }, 'image'],
    [{ image: 'bm8gcGljdHVyZQ==' }, 'image'],
    [{ image: [base64] }, 'image'],
    [{ scale: 1 }, 'scale'],
    [{ scale: 5 }, 'scale'],
    [{ scale: 'large' }, 'scale'],
    [{ creativity: 'much' }, 'creativity'],
    [{ model: '' }, 'model'],
  ])('refuses by its name: %j', async (body, param) => {
    const response = await upscale(body);
    expect(response.status).toBe(400);
    expect((await errorOf(response)).error.param).toBe(param);
  });

  it.each([
    ['painter', 404],
    ['no-upscaler', 503],
  ])('charges nothing if the model %s cannot enlarge', async (model, status) => {
    const own = await images.ownAccount();
    expect((await upscale({ model }, { apiKey: own.apiKey })).status).toBe(status);
    expect(await own.left()).toBe('1.00');
  });

  it('is listed with its prices', async () => {
    const response = await fetch(`${images.platform.apiUrl}/models?type=upscale`);
    const { data } = (await response.json()) as { data: { id: string; model_spec: object }[] };
    expect(data.find(({ id }) => id === 'upscaler')?.model_spec).toMatchObject({
      pricing: { upscale: { '2x': { usd: 0.02, diem: 0.02 }, '4x': { usd: 0.08, diem: 0.08 } } },
    });
  });
});

describe('POST /image/background-remove', () => {
  it('returns an image of the same size, at the price of an image', async () => {
    const own = await images.ownAccount();
    const response = await cutOut({}, { apiKey: own.apiKey });
    expect(response.headers.get('x-svc-model-id')).toBe('remover');
    expect(await fileOf(response)).toEqual({ type: 'image/png', format: 'png', width: 300, height: 200 });
    await eventually('it is charged', async () => (await own.left()) === '0.99');
    const { path, body } = await images.received();
    expect(path).toBe('/api/remove');
    expect(body).toEqual({ model: 'u2net', file: [{ type: 'image/png', bytes: drawing.length }] });
  });

  it('reads a form, and a data URL as image_url', async () => {
    const response = await fetch(`${images.platform.apiUrl}/image/background-remove`, formOf({}));
    expect(await fileOf(response)).toMatchObject({ width: 300 });
    const url = `data:image/png;base64,${base64}`;
    expect(await fileOf(await cutOut({ image: undefined, image_url: url }))).toMatchObject({ width: 300 });
  });

  it.each([
    [{ image: undefined }, 'image'],
    [{ image_url: 'https://example.com/a.png' }, 'image'],
    [{ image: undefined, image_url: 'http://127.0.0.1:1/a.png' }, 'image_url'],
    [{ image: 'bm8gcGljdHVyZQ==' }, 'image'],
  ])('refuses by its name: %j', async (body, param) => {
    const response = await cutOut(body);
    expect(response.status).toBe(400);
    expect((await errorOf(response)).error.param).toBe(param);
  });

  it.each(['broken', 'black', 'small', 'huge', 'html-image', '500'])(
    'charges nothing for a result that cannot be sold: %s',
    async (fault) => {
      const own = await images.ownAccount();
      const response = await cutOut({ model: `remover-${fault}` }, { apiKey: own.apiKey });
      expect(response.status).toBe(500);
      expect(await own.left()).toBe('1.00');
    },
  );

  it('does not make images with a model that only removes backgrounds', async () => {
    expect((await images.generate({ model: 'remover' })).status).toBe(503);
  });
});
