import { DAMAGED, Unreadable } from '@svc/threads';
import type { AudioStream } from './audio-stream.js';
import {
  BAD_HEADER,
  HEADER_BYTES,
  HIGHEST_RATE,
  NO_AUDIO,
  type WrittenAudio,
  ambiguous,
} from '../audio-codecs/audio-terms.js';
import { crcTable } from '../audio-codecs/crc.js';
import { type FlacFrame, flacFrameAt } from '../audio-codecs/flac-frame.js';

const CRC16 = crcTable(16, 0x8005);

/**
 * The most heads of frames inside other frames. About one of fifty million bytes looks like one by chance,
 * and some decoders would follow a chain of them.
 */
const HEADS_INSIDE = 8;

const INFO_BYTES = 34;

interface FlacHeader {
  readonly rate: number;
  readonly bits: number;
  readonly channels: number;
  /** Where the frames begin. */
  readonly at: number;
}

interface FlacFrames {
  readonly frames: readonly FlacFrame[];
  readonly end: number;
}

export const readFlac = (bytes: Buffer): AudioStream => ({ codec: 'flac', bytes });

/** A header, a filler, and the frames that were measured. */
export function writeFlac(source: Buffer): WrittenAudio {
  const header = headerOf(source);
  const { frames, end } = framesOf(source, header.at);
  refuseOthers(frames, header);
  const sizes = frames.map((frame) => frame.samples);
  const samples = sizes.reduce((sum, size) => sum + size, 0);
  const most = sizes.reduce((a, b) => Math.max(a, b));
  const fewest = frames[0]?.isVariable === true ? sizes.reduce((a, b) => Math.min(a, b)) : most;
  const head = Buffer.alloc(HEADER_BYTES);
  head.write('fLaC');
  head.writeUInt32BE(INFO_BYTES, 4);
  head.writeUInt16BE(fewest, 8);
  head.writeUInt16BE(most, 10);
  const { rate, channels, bits } = header;
  head.writeUInt32BE(
    rate * 4_096 + (channels - 1) * 512 + (bits - 1) * 16 + Math.floor(samples / 2 ** 32),
    18,
  );
  head.writeUInt32BE(samples % 2 ** 32, 22);
  const filler = 8 + INFO_BYTES;
  head.writeUInt32BE(0x81_00_00_00 + HEADER_BYTES - filler - 4, filler);
  const bytes = Buffer.concat([head, source.subarray(header.at, end)]);
  return { format: 'flac', seconds: samples / rate, bytes };
}

function headerOf(bytes: Buffer): FlacHeader {
  // The first block, and the only one of its type.
  if (bytes.readUInt32BE(4) % 0x80_00_00_00 !== INFO_BYTES) throw new Unreadable(BAD_HEADER);
  const rate = bytes.readUIntBE(18, 3) >> 4;
  const [channels, bits] = [((bytes[20] ?? 0) >> 1) & 7, (bytes.readUInt16BE(20) >> 4) & 31];
  if (rate === 0 || rate > HIGHEST_RATE || bits < 3) throw new Unreadable(BAD_HEADER);
  for (let at = 4; ;) {
    const block = bytes.readUInt32BE(at);
    if (at > 4 && ((block >>> 24) & 127) === 0) throw new Unreadable(ambiguous('it has two headers'));
    at += 4 + (block & 0xff_ff_ff);
    if (block >>> 31 === 1) return { rate, channels: channels + 1, bits: bits + 1, at };
  }
}

/**
 * The frames: each begins with a head whose checksum is right, and the checksum of all of it is right where
 * the next one begins. The last one is left out if it is incomplete.
 */
function framesOf(bytes: Buffer, begins: number): FlacFrames {
  const frames: FlacFrame[] = [];
  let frame = flacFrameAt(bytes, begins);
  if (!frame) throw new Unreadable(NO_AUDIO);
  let start = begins;
  let crc = 0;
  let inside = 0;
  const last = bytes.toString('latin1', bytes.length - TAG_BYTES, bytes.length - TAG_BYTES + 3) === 'TAG';
  const end = last ? bytes.length - TAG_BYTES : bytes.length;
  for (let at = begins; at < end; at += 1) {
    const byte = bytes[at] ?? 0;
    const next = at > start && byte === 0xff ? flacFrameAt(bytes, at) : undefined;
    if (next && crc === 0) {
      frames.push(frame);
      [frame, start] = [next, at];
    } else if (next) inside += 1;
    if (at - start > frame.most) throw new Unreadable(DAMAGED);
    if (inside > HEADS_INSIDE) throw new Unreadable(ambiguous('frames are inside other frames'));
    crc = ((crc << 8) & 0xff_ff) ^ (CRC16[(crc >> 8) ^ byte] ?? 0);
  }
  if (crc !== 0 && frames.length === 0) throw new Unreadable(DAMAGED);
  if (crc !== 0) return { frames, end: start };
  return { frames: [...frames, frame], end };
}

/** An ID3v1 tag at the end of a file. */
const TAG_BYTES = 128;

/** Refuses frames that differ from the header or from each other, or are not in their order. */
function refuseOthers(frames: readonly FlacFrame[], { rate, bits, channels }: FlacHeader): void {
  const [first] = frames;
  if (!first) throw new Unreadable(NO_AUDIO);
  let samples = 0;
  for (const [index, frame] of frames.entries()) {
    const isOther =
      (frame.rate !== 0 && frame.rate !== rate) ||
      (frame.bits !== 0 && frame.bits !== bits) ||
      frame.channels !== channels ||
      frame.isVariable !== first.isVariable;
    if (isOther) throw new Unreadable(ambiguous('a frame has another format than the header'));
    const isInOrder = frame.number - first.number === (first.isVariable ? samples : index);
    const isSized =
      first.isVariable ||
      frame.samples === first.samples ||
      (index === frames.length - 1 && frame.samples < first.samples);
    if (!isInOrder || !isSized) throw new Unreadable(ambiguous('its frames are not in order'));
    samples += frame.samples;
  }
}
