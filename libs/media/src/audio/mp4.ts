import { DAMAGED, Unreadable } from '@svc/threads';
import { AAC_RATES, AAC_SAMPLES } from './adts.js';
import type { Duration } from './duration.js';

/** Boxes that contain the boxes that are read. */
const CONTAINERS = new Set(['moov', 'mvex', 'trak', 'mdia', 'minf', 'stbl', 'moof', 'traf']);
const DEPTH = 8;

/** The most boxes of a file, and entries of a table. */
const BOXES = 100_000;
const ENTRIES = 2_000_000;

/** Object types of AAC in its decoder's description: MPEG-4, and MPEG-2 of three profiles. */
const AAC: ReadonlySet<number> = new Set([0x40, 0x66, 0x67, 0x68]);

interface Track {
  isAudio: boolean;
  /** The rate of AAC, as its decoder uses it. */
  aacRate: number;
  timescale: number;
  /** The samples of its tables: counted by size, counted by duration, and their durations. */
  sizes: number;
  durations: number;
  ticks: number;
  /** The duration of the samples of a fragment, if they have none of their own. */
  usualTicks: number;
}

interface Walk {
  readonly tracks: Map<number, Track>;
  /** The track of the boxes being read. */
  track: Track;
  boxes: number;
}

type Reader = (walk: Walk, box: Buffer) => void;

/** The seconds of the longest audio track: those of AAC by the number of its frames. */
export function mp4Length(bytes: Buffer): Duration {
  const walk: Walk = { tracks: new Map(), track: newTrack(), boxes: 0 };
  walkBoxes(walk, bytes, 0);
  const audio = [...walk.tracks.values()].filter(({ isAudio }) => isAudio);
  if (audio.length === 0) throw new Unreadable('it contains no audio');
  return audio.map(durationOf).reduce((most, each) => (each.seconds > most.seconds ? each : most));
}

function durationOf({ aacRate, sizes, durations, ticks, timescale }: Track): Duration {
  if (sizes !== durations) throw new Unreadable(DAMAGED);
  if (aacRate > 0) return { seconds: (sizes * AAC_SAMPLES) / aacRate };
  return { seconds: timescale > 0 ? ticks / timescale : 0, isWeak: true };
}

const newTrack = (): Track => ({
  isAudio: false,
  aacRate: 0,
  timescale: 0,
  sizes: 0,
  durations: 0,
  ticks: 0,
  usualTicks: 0,
});

function walkBoxes(walk: Walk, bytes: Buffer, depth: number): void {
  let at = 0;
  while (at + 8 <= bytes.length) {
    walk.boxes += 1;
    if (walk.boxes > BOXES || depth > DEPTH) throw new Unreadable(DAMAGED);
    const name = bytes.toString('latin1', at + 4, at + 8);
    const given = bytes.readUInt32BE(at);
    const isLong = given === 1;
    const size = isLong ? Number(bytes.readBigUInt64BE(at + 8)) : given === 0 ? bytes.length - at : given;
    const head = isLong ? 16 : 8;
    if (size < head) throw new Unreadable(DAMAGED);
    const box = bytes.subarray(at + head, at + size);
    if (name === 'trak') walk.track = newTrack();
    if (CONTAINERS.has(name)) walkBoxes(walk, box, depth + 1);
    else if (Object.hasOwn(READERS, name)) READERS[name]?.(walk, box);
    at += size;
  }
}

const READERS: Readonly<Record<string, Reader>> = {
  // Versions 1 have times of eight bytes.
  tkhd: ({ tracks, track }, box) => tracks.set(box.readUInt32BE(box[0] === 1 ? 20 : 12), track),
  mdhd: ({ track }, box) => (track.timescale = box.readUInt32BE(box[0] === 1 ? 20 : 12)),
  hdlr: ({ track }, box) => (track.isAudio = box.toString('latin1', 8, 12) === 'soun'),
  stsd: ({ track }, box) => (track.aacRate = aacRateOf(box)),
  stsz: ({ track }, box) => (track.sizes += box.readUInt32BE(8)),
  stz2: ({ track }, box) => (track.sizes += box.readUInt32BE(8)),
  stts: ({ track }, box) => {
    const entries = box.readUInt32BE(4);
    if (entries > ENTRIES) throw new Unreadable(DAMAGED);
    for (let entry = 0; entry < entries; entry += 1) {
      const count = box.readUInt32BE(8 + entry * 8);
      track.durations += count;
      track.ticks += count * box.readUInt32BE(12 + entry * 8);
    }
  },
  tfhd: (walk, box) => {
    walk.track = walk.tracks.get(box.readUInt32BE(4)) ?? newTrack();
    const flags = box.readUInt32BE(0);
    const at = 8 + (flags & 1 ? 8 : 0) + (flags & 2 ? 4 : 0);
    if (flags & 8) walk.track.usualTicks = box.readUInt32BE(at);
  },
  trex: ({ tracks }, box) => {
    const track = tracks.get(box.readUInt32BE(4));
    if (track) track.usualTicks = box.readUInt32BE(12);
  },
  trun: ({ track }, box) => addRun(track, box),
};

/** The samples of a part of a fragment, each with the members that the flags name. */
function addRun(track: Track, box: Buffer): void {
  const flags = box.readUInt32BE(0);
  const count = box.readUInt32BE(4);
  if (count > ENTRIES) throw new Unreadable(DAMAGED);
  track.sizes += count;
  track.durations += count;
  const members = [0x1_00, 0x2_00, 0x4_00, 0x8_00].filter((flag) => (flags & flag) !== 0).length;
  const first = 8 + (flags & 1 ? 4 : 0) + (flags & 4 ? 4 : 0);
  if ((flags & 0x1_00) === 0) track.ticks += count * track.usualTicks;
  else
    for (let at = first, end = first + count * members * 4; at < end; at += members * 4)
      track.ticks += box.readUInt32BE(at);
}

/** The rate in the description of an AAC decoder, which is inside descriptors of tags 3, 4 and 5. */
function aacRateOf(box: Buffer): number {
  const start = box.indexOf('esds', 0, 'latin1');
  if (start === -1) return 0;
  const esds = box.subarray(start + 8);
  let at = skipHead(esds, 0, 3);
  const flags = esds[at + 2] ?? 0;
  at += 3 + (flags & 0x80 ? 2 : 0) + (flags & 0x40 ? 1 + (esds[at + 3] ?? 0) : 0) + (flags & 0x20 ? 2 : 0);
  at = skipHead(esds, at, 4);
  if (!AAC.has(esds[at] ?? 0)) return 0;
  at = skipHead(esds, at + 13, 5);
  const bits = esds.readUInt16BE(at);
  const index = (bits >> 7) & 15;
  return index === 15 ? (esds.readUIntBE(at + 1, 4) >> 7) & 0xff_ff_ff : (AAC_RATES[index] ?? 0);
}

/** Skips the tag of a descriptor and its length of up to four bytes. */
function skipHead(bytes: Buffer, at: number, tag: number): number {
  if (bytes[at] !== tag) throw new Unreadable(DAMAGED);
  let end = at + 1;
  while (end < at + 4 && ((bytes[end] ?? 0) & 0x80) !== 0) end += 1;
  return end + 1;
}
