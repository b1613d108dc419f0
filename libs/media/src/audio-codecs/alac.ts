import { Unreadable } from '@svc/threads';
import { BAD_HEADER, HIGHEST_RATE } from './audio-terms.js';

export interface AlacConfig {
  readonly rate: number;
  readonly channels: number;
  /** The most samples of a packet. */
  readonly samples: number;
  /** What a decoder has to know. */
  readonly bytes: Buffer;
}

const CONFIG_BYTES = 24;
const MOST_SAMPLES = 65_536;

export function readAlacConfig(source: Buffer): AlacConfig {
  const bytes = source.subarray(0, CONFIG_BYTES);
  const [samples, rate, channels = 0] = [bytes.readUInt32BE(0), bytes.readUInt32BE(20), bytes[9]];
  const isPossible = samples > 0 && samples <= MOST_SAMPLES && rate > 0 && rate <= HIGHEST_RATE;
  if (!isPossible || channels === 0 || channels > 8) throw new Unreadable(BAD_HEADER);
  return { rate, channels, samples, bytes };
}

/** Elements that begin with the number of samples: one channel, two, and low frequencies. */
const CHANNELS: ReadonlySet<number> = new Set([0, 1, 3]);

/** The samples of a packet. A short one states its number, behind 19 bits, a flag and 3 bits. */
export function alacSamples(packet: Buffer, { samples }: AlacConfig): number {
  const [first = 0, , third = 0] = packet;
  const isShort = CHANNELS.has(first >> 5) && (third & 0x10) !== 0;
  if (!isShort || packet.length < 7) return samples;
  return Math.min(samples, Math.floor(packet.readUIntBE(2, 5) / 2) % 0x1_00_00_00_00);
}
