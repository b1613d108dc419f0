import { DAMAGED, Unreadable } from '@svc/threads';
import type { Duration } from './duration.js';
import { OPUS_RATE, opusSamples } from './opus.js';

const PAGE_BYTES = 27;

/** The most samples of a packet of Vorbis. */
const MOST_SAMPLES = 8_192;

/** Packets before the audio: two of Opus, three of Vorbis. */
const HEADERS = { opus: 2, vorbis: 3 } as const;

/** An audio stream of a file, of which the packets are counted. */
interface Stream {
  readonly codec: keyof typeof HEADERS;
  readonly rate: number;
  /** The fewest samples of a packet of Vorbis. */
  readonly fewest: number;
  packets: number;
  samples: number;
  first: number | undefined;
  last: number;
  /** Whether the last page ended within a packet. */
  isOpen: boolean;
}

/** The seconds of all audio streams, one after the other: those of Opus by their packets. */
export function oggLength(bytes: Buffer): Duration {
  const streams = new Map<number, Stream>();
  let at = 0;
  while (at !== -1 && at + PAGE_BYTES <= bytes.length) {
    const segments = bytes.subarray(at + PAGE_BYTES, at + PAGE_BYTES + (bytes[at + 26] ?? 0));
    const begins = at + PAGE_BYTES + segments.length;
    const serial = bytes.readUInt32LE(at + 14);
    const stream = streams.get(serial) ?? streamAt(bytes, begins);
    if (stream) {
      streams.set(serial, stream);
      if (streams.size > 1_000) throw new Unreadable(DAMAGED);
      addPage(stream, bytes, { at, begins, segments });
    }
    const end = begins + segments.reduce((sum, length) => sum + length, 0);
    at = bytes.indexOf('OggS', end, 'latin1');
  }
  if (streams.size === 0) throw new Unreadable('its encoding is not supported: expected Opus or Vorbis');
  let seconds = 0;
  let isWeak = false;
  for (const { codec, rate, samples, packets, fewest, first = 0, last } of streams.values()) {
    const stamped = last - first;
    seconds += (codec === 'opus' ? samples : Math.max(stamped, packets * fewest)) / rate;
    isWeak ||= codec === 'vorbis';
  }
  return { seconds, isWeak };
}

function streamAt(bytes: Buffer, at: number): Stream | undefined {
  const counted = { packets: 0, samples: 0, first: undefined, last: 0, isOpen: false };
  if (bytes.toString('latin1', at, at + 8) === 'OpusHead')
    return { codec: 'opus', rate: OPUS_RATE, fewest: 0, ...counted, packets: -HEADERS.opus };
  if (bytes.toString('latin1', at, at + 7) !== '\u0001vorbis') return undefined;
  const rate = bytes.readUInt32LE(at + 12);
  if (rate === 0 || rate > 768_000) throw new Unreadable(DAMAGED);
  // Windows overlap by half.
  const fewest = (1 << ((bytes[at + 28] ?? 0) & 15)) / 2;
  return { codec: 'vorbis', rate, fewest, ...counted, packets: -HEADERS.vorbis };
}

interface Page {
  readonly at: number;
  readonly begins: number;
  readonly segments: Buffer;
}

function addPage(stream: Stream, bytes: Buffer, { at, begins, segments }: Page): void {
  let position = begins;
  for (const length of segments) {
    if (!stream.isOpen && position < bytes.length) {
      stream.packets += 1;
      if (stream.packets > 0 && length > 0)
        stream.samples += opusSamples(bytes[position] ?? 0, bytes[position + 1] ?? 0);
    }
    stream.isOpen = length === 255;
    position += length;
  }
  const granule = bytes.readBigInt64LE(at + 6);
  if (stream.packets <= 0 || granule < 0n) return;
  // A recording of a running stream does not begin at 0.
  stream.first ??= granule <= stream.packets * MOST_SAMPLES ? 0 : Number(granule);
  stream.last = Math.max(stream.last, Number(granule));
}
