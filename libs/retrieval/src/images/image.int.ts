import { ImageRejected } from '@svc/contracts';
import sharp from 'sharp';
import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { LocalRetrieval } from '../local-retrieval.js';
import { retrievalConfig } from '../retrieval.config.js';
import { heicImage } from '../../test/sample-files.js';

const config = z.object(retrievalConfig).parse({});
const retrieval = new LocalRetrieval(config);
afterAll(() => retrieval.close());

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

describe('inspectImage', () => {
  it.each(formats)('measures a %s', async (format) => {
    const bytes = await noise.clone().toFormat(format).toBuffer();
    expect(await retrieval.inspectImage(bytes)).toEqual({ width: 80, height: 70, format });
  });

  it('measures a HEIC', async () => {
    expect(await retrieval.inspectImage(heicImage())).toEqual({ width: 80, height: 70, format: 'heic' });
  });

  it.each([...formats, 'heic'] as const)('rejects a %s whose last bytes are missing', async (format) => {
    const bytes = format === 'heic' ? heicImage() : await noise.clone().toFormat(format).toBuffer();
    const short = bytes.subarray(0, bytes.length - Math.ceil(bytes.length / 50));
    await expect(retrieval.inspectImage(short)).rejects.toBeInstanceOf(ImageRejected);
  });

  it('measures an image that is very tall', async () => {
    const { width, height } = { width: 64, height: 200_000 };
    const bytes = await sharp({ create: { width, height, channels: 3, background: 'red' } })
      .png()
      .toBuffer();
    expect(await retrieval.inspectImage(bytes)).toEqual({ width, height, format: 'png' });
  });

  it('rejects a large image that breaks off in its last rows', async () => {
    const { width, height } = { width: 3_000, height: 3_000 };
    const bytes = await sharp({ create: { width, height, channels: 3, background: 'red' } })
      .jpeg()
      .toBuffer();
    expect(await retrieval.inspectImage(bytes)).toMatchObject({ width, height });
    const short = bytes.subarray(0, Math.floor(bytes.length * 0.999));
    await expect(retrieval.inspectImage(short)).rejects.toThrow('the image does not decode');
  });

  it('rejects more pixels than allowed before it decodes them', async () => {
    const bytes = await sharp({
      create: { width: 11_000, height: 11_000, channels: 3, background: 'red' },
    })
      .png()
      .toBuffer();
    await expect(retrieval.inspectImage(bytes)).rejects.toThrow('more than 100 megapixels');
  });

  it('rejects what is no image of these formats, pictures in other formats included', async () => {
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="80" height="80"/>');
    const tiff = await noise.clone().tiff().toBuffer();
    for (const bytes of [
      svg,
      tiff,
      Buffer.from('text'),
      new Uint8Array(),
      Buffer.from('\u00ff\u00d8\u00ff', 'latin1'),
    ])
      await expect(retrieval.inspectImage(bytes)).rejects.toBeInstanceOf(ImageRejected);
  });

  it('rejects a HEIC that needs more memory than allowed, and goes on', async () => {
    const tight = new LocalRetrieval({ ...config, RETRIEVAL_THREADS: 1, RETRIEVAL_THREAD_BUFFERS_MB: 1 });
    await expect(tight.inspectImage(heicImage())).rejects.toBeInstanceOf(ImageRejected);
    await tight.close();
  });
});
