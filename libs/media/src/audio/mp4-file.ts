import { AAC_SAMPLES, type AacConfig } from '../audio-codecs/aac.js';
import { aacFrameBytes } from '../audio-codecs/aac-frame.js';
import { type AlacConfig, alacSamples } from '../audio-codecs/alac.js';
import { HEADER_BYTES, type WrittenAudio } from '../audio-codecs/audio-terms.js';
import type { Packets } from '../audio-codecs/packets.js';

const words = (...values: readonly number[]): Buffer => {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, index * 4);
  return bytes;
};

function box(name: string, ...content: readonly Uint8Array[]): Buffer {
  const size = content.reduce((sum, { length }) => sum + length, 8);
  return Buffer.concat([words(size), Buffer.from(name, 'latin1'), ...content]);
}

const UNITY = words(0x1_00_00, 0, 0, 0, 0x1_00_00, 0, 0, 0, 0x40_00_00_00);

/** What the file says of its only track. */
interface Movie {
  readonly rate: number;
  readonly channels: number;
  /** An entry of the table of formats, without its general part. */
  readonly format: { readonly name: string; readonly box: Buffer };
  /** Samples of the packets, but for the last one. */
  readonly usual: number;
  readonly last: number;
}

/** The first frame of each packet. */
export function writeAac(config: AacConfig, packets: Packets): WrittenAudio {
  const { rate, rateIndex, channels, bytes } = config;
  const format = { name: 'mp4a', box: decoderBox(bytes) };
  const frames = packets.cut((packet) => aacFrameBytes(packet, rateIndex));
  return written({ rate, channels, format, usual: AAC_SAMPLES, last: AAC_SAMPLES }, frames);
}

/** Only the last packet may be short, so all others count as full. */
export function writeAlac(config: AlacConfig, packets: Packets): WrittenAudio {
  const { rate, channels, samples: usual, bytes } = config;
  const format = { name: 'alac', box: box('alac', words(0), bytes) };
  const last = alacSamples(packets.at(packets.count - 1), config);
  return written({ rate, channels, format, usual, last }, packets);
}

/** A file with its header first, a filler in it, and all packets directly behind each other. */
function written(movie: Movie, packets: Packets): WrittenAudio {
  const samples = (packets.count - 1) * movie.usual + movie.last;
  const data = packets.joined();
  const start = Buffer.concat([
    box('ftyp', Buffer.from('M4A '), words(0), Buffer.from('M4A isommp42')),
    box('free', Buffer.alloc(HEADER_BYTES)),
  ]);
  // The header has the same size wherever the data begin.
  const size = movieBox(movie, packets, { samples, dataAt: 0 }).length;
  const header = movieBox(movie, packets, { samples, dataAt: start.length + size + 8 });
  const bytes = Buffer.concat([start, header, words(8 + data.length), Buffer.from('mdat'), data]);
  return { format: 'mp4', seconds: samples / movie.rate, bytes };
}

function movieBox(
  { rate, channels, format, usual, last }: Movie,
  packets: Packets,
  { samples, dataAt }: { readonly samples: number; readonly dataAt: number },
): Buffer {
  const { count } = packets;
  const sizes = Array.from({ length: count }, (_, index) => packets.sizeOf(index));
  // Rates that do not fit into the entry are in the decoder's own box.
  const entry = box(
    format.name,
    words(0, 1, 0, 0, channels * 0x1_00_00 + 16, 0, rate < 0x1_00_00 ? rate * 0x1_00_00 : 0),
    format.box,
  );
  const table = box(
    'stbl',
    box('stsd', words(0, 1), entry),
    box('stts', count > 1 ? words(0, 2, count - 1, usual, 1, last) : words(0, 1, 1, last)),
    box('stsc', words(0, 1, 1, count, 1)),
    box('stsz', words(0, 0, count), Buffer.concat(sizes.map((size) => words(size)))),
    box('stco', words(0, 1, dataAt)),
  );
  const reference = box('dinf', box('dref', words(0, 1), box('url ', words(1))));
  const media = box(
    'mdia',
    box('mdhd', words(0, 0, 0, rate, samples), Buffer.from([0x55, 0xc4, 0, 0])),
    box('hdlr', words(0, 0), Buffer.from('soun'), Buffer.alloc(13)),
    box('minf', box('smhd', words(0, 0)), reference, table),
  );
  const track = box('tkhd', words(7, 0, 0, 1, 0, samples, 0, 0, 0, 0x01_00_00_00), UNITY, words(0, 0));
  const head = box(
    'mvhd',
    words(0, 0, 0, rate, samples, 0x1_00_00, 0x01_00_00_00, 0, 0),
    UNITY,
    Buffer.alloc(24),
    words(2),
  );
  return box('moov', head, box('trak', track, media));
}

const descriptor = (tag: number, ...content: readonly Uint8Array[]): Buffer => {
  const bytes = Buffer.concat(content);
  return Buffer.concat([Buffer.from([tag, bytes.length]), bytes]);
};

/** The description of an AAC decoder: MPEG-4 audio, a stream of audio, no known rates of bits. */
function decoderBox(config: Buffer): Buffer {
  const decoder = descriptor(4, Buffer.from([0x40, 0x15, 0, 0, 0]), words(0, 0), descriptor(5, config));
  return box(
    'esds',
    words(0),
    descriptor(3, Buffer.from([0, 1, 0]), decoder, descriptor(6, Buffer.from([2]))),
  );
}
