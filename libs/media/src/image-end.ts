import { barePng } from './png.js';
import type { ImageFacts } from './image-job.js';

/** An image that decodes, without bytes behind its end. The same bytes if there are none. */
export async function withoutRest(bytes: Uint8Array, format: ImageFacts['format']): Promise<Uint8Array> {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  switch (format) {
    case 'png':
      return barePng(bytes);
    case 'jpeg':
      return cut(bytes, jpegEnd(file));
    case 'gif':
      return cut(bytes, gifEnd(file));
    case 'webp':
      return cut(bytes, 8 + file.readUInt32LE(4));
    case 'avif':
    case 'heic':
      return bytes;
  }
}

const cut = (bytes: Uint8Array, end: number): Uint8Array =>
  end > 0 && end < bytes.length ? bytes.subarray(0, end) : bytes;

const END_OF_IMAGE = 0xd9;
const START_OF_SCAN = 0xda;
const isRestart = (marker: number): boolean => marker >= 0xd0 && marker <= 0xd7;

/** Behind the mark of the end, which pictures in its metadata have too. */
function jpegEnd(file: Buffer): number {
  for (let at = 2; at + 4 <= file.length;) {
    const marker = file[at + 1] ?? 0;
    if (file[at] !== 0xff) break;
    if (marker === END_OF_IMAGE) return at + 2;
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    at += 2 + file.readUInt16BE(at + 2);
    if (marker === START_OF_SCAN) at = scanEnd(file, at);
  }
  // The mark is the last thing, or something is between the segments.
  return file.lastIndexOf(Buffer.from([0xff, END_OF_IMAGE])) + 2;
}

/** In compressed data, 255 is followed by 0 or by the number of a restart. */
function scanEnd(file: Buffer, from: number): number {
  let at = file.indexOf(0xff, from);
  while (at !== -1 && (file[at + 1] === 0 || isRestart(file[at + 1] ?? 0))) at = file.indexOf(0xff, at + 2);
  return at === -1 ? file.length : at;
}

const EXTENSION = 0x21;
const IMAGE = 0x2c;
const TRAILER = 0x3b;

/** 0 if there is no end. */
function gifEnd(file: Buffer): number {
  let at = 13 + tableBytes(file[10] ?? 0);
  while (at < file.length) {
    const kind = file[at];
    if (kind === TRAILER) return at + 1;
    if (kind === EXTENSION) at += 2;
    else if (kind === IMAGE) at += 11 + tableBytes(file[at + 9] ?? 0);
    else return 0;
    // Blocks of up to 255 bytes, and an empty one.
    for (let length = file[at] ?? 0; length > 0; length = file[at] ?? 0) at += length + 1;
    at += 1;
  }
  return 0;
}

/** Of a table of colours, if there is one. */
const tableBytes = (flags: number): number => ((flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1));
