import { DAMAGED, Unreadable } from '@svc/threads';
import { BAD_HEADER } from './audio-terms.js';

/** Samples of a frame at 48 kHz, by the last bits of the configuration of a packet. */
const SILK = [480, 960, 1_920, 2_880] as const;
const HYBRID = [480, 960, 480, 960] as const;
const CELT = [120, 240, 480, 960] as const;

export const OPUS_RATE = 48_000;

/** A packet has at most 120 ms. */
const PACKET_SAMPLES = 5_760;

const HEAD_BYTES = 19;

/** The samples of a packet. */
export function opusSamples(packet: Buffer): number {
  const [first = 0, second = 0] = packet;
  const configuration = first >> 3;
  const lengths = configuration < 12 ? SILK : configuration < 16 ? HYBRID : CELT;
  const code = first & 3;
  const frames = code === 0 ? 1 : code === 3 ? second & 63 : 2;
  const samples = frames * (lengths[configuration & 3] ?? 0);
  if (samples === 0 || samples > PACKET_SAMPLES) throw new Unreadable(DAMAGED);
  return samples;
}

/** The first packet of Opus in Ogg: as it was, but nothing behind it. */
export function opusHead(bytes: Buffer): Buffer {
  const channels = bytes[9] ?? 0;
  const hasTable = (bytes[18] ?? 0) !== 0;
  const length = hasTable ? HEAD_BYTES + 2 + channels : HEAD_BYTES;
  const isKnown = bytes.toString('latin1', 0, 8) === 'OpusHead' && (bytes[8] ?? 0) < 16;
  if (!isKnown || channels === 0 || (!hasTable && channels > 2) || bytes.length < length)
    throw new Unreadable(BAD_HEADER);
  return bytes.subarray(0, length);
}
