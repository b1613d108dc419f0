import sharp, { type Sharp } from 'sharp';
import { Unreadable } from '@svc/threads';
import type { ImageFacts, ImageOutput, ImageToRead } from './image-job.js';
import { barePng, hasOnlyImageChunks } from './png.js';

/** The image is reduced to this size to see whether it shows anything. */
const SAMPLE_SIDE = 64;

/** JPEG does not keep black exactly, nor lossy WebP one transparency. */
const BLACK_AT_MOST = 2;

/** Red, green, blue and alpha. */
const CHANNELS = 4;
const OPAQUE = 255;

/**
 * A new file of a decoded image, without its metadata. Bytes are kept if they are such a file already. Throws
 * Unreadable if it shows nothing.
 */
export async function imageFile(
  { bytes, pixelLimit, timeoutMs }: ImageToRead,
  { format }: Pick<ImageFacts, 'format'>,
  output: ImageOutput,
): Promise<Uint8Array> {
  if (format === 'heic') throw new Unreadable('it is HEIC');
  const decode = (): Sharp =>
    sharp(bytes, { limitInputPixels: pixelLimit, failOn: 'error' }).timeout({
      seconds: Math.ceil(timeoutMs / 1_000),
    });
  await refuseBlack(decode());
  const isPng = format === 'png' && output.format === 'png' && !output.exif;
  if (isPng && hasOnlyImageChunks(bytes)) return barePng(bytes);
  return encoded(decode(), output);
}

/** A dark subject on a transparent background shows its outline. */
async function refuseBlack(image: Sharp): Promise<void> {
  const sample = await image.ensureAlpha().resize(SAMPLE_SIDE, SAMPLE_SIDE, { fit: 'fill' }).raw().toBuffer();
  let brightest = 0;
  let [leastOpaque, mostOpaque] = [OPAQUE, 0];
  for (let at = 0; at < sample.length; at += CHANNELS) {
    const [red = 0, green = 0, blue = 0, alpha = 0] = sample.subarray(at, at + CHANNELS);
    brightest = Math.max(brightest, (Math.max(red, green, blue) * alpha) / OPAQUE);
    leastOpaque = Math.min(leastOpaque, alpha);
    mostOpaque = Math.max(mostOpaque, alpha);
  }
  if (brightest <= BLACK_AT_MOST && mostOpaque - leastOpaque <= BLACK_AT_MOST)
    throw new Unreadable('the image is all black');
}

function encoded(image: Sharp, { format, quality, exif }: ImageOutput): Promise<Uint8Array> {
  const described = exif ? image.withExif({ IFD0: { ...exif } }) : image;
  switch (format) {
    case 'png':
      return described.png().toBuffer();
    case 'jpeg':
      return described.flatten({ background: '#ffffff' }).jpeg({ quality }).toBuffer();
    case 'webp':
      return described.webp({ quality }).toBuffer();
  }
}
