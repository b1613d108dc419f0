import { Bits, crc } from './bits.js';

/** Frames of audio of a length in seconds, each as its bytes; the first ones may be the head of the file. */
type Frames = (seconds: number) => Buffer[];

const SAMPLE_RATE = 24_000;
const COMPRESSED_RATE = 48_000;
const TONE_HZ = 220;
const LOUDNESS = 3_000;

/** One channel of 16-bit samples of a tone. */
function pcm(seconds: number): Buffer[] {
  const samples = Buffer.alloc(Math.max(1, Math.round(seconds * SAMPLE_RATE)) * 2);
  for (let at = 0; at < samples.length / 2; at += 1)
    samples.writeInt16LE(Math.round(LOUDNESS * Math.sin((2 * Math.PI * TONE_HZ * at) / SAMPLE_RATE)), at * 2);
  return [samples];
}

function wav(seconds: number): Buffer[] {
  const samples = Buffer.concat(pcm(seconds));
  const head = Buffer.alloc(44);
  head.write('RIFF');
  head.writeUInt32LE(36 + samples.length, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(SAMPLE_RATE, 24);
  head.writeUInt32LE(SAMPLE_RATE * 2, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36);
  head.writeUInt32LE(samples.length, 40);
  return [head, samples];
}

/** The same frame as often as the length needs. */
function repeated(frame: Buffer, seconds: number, secondsEach: number): Buffer[] {
  return Array.from({ length: Math.max(1, Math.round(seconds / secondsEach)) }, () => frame);
}

/** MPEG-1 layer III: 32 kbit/s and 48 kHz make frames of 96 bytes for 24 ms. Zeros are silence. */
function mp3(seconds: number): Buffer[] {
  return repeated(Buffer.concat([Buffer.from('fffb14c0', 'hex'), Buffer.alloc(92)]), seconds, 0.024);
}

/** AAC-LC in ADTS: a channel without spectral data, 1,024 samples a frame. */
function aac(seconds: number): Buffer[] {
  const channel = new Bits()
    .put(0, 7)
    .put(100, 8) // gain
    .put(0, 14) // one long window without bands, prediction, pulses, noise shaping or gain control
    .put(7, 3) // the end
    .bytes();
  const head = new Bits()
    .put(0xfff, 12)
    .put(1, 4) // MPEG-4, layer 0, no checksum
    .put(1, 2) // low complexity
    .put(3, 4) // 48 kHz
    .put(0, 1)
    .put(1, 3) // one channel
    .put(0, 4)
    .put(7 + channel.length, 13)
    .put(0x7ff, 11)
    .put(0, 2)
    .bytes();
  return repeated(Buffer.concat([head, channel]), seconds, 1_024 / COMPRESSED_RATE);
}

const FLAC_BLOCK = 4_096;

/** Frames of constant samples. */
function flac(seconds: number): Buffer[] {
  const count = Math.max(1, Math.round((seconds * COMPRESSED_RATE) / FLAC_BLOCK));
  const info = new Bits().put(FLAC_BLOCK, 16).put(FLAC_BLOCK, 16).put(0, 48).put(COMPRESSED_RATE, 20);
  info
    .put(0, 3)
    .put(15, 5)
    .put(0, 4)
    .put(count * FLAC_BLOCK, 32);
  const head = Buffer.concat([Buffer.from('fLaC\x80\0\0\x22', 'latin1'), info.bytes(), Buffer.alloc(16)]);
  return [head, ...Array.from({ length: count }, (_, index) => flacFrame(index))];
}

function flacFrame(index: number): Buffer {
  // 4,096 samples at 48 kHz, one channel, 16 bits; the number is encoded as UTF-8 encodes a code point.
  const head = new Bits()
    .put(0x3ffe, 14)
    .put(0, 2)
    .put(12, 4)
    .put(10, 4)
    .put(0, 4)
    .put(4, 3)
    .put(0, 1)
    .bytes();
  const numbered = Buffer.concat([head, Buffer.from(String.fromCodePoint(index))]);
  const checked = Buffer.concat([numbered, Buffer.from([crc(numbered, { width: 8, polynomial: 0x07 })])]);
  const samples = Buffer.concat([checked, Buffer.alloc(3)]);
  const sum = Buffer.alloc(2);
  sum.writeUInt16BE(crc(samples, { width: 16, polynomial: 0x8005 }));
  return Buffer.concat([samples, sum]);
}

const OPUS_PACKETS_PER_PAGE = 50;
const OPUS_PACKET_SAMPLES = 960;
const OPUS_SKIPPED_SAMPLES = 312;

/** A silent packet of 20 ms. */
const OPUS_PACKET = Buffer.from('f8fffe', 'hex');

interface OggPage {
  readonly type: number;
  readonly samples: number;
  readonly sequence: number;
}

/** Opus in Ogg. */
function opus(seconds: number): Buffer[] {
  const head = Buffer.from('OpusHead\x01\x01\0\0\0\0\0\0\0\0\0', 'latin1');
  head.writeUInt16LE(OPUS_SKIPPED_SAMPLES, 10);
  head.writeUInt32LE(COMPRESSED_RATE, 12);
  const tags = Buffer.from('OpusTags\x03\0\0\0sim\0\0\0\0', 'latin1');
  const pages = [
    oggPage([head], { type: 2, samples: 0, sequence: 0 }),
    oggPage([tags], { type: 0, samples: 0, sequence: 1 }),
  ];
  const count = Math.max(1, Math.round(seconds * 50));
  for (let at = 0; at < count; at += OPUS_PACKETS_PER_PAGE) {
    const end = Math.min(count, at + OPUS_PACKETS_PER_PAGE);
    const packets = Array.from({ length: end - at }, () => OPUS_PACKET);
    const samples = OPUS_SKIPPED_SAMPLES + end * OPUS_PACKET_SAMPLES;
    pages.push(oggPage(packets, { type: end === count ? 4 : 0, samples, sequence: pages.length }));
  }
  return pages;
}

function oggPage(packets: readonly Buffer[], { type, samples, sequence }: OggPage): Buffer {
  const head = Buffer.alloc(27 + packets.length);
  head.write('OggS');
  head[5] = type;
  head.writeBigInt64LE(BigInt(samples), 6);
  head.writeUInt32LE(1, 14);
  head.writeUInt32LE(sequence, 18);
  head[26] = packets.length;
  for (const [at, { length }] of packets.entries()) head[27 + at] = length;
  const page = Buffer.concat([head, ...packets]);
  page.writeUInt32LE(crc(page, { width: 32, polynomial: 0x04c11db7 }), 22);
  return page;
}

const FORMATS = { mp3, opus, aac, flac, wav, pcm } satisfies Record<string, Frames>;

export type SpokenFormat = keyof typeof FORMATS;

const MEDIA_TYPES: Readonly<Record<SpokenFormat, string>> = {
  mp3: 'audio/mpeg',
  opus: 'audio/opus',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
};

export function isAudioFormat(name: unknown): name is SpokenFormat {
  return typeof name === 'string' && Object.hasOwn(FORMATS, name);
}

/** A file of this length in seconds that decoders accept: a tone in WAV and PCM, else silence. */
export function audioFile(format: SpokenFormat, seconds: number): { bytes: Buffer; type: string } {
  return { bytes: Buffer.concat(FORMATS[format](seconds)), type: MEDIA_TYPES[format] };
}
