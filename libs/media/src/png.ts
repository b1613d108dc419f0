import { once } from 'node:events';
import { crc32, createInflate } from 'node:zlib';
import { DAMAGED, Unreadable } from '@svc/threads';

const SIGNATURE_BYTES = 8;
const CHUNK_BYTES = 12;

/** The chunks of a PNG that show: its image, colours and transparency. */
const IMAGE_CHUNKS: ReadonlySet<string> = new Set(
  'IHDR PLTE IDAT IEND tRNS gAMA cHRM sRGB iCCP cICP sBIT pHYs'.split(' '),
);
/** Says which side is up. */
const EXIF = 'eXIf';

interface Chunk {
  readonly name: string;
  readonly content: Buffer;
  /** With its length, name and checksum. */
  readonly whole: Buffer;
}

/** The chunks up to the end of the image. */
function chunksOf(bytes: Uint8Array): Chunk[] {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const chunks: Chunk[] = [];
  for (let at = SIGNATURE_BYTES; at + CHUNK_BYTES <= file.length;) {
    const end = at + CHUNK_BYTES + file.readUInt32BE(at);
    const whole = file.subarray(at, end);
    const chunk = { name: whole.toString('latin1', 4, 8), content: whole.subarray(8, -4), whole };
    chunks.push(chunk);
    if (chunk.name === 'IEND') return chunks;
    at = end;
  }
  throw new Unreadable(DAMAGED);
}

/** Whether a PNG has no metadata and no further frames. */
export const hasOnlyImageChunks = (bytes: Uint8Array): boolean =>
  chunksOf(bytes).every(({ name }) => IMAGE_CHUNKS.has(name));

/**
 * A PNG that decodes, without what does not show: other chunks, and bytes behind the pixels. The same bytes
 * if it has none of that. Throws Unreadable if its data have more than the pixels.
 */
export async function barePng(bytes: Uint8Array): Promise<Uint8Array> {
  const chunks = chunksOf(bytes);
  const data = chunks.filter(({ name }) => name === 'IDAT');
  const [header] = chunks;
  if (header?.name !== 'IHDR' || data.length === 0) throw new Unreadable(DAMAGED);
  const pixels = Buffer.concat(data.map(({ content }) => content));
  const used = await usedBytes(pixels, pixelBytes(header.content));
  const isAllUsed = used === pixels.length;
  const parts: Buffer[] = [Buffer.from(bytes.subarray(0, SIGNATURE_BYTES))];
  for (const chunk of chunks) {
    if (!IMAGE_CHUNKS.has(chunk.name) && chunk.name !== EXIF) continue;
    if (chunk.name !== 'IDAT' || isAllUsed) parts.push(chunk.whole);
    else if (chunk === data[0]) parts.push(dataChunk(pixels.subarray(0, used)));
  }
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  return length === bytes.length ? bytes : Buffer.concat(parts);
}

/** The compressed bytes that the pixels are in. */
async function usedBytes(data: Buffer, expected: number): Promise<number> {
  const inflate = createInflate();
  let length = 0;
  inflate.on('data', (part: Buffer) => {
    length += part.length;
    if (length > expected) inflate.destroy(new Unreadable('the image has data behind its pixels'));
  });
  const ended = once(inflate, 'end');
  inflate.end(data);
  await ended;
  return inflate.bytesWritten;
}

/** Numbers of a pixel, by the type of colours. */
const SAMPLES: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

/** Interlaced images have seven: where their first pixel is, and how far the next ones are. */
const PASSES = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const;

/** The bytes of all rows, each with its filter. */
function pixelBytes(header: Buffer): number {
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const bits = (header[8] ?? 0) * (SAMPLES[header[9] ?? 0] ?? 0);
  const passes = header[12] === 1 ? PASSES : ([[0, 0, 1, 1]] as const);
  return passes.reduce((sum, [left, top, right, down]) => {
    const [columns, rows] = [Math.ceil((width - left) / right), Math.ceil((height - top) / down)];
    return columns > 0 && rows > 0 ? sum + rows * (1 + Math.ceil((columns * bits) / 8)) : sum;
  }, 0);
}

function dataChunk(content: Buffer): Buffer {
  const [head, sum] = [Buffer.alloc(8), Buffer.alloc(4)];
  head.writeUInt32BE(content.length);
  head.write('IDAT', 4);
  sum.writeUInt32BE(crc32(content, crc32('IDAT')));
  return Buffer.concat([head, content, sum]);
}
