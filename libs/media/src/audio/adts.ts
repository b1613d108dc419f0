import type { Duration } from './duration.js';
import { type Frame, framesSeconds } from './frames.js';

/** Sample rates of AAC by their index. */
export const AAC_RATES = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
] as const;

/** Samples of an AAC frame. */
export const AAC_SAMPLES = 1_024;

const HEADER_BYTES = 7;

export function adtsLength(bytes: Buffer): Duration {
  return { seconds: framesSeconds(bytes, frameAt) };
}

function frameAt(bytes: Buffer, at: number): Frame | undefined {
  if (at + HEADER_BYTES > bytes.length || (bytes.readUInt16BE(at) & 0xfff6) !== 0xfff0) return undefined;
  const rate = AAC_RATES[((bytes[at + 2] ?? 0) >> 2) & 15];
  const length = (bytes.readUIntBE(at + 3, 3) >> 5) & 0x1f_ff;
  if (rate === undefined || length <= HEADER_BYTES) return undefined;
  const blocks = ((bytes[at + 6] ?? 0) & 3) + 1;
  return { bytes: length, samples: blocks * AAC_SAMPLES, rate };
}
