import { ImageOrders, type MadeImages, type Served } from '@svc/contracts/inference';
import { chargeLine } from '@svc/contracts/messages';
import { Images, imagesConfig } from '@svc/media';
import { createLogger } from '@svc/runtime';
import sharp from 'sharp';
import { afterAll, expect, it } from 'vitest';
import { z } from 'zod';
import { ImageMaker } from './image-maker.js';

const images = new Images(z.object({ ...imagesConfig }).parse({}));
afterAll(() => images.close());

/** Backends whose caller disconnects as soon as its images have arrived. */
class LastMomentOrders extends ImageOrders {
  readonly leaving = new AbortController();

  constructor(private readonly made: MadeImages) {
    super();
  }

  override make(): Promise<Served<MadeImages>> {
    this.leaving.abort();
    return Promise.resolve({ backend: 'b', retries: 0, result: this.made });
  }
}

const price = { sku: 'm-image-unit', unit: 'image', priceNanoPerMillion: 1n } as const;

it('checks and charges images that had arrived when the client disconnected', async () => {
  const image = await sharp({ create: { width: 64, height: 64, channels: 3, background: 'red' } })
    .png()
    .toBuffer();
  const backends = new LastMomentOrders({ images: [image.toString('base64'), 'bm90IGFuIGltYWdl'] });
  const maker = new ImageMaker(backends, images, { log: createLogger('silent') });
  const sale = {
    sale: { name: 'm' },
    count: 2,
    lines: (count: number) => [chargeLine(price, count)],
    output: { format: 'png', quality: 90 },
    work: { kind: 'image', order: { prompt: 'a', count: 2, width: 64, height: 64, others: {} } },
  } as const;
  const caller = { requestId: 'r', accountId: 'a' };
  const { result, lines } = await maker.make(sale, caller, backends.leaving.signal);
  expect(result.files).toMatchObject([{ width: 64, height: 64 }]);
  expect(lines).toEqual([chargeLine(price, 1)]);
});
