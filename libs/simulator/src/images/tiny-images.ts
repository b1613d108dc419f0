import { crc32, deflateSync } from 'node:zlib';

export interface Image {
  readonly width: number;
  readonly height: number;
  /** One colour: red, green, blue. */
  readonly colour: readonly [number, number, number];
}

const PNG_SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
/** Eight bits per channel, red, green and blue; no interlacing. */
const PNG_MODE = Buffer.from([8, 2, 0, 0, 0]);

/** A PNG, with a comment if one is given. */
export function tinyPng({ width, height, colour }: Image, comment?: string): Buffer {
  const row = Buffer.concat([Buffer.from([0]), Buffer.alloc(width * 3, Buffer.from(colour))]);
  const raw = Buffer.alloc(row.length * height, row);
  return Buffer.concat([
    PNG_SIGNATURE,
    chunk('IHDR', Buffer.concat([uint32(width), uint32(height), PNG_MODE])),
    ...(comment === undefined ? [] : [chunk('tEXt', Buffer.from(`parameters\0${comment}`, 'latin1'))]),
    chunk('IDAT', deflateSync(raw)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** A PNG that claims a size, and has no pixels. */
export function hollowPng(width: number, height: number): Buffer {
  const head = chunk('IHDR', Buffer.concat([uint32(width), uint32(height), PNG_MODE]));
  return Buffer.concat([PNG_SIGNATURE, head, chunk('IDAT', deflateSync(Buffer.alloc(1_024)))]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  return Buffer.concat([uint32(data.length), body, uint32(crc32(body))]);
}

/** A lossless WebP (VP8L): each of its prefix codes has one symbol, so a pixel takes no bits. */
export function tinyWebp({ width, height, colour: [red, green, blue] }: Image): Buffer {
  const bits = new LowBits();
  // The signature, the size, no alpha, version 0; no transform, no colour cache, no meta codes.
  bits
    .put(0x2f, 8)
    .put(width - 1, 14)
    .put(height - 1, 14)
    .put(0, 1)
    .put(0, 3)
    .put(0, 3);
  // A simple code with one symbol of eight bits.
  for (const symbol of [green, red, blue, 255]) bits.put(1, 1).put(0, 1).put(1, 1).put(symbol, 8);
  // The code for distances: one symbol of one bit.
  bits.put(1, 1).put(0, 1).put(0, 1).put(0, 1);
  const data = bits.bytes();
  const padded = data.length % 2 === 1 ? Buffer.concat([data, Buffer.alloc(1)]) : data;
  const body = [Buffer.from('WEBPVP8L'), uint32le(data.length), padded];
  return Buffer.concat([Buffer.from('RIFF'), uint32le(12 + padded.length), ...body]);
}

const JPEG_BLOCK = 8;
/** The zero-based position of the brightness among the 7-bit differences of the first block. */
const JPEG_LEVEL_AT_LEAST = 64;

/** A grey baseline JPEG: the first block sets the brightness, and each other one repeats it in two bits. */
export function tinyJpeg({ width, height, colour: [red] }: Image): Buffer {
  const level = JPEG_LEVEL_AT_LEAST + (red >> 2);
  const blocks = Math.ceil(width / JPEG_BLOCK) * Math.ceil(height / JPEG_BLOCK);
  const bits = new HighBits();
  // DC symbol 7 is `10`, DC symbol 0 is `0`, and the end of a block is `0`.
  bits.put(0b10, 2).put(level, 7).put(0, 1);
  for (let block = 1; block < blocks; block += 1) bits.put(0, 2);
  const scan = [...bits.bytes()].flatMap((byte) => (byte === 0xff ? [0xff, 0] : [byte]));
  const size = [height >> 8, height & 0xff, width >> 8, width & 0xff];
  return Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    segment(0xdb, [0, ...Array<number>(64).fill(8)]),
    segment(0xc0, [8, ...size, 1, 1, 0x11, 0]),
    segment(0xc4, [0x00, 1, 1, ...Array<number>(14).fill(0), 0, 7]),
    segment(0xc4, [0x10, 1, ...Array<number>(15).fill(0), 0]),
    segment(0xda, [1, 1, 0, 0, 63, 0]),
    Buffer.from(scan),
    Buffer.from([0xff, 0xd9]),
  ]);
}

function segment(marker: number, data: readonly number[]): Buffer {
  const length = data.length + 2;
  return Buffer.from([0xff, marker, length >> 8, length & 0xff, ...data]);
}

/** Bits from the lowest of each byte. */
class LowBits {
  private readonly done: number[] = [];
  private current = 0;
  private used = 0;

  put(value: number, count: number): this {
    for (let bit = 0; bit < count; bit += 1) {
      this.current |= ((value >>> bit) & 1) << this.used;
      this.used += 1;
      if (this.used === 8) this.flush();
    }
    return this;
  }

  bytes(): Buffer {
    if (this.used > 0) this.flush();
    return Buffer.from(this.done);
  }

  private flush(): void {
    this.done.push(this.current);
    this.current = 0;
    this.used = 0;
  }
}

/** Bits from the highest of each byte; the last byte is filled with ones. */
class HighBits {
  private readonly done: number[] = [];
  private current = 0;
  private used = 0;

  put(value: number, count: number): this {
    for (let bit = count - 1; bit >= 0; bit -= 1) {
      this.current = (this.current << 1) | ((value >>> bit) & 1);
      this.used += 1;
      if (this.used < 8) continue;
      this.done.push(this.current);
      this.current = 0;
      this.used = 0;
    }
    return this;
  }

  bytes(): Buffer {
    while (this.used > 0) this.put(1, 1);
    return Buffer.from(this.done);
  }
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function uint32le(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
