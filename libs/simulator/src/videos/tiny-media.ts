/** Small files that players accept: a grey video, and silence. */

const FRAMES_PER_SECOND = 24;
/** Pixels on each side of a macroblock of H.264. */
const BLOCK = 16;
/** More blocks need another level. */
const BLOCKS_OF_LEVEL_31 = 3_600;

/** Bits of H.264's syntax, most significant first. */
class BitWriter {
  private readonly bytes: number[] = [];
  private current = 0;
  private filled = 0;

  bits(value: number, count: number): this {
    for (let at = count - 1; at >= 0; at -= 1) {
      this.current = (this.current << 1) | ((value >>> at) & 1);
      this.filled += 1;
      if (this.filled < 8) continue;
      this.bytes.push(this.current);
      this.current = 0;
      this.filled = 0;
    }
    return this;
  }

  /** Numbers of variable length, without a sign: `ue(v)`. */
  numbers(...values: readonly number[]): this {
    for (const value of values) {
      const length = 31 - Math.clz32(value + 1);
      this.bits(0, length).bits(value + 1, length + 1);
    }
    return this;
  }

  /** A unit of this type, with its stop bit, and with bytes that prevent start codes. */
  unit(type: number): Buffer {
    this.bits(1, 1);
    while (this.filled > 0) this.bits(0, 1);
    const escaped = [type];
    let zeros = 0;
    for (const byte of this.bytes) {
      if (zeros >= 2 && byte <= 3) {
        escaped.push(3);
        zeros = 0;
      }
      escaped.push(byte);
      zeros = byte === 0 ? zeros + 1 : 0;
    }
    return Buffer.from(escaped);
  }
}

interface Picture {
  readonly width: number;
  readonly height: number;
  readonly columns: number;
  readonly rows: number;
}

/** Baseline profile: blocks are predicted without differences, and later frames skip all of them. */
function parameterSet({ width, height, columns, rows }: Picture): Buffer {
  const writer = new BitWriter()
    .bits(66, 8)
    .bits(0xc0, 8)
    .bits(columns * rows > BLOCKS_OF_LEVEL_31 ? 40 : 31, 8);
  writer
    .numbers(0, 0, 2, 1)
    .bits(0, 1)
    .numbers(columns - 1, rows - 1)
    .bits(0b11, 2);
  // Cropping is in units of two pixels.
  const right = (columns * BLOCK - width) / 2;
  const bottom = (rows * BLOCK - height) / 2;
  const isCropped = right > 0 || bottom > 0;
  writer.bits(isCropped ? 1 : 0, 1);
  if (isCropped) writer.numbers(0, right, 0, bottom);
  return writer.bits(0, 1).unit(0x67);
}

const PICTURE_SET = new BitWriter()
  .numbers(0, 0)
  .bits(0, 2)
  .numbers(0, 0, 0)
  .bits(0, 3)
  .numbers(0, 0, 0)
  .bits(0b100, 3)
  .unit(0x68);

function firstFrame({ columns, rows }: Picture): Buffer {
  const writer = new BitWriter().numbers(0, 7, 0).bits(0, 4).numbers(0).bits(0, 2).numbers(0, 1);
  for (let block = 0; block < columns * rows; block += 1) writer.numbers(3, 0, 0).bits(1, 1);
  return writer.unit(0x65);
}

function laterFrame({ columns, rows }: Picture, number: number): Buffer {
  const writer = new BitWriter()
    .numbers(0, 5, 0)
    .bits(number % 16, 4)
    .bits(0, 3);
  return writer.numbers(0, 1, columns * rows).unit(0x41);
}

const u16 = (value: number): Buffer => Buffer.from([value >> 8, value & 255]);
function u32(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, index * 4);
  return bytes;
}

function box(type: string, ...content: readonly Buffer[]): Buffer {
  const body = Buffer.concat(content);
  return Buffer.concat([u32(8 + body.length), Buffer.from(type, 'latin1'), body]);
}

/** A box that begins with a version, which is 0, and flags. */
const flagged = (type: string, flags: number, ...content: readonly Buffer[]): Buffer =>
  box(type, u32(flags), ...content);

const MATRIX = u32(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000);

interface Track extends Picture {
  readonly samples: readonly Buffer[];
}

const TIMESCALE = FRAMES_PER_SECOND * 1_000;

function sampleTable(track: Track, offset: number): Buffer {
  const { width, height, samples } = track;
  const set = parameterSet(track);
  const configuration = box(
    'avcC',
    Buffer.from([1, ...set.subarray(1, 4), 0xff, 0xe1]),
    u16(set.length),
    set,
    Buffer.from([1]),
    u16(PICTURE_SET.length),
    PICTURE_SET,
  );
  const entry = box(
    'avc1',
    Buffer.alloc(6),
    u16(1),
    Buffer.alloc(16),
    u16(width),
    u16(height),
    u32(0x480000, 0x480000, 0),
    u16(1),
    Buffer.alloc(32),
    u16(24),
    u16(0xffff),
    configuration,
  );
  return box(
    'stbl',
    flagged('stsd', 0, u32(1), entry),
    flagged('stts', 0, u32(1, samples.length, 1_000)),
    flagged('stss', 0, u32(1, 1)),
    flagged('stsc', 0, u32(1, 1, samples.length, 1)),
    flagged('stsz', 0, u32(0, samples.length, ...samples.map(({ length }) => length))),
    flagged('stco', 0, u32(1, offset)),
  );
}

function movie(track: Track, offset: number): Buffer {
  const { width, height, samples } = track;
  const duration = samples.length * 1_000;
  const times = u32(0, 0, TIMESCALE, duration);
  return box(
    'moov',
    flagged('mvhd', 0, times, u32(0x10000), u16(0x100), Buffer.alloc(10), MATRIX, Buffer.alloc(24), u32(2)),
    box(
      'trak',
      flagged(
        'tkhd',
        3,
        u32(0, 0, 1, 0, duration),
        Buffer.alloc(16),
        MATRIX,
        u32(width * 65_536, height * 65_536),
      ),
      box(
        'mdia',
        flagged('mdhd', 0, times, u16(0x55c4), u16(0)),
        flagged('hdlr', 0, u32(0), Buffer.from('vide'), Buffer.alloc(13)),
        box(
          'minf',
          flagged('vmhd', 1, Buffer.alloc(8)),
          box('dinf', flagged('dref', 0, u32(1), flagged('url ', 1))),
          sampleTable(track, offset),
        ),
      ),
    ),
  );
}

/** A grey MP4 of even width and height. */
export function tinyMp4({
  width,
  height,
  seconds,
}: {
  width: number;
  height: number;
  seconds: number;
}): Buffer {
  const picture = { width, height, columns: Math.ceil(width / BLOCK), rows: Math.ceil(height / BLOCK) };
  const frames = Math.max(1, Math.round(seconds * FRAMES_PER_SECOND));
  const units = [firstFrame(picture)];
  for (let number = 1; number < frames; number += 1) units.push(laterFrame(picture, number));
  const samples = units.map((unit) => Buffer.concat([u32(unit.length), unit]));
  const track = { ...picture, samples };
  const type = box('ftyp', Buffer.from('isom'), u32(512), Buffer.from('isomiso2avc1mp41'));
  const offset = type.length + movie(track, 0).length + 8;
  return Buffer.concat([type, movie(track, offset), box('mdat', ...samples)]);
}

/** MPEG-1 layer III, 48 kHz, 32 kbit/s, mono: each frame is 24 ms of silence. */
const MP3_FRAME = Buffer.concat([Buffer.from([0xff, 0xfb, 0x14, 0xc0]), Buffer.alloc(92)]);
const MP3_FRAME_S = 0.024;

export function tinyMp3(seconds: number): Buffer {
  return Buffer.alloc(MP3_FRAME.length * Math.max(1, Math.round(seconds / MP3_FRAME_S)), MP3_FRAME);
}
