import { Unreadable } from '@svc/threads';
import { NOT_SUPPORTED } from './audio-terms.js';

/** Sample rates of AAC by their index. */
const RATES = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
] as const;

/** Samples of a frame, before a decoder doubles both them and the rate. */
export const AAC_SAMPLES = 1_024;

const LOW_COMPLEXITY = 2;
/** Spectral band replication, and parametric stereo: the format of the frames follows them. */
const EXTENSIONS: ReadonlySet<number> = new Set([5, 29]);

export interface AacConfig {
  readonly rate: number;
  readonly rateIndex: number;
  readonly channels: number;
  /** What a decoder has to know, as in MP4. */
  readonly bytes: Buffer;
}

/** The configuration of frames that have a rate by its index and up to seven kinds of channels. */
export function aacConfig(rateIndex: number, channels: number): AacConfig {
  const rate = RATES[rateIndex];
  if (rate === undefined || channels === 0 || channels > 7)
    throw new Unreadable(`${NOT_SUPPORTED}: its channels or its rate are unusual`);
  return {
    rate,
    rateIndex,
    channels: channels === 7 ? 8 : channels,
    bytes: Buffer.from([(LOW_COMPLEXITY << 3) | (rateIndex >> 1), ((rateIndex & 1) << 7) | (channels << 3)]),
  };
}

/** Reads an MPEG-4 AudioSpecificConfig. */
export function readAacConfig(bytes: Buffer): AacConfig {
  let bit = 0;
  const read = (bits: number): number => {
    let value = 0;
    for (; bits > 0; bits -= 1, bit += 1)
      value = value * 2 + (((bytes[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1);
    return value;
  };
  let type = read(5);
  const rateIndex = read(4);
  const channels = read(4);
  if (EXTENSIONS.has(type)) {
    if (read(4) === 15) read(24);
    type = read(5);
  }
  // Frames of 960 samples, and those that depend on others.
  const isUnusual = read(3) !== 0;
  if (type !== LOW_COMPLEXITY || isUnusual)
    throw new Unreadable(`${NOT_SUPPORTED}: expected AAC LC or HE-AAC`);
  return aacConfig(rateIndex, channels);
}
