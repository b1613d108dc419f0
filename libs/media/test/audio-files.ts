// Small audio files of a known length, made byte by byte.

const u16 = (value: number): Buffer => Buffer.from([value >> 8, value & 255]);
const u32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
};
const u32le = (value: number): Buffer => u32(value).reverse();
const repeated = (count: number, bytes: Buffer): Buffer =>
  Buffer.concat(Array.from({ length: count }, () => bytes));

export const FRAME_MS = {
  wav: 1,
  mp3: 24,
  aac: 1_024 / 48,
  flac: 4_096 / 48,
  ogg: 20,
  mp4: 1_024 / 48,
  webm: 20,
};

/** A chunk of a WAV file. */
export const chunk = (name: string, content: Uint8Array, declared = content.length): Buffer =>
  Buffer.concat([Buffer.from(name), u32le(declared), content]);

/** PCM of 16 bits, mono, 16 kHz. */
export function wav(frames: number, declared?: number, behind: Uint8Array = Buffer.alloc(0)): Buffer {
  const format = Buffer.alloc(16);
  format.writeUInt16LE(1, 0);
  format.writeUInt16LE(1, 2);
  format.writeUInt32LE(16_000, 4);
  format.writeUInt32LE(32_000, 8);
  format.writeUInt16LE(2, 12);
  format.writeUInt16LE(16, 14);
  const data = Buffer.concat([chunk('data', Buffer.alloc(frames * 32, 1), declared), behind]);
  return Buffer.concat([Buffer.from('RIFF'), u32le(0), Buffer.from('WAVE'), chunk('fmt ', format), data]);
}

/** MPEG-1 layer III, 32 kbit/s, 48 kHz, mono: 96 bytes are 24 ms. */
const mp3Frame = (text = ''): Buffer => {
  const frame = Buffer.alloc(96);
  frame.write('fffb14c0', 'hex');
  frame.write(text, 21);
  return frame;
};
export const mp3 = (frames: number): Buffer => repeated(frames, mp3Frame());
/** A frame that says how long the file is. */
export const xing = (): Buffer => mp3Frame('Xing\0\0\0\x01\0\0\0\x01');

export const id3 = (bytes: number): Buffer =>
  Buffer.concat([
    Buffer.from('ID3\x04\0\0', 'latin1'),
    Buffer.from([(bytes >> 21) & 127, (bytes >> 14) & 127, (bytes >> 7) & 127, bytes & 127]),
    Buffer.alloc(bytes, 0xff),
  ]);

/** A silent frame of AAC, without its header. */
const AAC_FRAME = Buffer.from('00c80007', 'hex');

/** AAC in ADTS: 48 kHz, mono, frames of 11 bytes. */
export const aac = (frames: number): Buffer =>
  repeated(frames, Buffer.concat([Buffer.from([0xff, 0xf1, 0x4c, 0x40, 0x01, 0x7f, 0xfc]), AAC_FRAME]));

function crc(bytes: Uint8Array, bits: number, polynomial: number): number {
  let sum = 0;
  for (const byte of bytes) {
    sum ^= byte << (bits - 8);
    for (let bit = 0; bit < 8; bit += 1)
      sum = ((sum << 1) ^ ((sum >> (bits - 1)) & 1 ? polynomial : 0)) & (bits === 32 ? -1 : (1 << bits) - 1);
  }
  return sum;
}

/** Constant frames of 4,096 samples at 48 kHz; the header states 1 sample. */
export function flac(frames: number, from = 0): Buffer {
  const info = Buffer.alloc(34);
  info.writeUIntBE((48_000 << 4) >>> 0, 10, 3);
  info[13] = 0xf0;
  info[17] = 1;
  const parts = [Buffer.from('fLaC'), u32(0x80_00_00_22), info];
  for (let index = from; index < from + frames; index += 1) {
    const number = index < 128 ? [index] : [0xc0 | (index >> 6), 0x80 | (index & 63)];
    const head = Buffer.from([0xff, 0xf8, 0xca, 0x08, ...number]);
    const frame = Buffer.concat([head, Buffer.from([crc(head, 8, 7), 0, 0, 0])]);
    parts.push(frame, u16(crc(frame, 16, 0x80_05)));
  }
  return Buffer.concat(parts);
}

/** Each states that it ends at 1 sample. */
function oggPage(serial: number, packets: readonly Buffer[], flags = 0): Buffer {
  const head = Buffer.alloc(27);
  head.write('OggS');
  head[5] = flags;
  head.writeBigInt64LE(1n, 6);
  head.writeUInt32LE(serial, 14);
  head[26] = packets.length;
  const page = Buffer.concat([head, Buffer.from(packets.map(({ length }) => length)), ...packets]);
  page.writeUInt32LE(crc(page, 32, 0x04_c1_1d_b7) >>> 0, 22);
  return page;
}

const pages = (frames: number, each: (from: number, count: number) => Buffer): Buffer[] =>
  Array.from({ length: Math.ceil(frames / 50) }, (_, at) => each(at * 50, Math.min(50, frames - at * 50)));

const OPUS_HEAD = Buffer.concat([Buffer.from('OpusHead\x01\x01', 'latin1'), Buffer.alloc(9)]);

/** Opus packets of 20 ms; all pages state that they end at 1 sample. */
export function ogg(frames: number, serial = 7): Buffer {
  const packet = Buffer.from([0xf8, 0xff, 0xfe]);
  return Buffer.concat([
    oggPage(serial, [OPUS_HEAD], 2),
    oggPage(serial, [Buffer.from('OpusTags')]),
    ...pages(frames, (_from, count) =>
      oggPage(
        serial,
        Array.from({ length: count }, () => packet),
      ),
    ),
  ]);
}

const box = (name: string, ...content: readonly Buffer[]): Buffer => {
  const body = Buffer.concat(content);
  return Buffer.concat([u32(8 + body.length), Buffer.from(name), body]);
};
const words = (...values: readonly number[]): Buffer => Buffer.concat(values.map(u32));

interface Mp4Options {
  readonly isFragmented?: boolean;
  /** Boxes behind the others of the movie. */
  readonly more?: readonly Buffer[];
  /** The number of samples that its table of sizes states. */
  readonly sizes?: number;
}

/** An audio track, by its id, of AAC of 48 kHz. */
function track(id: number, count: number, sizes: number): Buffer {
  // Descriptors 3, 4 (object type 0x40) and 5 (AAC LC, 48 kHz, mono).
  const esds = box(
    'esds',
    words(0),
    Buffer.from('031900010004114015' + '00'.repeat(11) + '05021188060102', 'hex'),
  );
  const stsd = box('stsd', words(0, 1), box('mp4a', Buffer.alloc(28), esds));
  const stbl = box(
    'stbl',
    stsd,
    box('stts', words(0, 1, count, 1)),
    box('stsc', words(0, count > 0 ? 1 : 0, 1, count, 1)),
    box('stsz', words(0, AAC_FRAME.length, sizes)),
    box('stco', words(0, count > 0 ? 1 : 0, DATA_AT)),
  );
  const hdlr = box('hdlr', words(0, 0), Buffer.from('soun'), Buffer.alloc(13));
  const mdia = box('mdia', box('mdhd', words(0, 0, 0, 1_000_000_000, 1)), hdlr, box('minf', stbl));
  return box('trak', box('tkhd', words(0, 0, 0, id)), mdia);
}

const DATA_AT = 24;

/** AAC at 48 kHz, in a movie or in fragments, with its samples first. */
export function mp4(
  frames: number,
  { isFragmented = false, more = [], sizes = isFragmented ? 0 : frames }: Mp4Options = {},
): Buffer {
  const data = repeated(frames, AAC_FRAME);
  const defaults = box('mvex', box('trex', words(0, 9, 1, 0, AAC_FRAME.length, 0)));
  const movie = box(
    'moov',
    track(9, isFragmented ? 0 : frames, sizes),
    ...more,
    ...(isFragmented ? [defaults] : []),
  );
  const base = [0, DATA_AT];
  const moof = box('moof', box('traf', box('tfhd', words(1, 9, ...base)), box('trun', words(0, frames))));
  return Buffer.concat([
    box('ftyp', Buffer.from('M4A '), words(0)),
    box('mdat', data),
    movie,
    ...(isFragmented ? [moof] : []),
  ]);
}

/** A further track, or the same one once more. */
export const emptyTrack = (id: number): Buffer => track(id, 0, 0);

const element = (id: string, content: Buffer): Buffer =>
  Buffer.concat([Buffer.from(id, 'hex'), u32(0x10_00_00_00 + content.length), content]);
const open = (id: string): Buffer => Buffer.from(`${id}01ffffffffffffff`, 'hex');

/** Packets of 20 ms in one block each, clusters of 50 packets without a size, as browsers record. */
export function webm(frames: number, codec = 'A_OPUS'): Buffer {
  const track = Buffer.concat([
    element('d7', Buffer.from([1])),
    element('83', Buffer.from([2])),
    element('86', Buffer.from(codec)),
    element('63a2', OPUS_HEAD),
  ]);
  return Buffer.concat([
    element('1a45dfa3', element('4282', Buffer.from('webm'))),
    open('18538067'),
    element('1549a966', element('2ad7b1', u32(1_000_000))),
    element('1654ae6b', element('ae', track)),
    ...pages(frames, (from, count) =>
      Buffer.concat([
        open('1f43b675'),
        element('e7', u32(from * 20)),
        ...Array.from({ length: count }, (_, at) =>
          element(
            'a3',
            Buffer.concat([Buffer.from([0x81]), u16(at * 20), Buffer.from([0x80, 0xf8, 0xff, 0xfe])]),
          ),
        ),
      ]),
    ),
  ]);
}
