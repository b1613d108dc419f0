import { DAMAGED, Unreadable } from '@svc/threads';
import { adtsLength } from './adts.js';
import type { Duration } from './duration.js';
import { flacLength } from './flac.js';
import { mp3Length } from './mp3.js';
import { mp4Length } from './mp4.js';
import { oggLength } from './ogg.js';
import { wavLength } from './wav.js';
import { webmLength } from './webm.js';

export type AudioFormat = 'wav' | 'mp3' | 'aac' | 'flac' | 'ogg' | 'mp4' | 'webm';

export interface AudioLength {
  readonly format: AudioFormat;
  /** Rounded up. */
  readonly milliseconds: number;
  readonly isWeak: boolean;
}

const WALKS: Readonly<Record<AudioFormat, (bytes: Buffer) => Duration>> = {
  wav: wavLength,
  mp3: mp3Length,
  aac: adtsLength,
  flac: flacLength,
  ogg: oggLength,
  mp4: mp4Length,
  webm: webmLength,
};

/** Absorbs the rounding of sums of fractions. */
const EPSILON = 1e-6;

/**
 * The length of an audio file by what it contains, never by the total that its header states. Takes linear
 * time. Throws Unreadable.
 */
export function audioLength(bytes: Uint8Array): AudioLength {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const audio = file.subarray(id3End(file));
  const format = formatOf(audio);
  if (!format) throw new Unreadable('it is not an audio file of a supported format');
  const { seconds, isWeak = false } = walked(format, audio);
  const milliseconds = Math.ceil(seconds * 1_000 - EPSILON);
  if (!Number.isSafeInteger(milliseconds) || milliseconds <= 0) throw new Unreadable('it contains no audio');
  return { format, milliseconds, isWeak };
}

function walked(format: AudioFormat, audio: Buffer): Duration {
  try {
    return WALKS[format](audio);
  } catch (error) {
    // Reading beyond the end.
    throw error instanceof Unreadable ? error : new Unreadable(DAMAGED);
  }
}

function formatOf(bytes: Buffer): AudioFormat | undefined {
  const start = bytes.toString('latin1', 0, 12);
  if (/^(RIFF|RF64)....WAVE/s.test(start)) return 'wav';
  if (start.startsWith('fLaC')) return 'flac';
  if (start.startsWith('OggS')) return 'ogg';
  if (start.startsWith('\u001aEß£')) return 'webm';
  if (start.startsWith('ftyp', 4)) return 'mp4';
  const [first = 0, second = 0] = bytes;
  if (first !== 0xff || second < 0xe0) return undefined;
  // Layer 0 is reserved in MP3, and the only one in ADTS.
  return (second & 0xf6) === 0xf0 ? 'aac' : 'mp3';
}

/** The end of the ID3v2 tags at the beginning. */
function id3End(bytes: Buffer): number {
  let at = 0;
  while (bytes.toString('latin1', at, at + 3) === 'ID3' && at + 10 <= bytes.length) {
    const [a = 0, b = 0, c = 0, d = 0] = bytes.subarray(at + 6, at + 10);
    const footer = ((bytes[at + 5] ?? 0) & 0x10) === 0 ? 0 : 10;
    at += 10 + ((a & 127) << 21) + ((b & 127) << 14) + ((c & 127) << 7) + (d & 127) + footer;
  }
  return at;
}
