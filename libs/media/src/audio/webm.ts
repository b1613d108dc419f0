import { DAMAGED, Unreadable } from '@svc/threads';
import type { Duration } from './duration.js';
import { OPUS_RATE, opusSamples } from './opus.js';

/** Elements by their identifiers, of those that are read. */
const SEGMENT = 0x18_53_80_67;
const CLUSTER = 0x1f_43_b6_75;
const INFO = 0x15_49_a9_66;
const TRACKS = 0x16_54_ae_6b;
const TRACK = 0xae;
const BLOCK_GROUP = 0xa0;
const TIMESTAMP_SCALE = 0x2a_d7_b1;
const TRACK_NUMBER = 0xd7;
const TRACK_TYPE = 0x83;
const CODEC = 0x86;
const TIMESTAMP = 0xe7;
const SIMPLE_BLOCK = 0xa3;
const BLOCK = 0xa1;

/** Their content is read like what follows them, so that no nesting has to be trusted. */
const CONTAINERS = new Set([SEGMENT, CLUSTER, INFO, TRACKS, TRACK, BLOCK_GROUP]);

const AUDIO = 2;

interface Track {
  number: number;
  type: number;
  codec: string;
  samples: number;
  /** The last time stamp, in ticks. */
  last: number;
}

interface Walk {
  readonly tracks: Track[];
  /** Nanoseconds of a tick. */
  tickNs: number;
  /** The time stamp of the cluster. */
  clusterTicks: number;
}

/** The seconds of the longest audio track: those of Opus by its packets. */
export function webmLength(bytes: Buffer): Duration {
  const walk: Walk = { tracks: [], tickNs: 1_000_000, clusterTicks: 0 };
  let at = 0;
  // A recording may be cut off within its last element.
  while (at < bytes.length) {
    const id = idAt(bytes, at);
    if (!id) break;
    const size = sizeAt(bytes, at + id.length);
    const begins = at + id.length + size.length;
    if (CONTAINERS.has(id.value)) {
      if (id.value === TRACK) walk.tracks.push({ number: 0, type: 0, codec: '', samples: 0, last: 0 });
      if (walk.tracks.length > 64) throw new Unreadable(DAMAGED);
      at = begins;
    } else {
      const end = begins + size.value;
      if (end <= bytes.length) readElement(walk, id.value, bytes.subarray(begins, end));
      at = end;
    }
  }
  const audio = walk.tracks.filter(({ type }) => type === AUDIO);
  if (audio.length === 0) throw new Unreadable('it contains no audio');
  return audio
    .map(({ codec, samples, last }) =>
      codec === 'A_OPUS'
        ? { seconds: samples / OPUS_RATE, isWeak: false }
        : { seconds: (last * walk.tickNs) / 1e9, isWeak: true },
    )
    .reduce((most, each) => (each.seconds > most.seconds ? each : most));
}

function readElement(walk: Walk, id: number, content: Buffer): void {
  const track = walk.tracks.at(-1);
  if (id === TIMESTAMP_SCALE) walk.tickNs = numberIn(content);
  else if (id === TIMESTAMP) walk.clusterTicks = numberIn(content);
  else if (id === TRACK_NUMBER && track) track.number = numberIn(content);
  else if (id === TRACK_TYPE && track) track.type = numberIn(content);
  else if (id === CODEC && track) track.codec = content.toString('latin1', 0, 32);
  else if (id === SIMPLE_BLOCK || id === BLOCK) readBlock(walk, content);
}

/** A block has a track, a time stamp relative to its cluster, flags, and a frame. */
function readBlock(walk: Walk, block: Buffer): void {
  const number = sizeAt(block, 0);
  const track = walk.tracks.find((each) => each.number === number.value);
  if (!track) return;
  const at = number.length;
  track.last = Math.max(track.last, walk.clusterTicks + block.readInt16BE(at));
  if (((block[at + 2] ?? 0) & 6) !== 0) throw new Unreadable('several frames in a block are not supported');
  track.samples += opusSamples(block[at + 3] ?? 0, block[at + 4] ?? 0);
}

/** An identifier, with the bits that state its length. */
function idAt(bytes: Buffer, at: number): { value: number; length: number } | undefined {
  const length = Math.clz32((bytes[at] ?? 0) << 24) + 1;
  if (length > 4) throw new Unreadable(DAMAGED);
  if (at + length > bytes.length) return undefined;
  return { value: bytes.readUIntBE(at, length), length };
}

/** A size, without the bits that state its length. An unknown one is that of a container, or too large. */
function sizeAt(bytes: Buffer, at: number): { value: number; length: number } {
  const first = bytes[at] ?? 0;
  const length = Math.clz32(first << 24) + 1;
  if (length > 8) throw new Unreadable(DAMAGED);
  let value = first & (0xff >> length);
  for (const byte of bytes.subarray(at + 1, at + length)) value = value * 256 + byte;
  return { value, length };
}

function numberIn(content: Buffer): number {
  return content.reduce((sum, byte) => sum * 256 + byte, 0);
}
