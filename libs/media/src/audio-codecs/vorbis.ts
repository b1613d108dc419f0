import { Unreadable } from '@svc/threads';
import { BAD_HEADER, HIGHEST_RATE } from './audio-terms.js';
import { vorbisModes } from './vorbis-setup.js';

export interface VorbisConfig {
  readonly rate: number;
  /** The first and the third packet. */
  readonly identification: Buffer;
  readonly setup: Buffer;
  /** Samples of a window, by the mode of a packet. */
  readonly windows: readonly number[];
}

const IDENTIFICATION_BYTES = 30;

export function readVorbisConfig(first: Buffer, setup: Buffer): VorbisConfig {
  const identification = first.subarray(0, IDENTIFICATION_BYTES);
  const isFirst = identification.toString('latin1', 0, 7) === '\u0001vorbis';
  if (!isFirst || setup.toString('latin1', 0, 7) !== '\u0005vorbis') throw new Unreadable(BAD_HEADER);
  const [channels = 0, rate, exponents = 0] = [
    identification[11],
    identification.readUInt32LE(12),
    identification[28],
  ];
  const [short, long] = [1 << (exponents & 15), 1 << (exponents >> 4)];
  const isPossible = channels > 0 && rate > 0 && rate <= HIGHEST_RATE;
  if (!isPossible || short < 64 || long > 8_192 || short > long) throw new Unreadable(BAD_HEADER);
  const windows = vorbisModes(setup.subarray(7), channels).map((isLong) => (isLong ? long : short));
  return { rate, identification, setup, windows };
}

/** The samples of a packet's window; undefined for packets without audio, which decoders skip. */
export function vorbisWindow(packet: Buffer, { windows }: VorbisConfig): number | undefined {
  const [first = 0] = packet;
  const bits = 32 - Math.clz32(windows.length - 1);
  return (first & 1) === 1 ? undefined : windows[(first >> 1) & ((1 << bits) - 1)];
}
