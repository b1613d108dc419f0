import type { Duration } from './duration.js';
import { type Frame, framesSeconds } from './frames.js';

/** Kilobits per second by their index in the header, for MPEG-1 layers I to III, and for MPEG-2. */
const MPEG1 = [
  [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
  [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
  [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
] as const;
const MPEG2_LAYER1 = [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256] as const;
const MPEG2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160] as const;

const MPEG1_RATES = [44_100, 48_000, 32_000] as const;

export function mp3Length(bytes: Buffer): Duration {
  return { seconds: framesSeconds(bytes, frameAt, (file, at) => !isInformation(file, at)) };
}

function frameAt(bytes: Buffer, at: number): Frame | undefined {
  if (at + 4 > bytes.length || bytes[at] !== 0xff) return undefined;
  const second = bytes[at + 1] ?? 0;
  const third = bytes[at + 2] ?? 0;
  if (second < 0xe0) return undefined;
  const version = (second >> 3) & 3;
  const layer = 4 - ((second >> 1) & 3);
  const baseRate = MPEG1_RATES[(third >> 2) & 3];
  if (version === 1 || layer === 4 || baseRate === undefined) return undefined;
  const isMpeg1 = version === 3;
  const rate = baseRate / (isMpeg1 ? 1 : version === 2 ? 2 : 4);
  const table = isMpeg1 ? MPEG1[layer - 1] : layer === 1 ? MPEG2_LAYER1 : MPEG2;
  const bits = (table?.[third >> 4] ?? 0) * 1_000;
  if (bits === 0) return undefined;
  const padding = (third >> 1) & 1;
  if (layer === 1) return { bytes: (Math.floor((12 * bits) / rate) + padding) * 4, samples: 384, rate };
  const samples = layer === 3 && !isMpeg1 ? 576 : 1_152;
  return { bytes: Math.floor(((samples / 8) * bits) / rate) + padding, samples, rate };
}

/** Whether a frame has facts about the file (Xing, VBRI) in place of audio. Only the first one may. */
function isInformation(bytes: Buffer, at: number): boolean {
  return /^.{4}(.{9}|.{17}|.{32})(Xing|Info|VBRI)/s.test(bytes.toString('latin1', at, at + 44));
}
