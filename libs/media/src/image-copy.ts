import sharp, { type Sharp } from 'sharp';
import { Unreadable } from '@svc/threads';
import { heicPixels } from './heic.js';
import type { ImageFacts, ImageToRead, ReadImage } from './image-job.js';
import { barePng, hasOnlyImageChunks } from './png.js';

/** A loss that nobody sees. */
const QUALITY = 95;

/**
 * A new file of the pixels of a supplied image, upright: no metadata, and nothing before, between or after
 * them. A PNG that has nothing else is not encoded again. Its format is PNG, JPEG or WebP.
 */
export async function imageCopy(image: ImageToRead, facts: ImageFacts): Promise<ReadImage> {
  const { bytes } = image;
  if (facts.format === 'png' && hasOnlyImageChunks(bytes)) return { ...facts, file: await barePng(bytes) };
  try {
    const decoded = await decode(image, facts);
    const { data, info } = await encode(decoded, facts).toBuffer({ resolveWithObject: true });
    const { width, height, format } = info;
    return { width, height, format: format as ImageFacts['format'], file: data };
  } catch (error) {
    throw error instanceof Unreadable ? error : new Unreadable('the image does not decode');
  }
}

async function decode(image: ImageToRead, { format }: ImageFacts): Promise<Sharp> {
  const timeout = { seconds: Math.ceil(image.timeoutMs / 1_000) };
  if (format !== 'heic') {
    const options = { limitInputPixels: image.pixelLimit, failOn: 'error', autoOrient: true } as const;
    return sharp(image.bytes, options).timeout(timeout);
  }
  const { data, width, height } = await heicPixels(image);
  return sharp(data, { raw: { width, height, channels: 4 } }).timeout(timeout);
}

/** Transparency is kept, and JPEG has none. */
function encode(image: Sharp, { format }: ImageFacts): Sharp {
  switch (format) {
    case 'png':
    case 'gif':
      return image.png();
    case 'webp':
    case 'avif':
      return image.webp({ quality: QUALITY });
    case 'jpeg':
    case 'heic':
      return image.removeAlpha().jpeg({ quality: QUALITY });
  }
}
