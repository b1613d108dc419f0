import sharp from 'sharp';
import { heicFacts } from './heic.js';
import { Unreadable } from '@svc/threads';
import { imageFormat } from './image-format.js';
import { type ImageFacts, type ImageToRead, refuseOversized } from './image-job.js';

// One image uses one core and leaves no caches; loaders for all other formats are disabled.
sharp.cache(false);
sharp.concurrency(1);
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({
  operation: ['Jpeg', 'Png', 'Webp', 'Heif', 'Nsgif'].map((name) => `VipsForeignLoad${name}Buffer`),
});

/** Decodes the whole image, so damage anywhere in it is found. */
export async function inspectImage(job: ImageToRead): Promise<ImageFacts> {
  const format = imageFormat(job.bytes);
  if (!format) throw new Unreadable('it is not an image of a supported format');
  try {
    return format === 'heic' ? await heicFacts(job) : await sharpFacts(job, format);
  } catch (error) {
    throw error instanceof Unreadable ? error : new Unreadable('the image does not decode');
  }
}

async function sharpFacts(job: ImageToRead, format: ImageFacts['format']): Promise<ImageFacts> {
  const { width, height } = await sharp(job.bytes, { limitInputPixels: false }).metadata();
  refuseOversized(width, height, job);
  const image = sharp(job.bytes, {
    limitInputPixels: job.pixelLimit,
    failOn: 'error',
    sequentialRead: true,
  });
  // One pixel of each row: every row is decoded, and almost nothing is kept.
  await image
    .resize(1, height, { fit: 'fill', kernel: 'nearest', fastShrinkOnLoad: false })
    .timeout({ seconds: Math.ceil(job.timeoutMs / 1_000) })
    .raw()
    .toBuffer();
  return { width, height, format };
}
