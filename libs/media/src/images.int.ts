import sharp from 'sharp';
import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { heicImage } from '../test/heic-image.js';
import { dataUrl } from './data-url.js';
import { imagesConfig } from './images.config.js';
import { ImageRejected, Images } from './images.js';

const config = z.object(imagesConfig).parse({});
const images = new Images(config);
afterAll(() => images.close());

const me = { account: 'me' };
const read = (image: string | Uint8Array) => images.read(image, me);

const noise = sharp({
  create: {
    width: 80,
    height: 70,
    channels: 3,
    background: 'red',
    noise: { type: 'gaussian', mean: 120, sigma: 40 },
  },
});
const formats = ['png', 'jpeg', 'webp', 'gif', 'avif'] as const;

describe('Images', () => {
  it.each(formats)('measures a %s', async (format) => {
    const bytes = await noise.clone().toFormat(format).toBuffer();
    expect(await read(bytes)).toEqual({
      width: 80,
      height: 70,
      format,
      url: await dataUrl(`image/${format}`, bytes),
    });
  });

  it('measures a HEIC', async () => {
    expect(await read(heicImage())).toMatchObject({ width: 80, height: 70, format: 'heic' });
  });

  it.each([...formats, 'heic'] as const)('rejects a %s without its last bytes', async (format) => {
    const bytes = format === 'heic' ? heicImage() : await noise.clone().toFormat(format).toBuffer();
    const short = bytes.subarray(0, bytes.length - Math.ceil(bytes.length / 50));
    await expect(read(short)).rejects.toBeInstanceOf(ImageRejected);
  });

  it('measures a very tall image', async () => {
    const { width, height } = { width: 64, height: 200_000 };
    const bytes = await sharp({ create: { width, height, channels: 3, background: 'red' } })
      .png()
      .toBuffer();
    expect(await read(bytes)).toMatchObject({ width, height, format: 'png' });
  });

  it('rejects a large image that breaks off in its last rows', async () => {
    const { width, height } = { width: 3_000, height: 3_000 };
    const bytes = await sharp({ create: { width, height, channels: 3, background: 'red' } })
      .jpeg()
      .toBuffer();
    expect(await read(bytes)).toMatchObject({ width, height });
    const short = bytes.subarray(0, Math.floor(bytes.length * 0.999));
    await expect(read(short)).rejects.toThrow('the image does not decode');
  });

  it('rejects an image with too many pixels before decoding it', async () => {
    const bytes = await sharp({
      create: { width: 8_000, height: 8_000, channels: 3, background: 'red' },
    })
      .png()
      .toBuffer();
    await expect(read(bytes)).rejects.toThrow('more than 50 megapixels');
  });

  it('rejects anything but images of these formats', async () => {
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="80" height="80"/>');
    const tiff = await noise.clone().tiff().toBuffer();
    for (const bytes of [
      svg,
      tiff,
      Buffer.from('text'),
      new Uint8Array(),
      Buffer.from('\u00ff\u00d8\u00ff', 'latin1'),
    ])
      await expect(read(bytes)).rejects.toBeInstanceOf(ImageRejected);
  });

  it('rejects a HEIC that needs too much memory, and keeps working', async () => {
    const tight = new Images({ ...config, IMAGES_THREADS: 1, IMAGES_THREAD_BUFFERS_MB: 1 });
    await expect(tight.read(heicImage(), me)).rejects.toBeInstanceOf(ImageRejected);
    await tight.close();
  });

  it('returns no URL for an image that needs no change, and rewrites any other', async () => {
    const bytes = await noise.clone().png().toBuffer();
    const plain = await dataUrl('image/png', bytes);
    const facts = { width: 80, height: 70, format: 'png' };
    expect(await read(plain)).toEqual(facts);
    const others = [
      plain.replace('image/png', 'image/jpeg'),
      plain.replace('data:', 'DATA:'),
      plain.replace(';base64', ';name=a;base64'),
      plain.replace(/.{1000}/, '$&\n'),
    ];
    for (const other of others) expect(await read(other)).toEqual({ ...facts, url: plain });
  });

  it('rejects an empty data URL', async () => {
    await expect(read('data:image/png;base64,!!')).rejects.toThrow('the data URL is not valid');
  });
});
