import type { ImageFacts } from './image-job.js';

/** The image format by its first bytes; `undefined` for any other. */
export function imageFormat(bytes: Uint8Array): ImageFacts['format'] | undefined {
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
