import type { ImageFacts } from '@svc/contracts';
import sharp from 'sharp';
import { heicFacts } from './heic.js';
import { type ImageJob, Unreadable, refuseOversized } from '../job/job.js';

// One image takes one core and leaves nothing behind; loaders for anything but the formats below are shut.
sharp.cache(false);
sharp.concurrency(1);
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({
  operation: ['Jpeg', 'Png', 'Webp', 'Heif', 'Nsgif'].map((name) => `VipsForeignLoad${name}Buffer`),
});

/** Decodes the whole image; damage anywhere in it is found. */
export async function inspectImage(job: ImageJob): Promise<ImageFacts> {
  const format = formatOf(job.bytes);
  if (!format) throw new Unreadable('it is not an image of a supported format');
  try {
    return format === 'heic' ? await heicFacts(job) : await sharpFacts(job, format);
  } catch (error) {
    throw error instanceof Unreadable ? error : new Unreadable('the image does not decode');
  }
}

function formatOf(bytes: Uint8Array): ImageFacts['format'] | undefined {
  const start = Buffer.from(bytes.subarray(0, 64)).toString('latin1');
  if (start.startsWith('\u0089PNG\r\n\u001a\n')) return 'png';
  if (start.startsWith('\u00ff\u00d8\u00ff')) return 'jpeg';
  if (start.startsWith('GIF8')) return 'gif';
  if (start.startsWith('RIFF') && start.startsWith('WEBP', 8)) return 'webp';
  if (!start.startsWith('ftyp', 4)) return undefined;
  const brands = start.slice(8, Math.min(64, Buffer.from(start, 'latin1').readUInt32BE(0)));
  if (/avi[fs]/.test(brands)) return 'avif';
  return /hei[cxms]|hev[cxms]|mif1|msf1/.test(brands) ? 'heic' : undefined;
}

async function sharpFacts(job: ImageJob, format: ImageFacts['format']): Promise<ImageFacts> {
  const { width, height } = await sharp(job.bytes, { limitInputPixels: false }).metadata();
  refuseOversized(width, height, job);
  const image = sharp(job.bytes, {
    limitInputPixels: job.pixelLimit,
    failOn: 'error',
    sequentialRead: true,
  });
  // One pixel of each row: every row is decoded and next to nothing is kept.
  await image
    .resize(1, height, { fit: 'fill', kernel: 'nearest', fastShrinkOnLoad: false })
    .timeout({ seconds: Math.ceil(job.timeoutMs / 1_000) })
    .raw()
    .toBuffer();
  return { width, height, format };
}
