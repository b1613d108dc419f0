import { Unreadable } from '@svc/threads';
import type { AudioStream, PcmFormat } from './audio-stream.js';
import {
  BAD_HEADER,
  HEADER_BYTES,
  HIGHEST_RATE,
  NOT_SUPPORTED,
  NO_AUDIO,
  type WrittenAudio,
  ambiguous,
} from '../audio-codecs/audio-terms.js';

const BITS: ReadonlyMap<number, readonly number[]> = new Map([
  [1, [8, 16, 24, 32]],
  [3, [32, 64]],
  [6, [8]],
  [7, [8]],
]);
const INTEGERS = 1;
const EXTENSIBLE = 0xfffe;
/** Behind the encoding in the identifier of an extensible format. */
const SUBFORMAT = '000000001000800000aa00389b71';
const MOST_CHANNELS = 64;

const UNKNOWN_SIZE = 0xff_ff_ff_ff;

/** Reads WAV, RF64 and what programs write to pipes, whose sizes are 0 or the highest. */
export function readWav(bytes: Buffer): AudioStream {
  let format: PcmFormat | undefined;
  let samples: Buffer | undefined;
  let longSize: number | undefined;
  let at = 12;
  while (at + 8 <= bytes.length) {
    const name = bytes.toString('latin1', at, at + 4);
    const declared = bytes.readUInt32LE(at + 4);
    const begins = at + 8;
    let size = declared;
    if (name === 'ds64') longSize = Number(bytes.readBigUInt64LE(begins + 8));
    if (name === 'fmt ') {
      if (format) throw new Unreadable(ambiguous('it has two format chunks'));
      format = formatIn(bytes.subarray(begins, begins + declared));
    }
    if (name === 'data') {
      if (!format) throw new Unreadable(ambiguous('its samples come before their format'));
      if (samples) throw new Unreadable(ambiguous('it has two data chunks'));
      if (declared === UNKNOWN_SIZE && longSize !== undefined) size = longSize;
      const rest = bytes.length - begins;
      if (size === 0 || size > rest) size = rest;
      samples = bytes.subarray(begins, begins + size);
    }
    at = begins + size + (size % 2);
  }
  if (!format || !samples) throw new Unreadable(NO_AUDIO);
  return { codec: 'pcm', format, samples };
}

function formatIn(chunk: Buffer): PcmFormat {
  const [tag, channels, rate] = [chunk.readUInt16LE(0), chunk.readUInt16LE(2), chunk.readUInt32LE(4)];
  const bits = chunk.readUInt16LE(14);
  const encoding = tag === EXTENSIBLE ? chunk.readUInt16LE(24) : tag;
  const isKnown = tag !== EXTENSIBLE || chunk.toString('hex', 26, 40) === SUBFORMAT;
  const known = BITS.get(encoding);
  if (!isKnown || !known) throw new Unreadable(`${NOT_SUPPORTED}: expected PCM, float, A-law or µ-law`);
  const isPossible = rate > 0 && rate <= HIGHEST_RATE && channels > 0 && channels <= MOST_CHANNELS;
  // Decoders take the size of a sample from one or the other.
  if (!isPossible || !known.includes(bits) || chunk.readUInt16LE(12) !== (channels * bits) / 8)
    throw new Unreadable(BAD_HEADER);
  return { encoding, channels, rate, bits };
}

/** Where FFmpeg looks for bursts, from the first sample on. */
const SEARCHED_BYTES = 65_536;
/** The first bytes of a burst of compressed audio (IEC 61937). FFmpeg looks for three. */
const BURST = Buffer.from([0x72, 0xf8, 0x1f, 0x4e]);

/** Throws Unreadable for samples that may be read as bursts of compressed audio. */
function refuseBursts(samples: Buffer): void {
  const searched = samples.subarray(0, SEARCHED_BYTES);
  const first = searched.indexOf(BURST);
  if (first !== -1 && searched.includes(BURST, first + 1))
    throw new Unreadable(ambiguous('its samples contain compressed audio'));
}

/** Samples of 16 bits as samples of 24, whose values are 256 times as high. */
function widened(samples: Buffer): Buffer {
  const count = Math.floor(samples.length / 2);
  const wide = Buffer.alloc(count * 3);
  for (let from = 0, to = 1; from < count * 2; from += 2, to += 3) {
    wide[to] = samples[from] ?? 0;
    wide[to + 1] = samples[from + 1] ?? 0;
  }
  return wide;
}

/** Of a format chunk. A length of 18 also distinguishes a WAV from an ACT file with compressed samples. */
const FORMAT_BYTES = 18;

/**
 * A format, a filler, and all whole samples, of which those of 16 bits get eight more: FFmpeg takes 16-bit
 * samples for MP3, AAC or DTS if they can be read so, and would find more seconds in them.
 */
export function writeWav(format: PcmFormat, given: Buffer): WrittenAudio {
  const isWidened = format.encoding === INTEGERS && format.bits === 16;
  if (format.encoding === INTEGERS && !isWidened) refuseBursts(given);
  const samples = isWidened ? widened(given) : given;
  const { encoding, channels, rate } = format;
  const bits = isWidened ? 24 : format.bits;
  const block = (channels * bits) / 8;
  const count = Math.floor(samples.length / block);
  const size = count * block;
  const head = Buffer.alloc(HEADER_BYTES);
  const filler = 20 + FORMAT_BYTES;
  head.write('RIFF');
  head.writeUInt32LE(HEADER_BYTES - 8 + size + (size % 2), 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(FORMAT_BYTES, 16);
  head.writeUInt16LE(encoding, 20);
  head.writeUInt16LE(channels, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate * block, 28);
  head.writeUInt16LE(block, 32);
  head.writeUInt16LE(bits, 34);
  head.write('JUNK', filler);
  head.writeUInt32LE(HEADER_BYTES - 16 - filler, filler + 4);
  head.write('data', HEADER_BYTES - 8);
  head.writeUInt32LE(size, HEADER_BYTES - 4);
  const bytes = Buffer.concat([head, samples.subarray(0, size), Buffer.alloc(size % 2)]);
  return { format: 'wav', seconds: count / rate, bytes };
}
