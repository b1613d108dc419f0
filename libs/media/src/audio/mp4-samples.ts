import { DAMAGED, TOO_COMPLEX, Unreadable } from '@svc/threads';
import { type Box, boxesIn, contentAt, onlyBox } from './mp4-boxes.js';
import { Packets } from '../audio-codecs/packets.js';

const MOST_SAMPLES = 2_500_000;

/** The samples of a track in a file. No byte counts twice, or tables could make a file of any length. */
export class TrackSamples {
  readonly packets: Packets;
  private bytes = 0;
  private count = 0;

  constructor(private readonly file: Buffer) {
    this.packets = new Packets(file);
  }

  add(at: number, size: number): void {
    this.bytes += size;
    this.count += 1;
    if (this.bytes > this.file.length) throw new Unreadable(DAMAGED);
    if (this.count > MOST_SAMPLES) throw new Unreadable(TOO_COMPLEX);
    this.packets.add(at, at + size);
  }
}

/** Adds the samples of a movie's tables: their sizes, the chunks that they are in, and where those begin. */
export function addTableSamples(samples: TrackSamples, table: Buffer): void {
  const sizes = sizesIn(table);
  const offsets = offsetsIn(table);
  const chunks = contentAt(table, 'stsc');
  if (sizes.count === 0) return;
  if (!offsets || !chunks) throw new Unreadable(DAMAGED);
  const runs = chunks.readUInt32BE(4);
  let sample = 0;
  for (let run = 0; run < runs; run += 1) {
    const first = chunks.readUInt32BE(8 + run * 12);
    const perChunk = chunks.readUInt32BE(12 + run * 12);
    const next = run + 1 < runs ? chunks.readUInt32BE(20 + run * 12) : offsets.count + 1;
    // Decoders differ on chunks that are left out or come twice.
    if ((run === 0 && first !== 1) || next <= first || next > offsets.count + 1 || perChunk === 0)
      throw new Unreadable(DAMAGED);
    for (let chunk = first; chunk < next; chunk += 1) {
      let at = offsets.at(chunk - 1);
      for (let each = 0; each < perChunk; each += 1, sample += 1) {
        if (sample >= sizes.count) throw new Unreadable(DAMAGED);
        const size = sizes.at(sample);
        samples.add(at, size);
        at += size;
      }
    }
  }
  if (sample !== sizes.count) throw new Unreadable(DAMAGED);
}

interface Numbers {
  readonly count: number;
  at(index: number): number;
}

function sizesIn(table: Buffer): Numbers {
  const usual = contentAt(table, 'stsz');
  const compact = contentAt(table, 'stz2');
  if (usual && compact) throw new Unreadable(DAMAGED);
  if (usual) {
    const same = usual.readUInt32BE(4);
    const at = (index: number): number => same || usual.readUInt32BE(12 + index * 4);
    return { count: usual.readUInt32BE(8), at };
  }
  if (!compact) throw new Unreadable(DAMAGED);
  const bits = compact[7] ?? 0;
  if (bits !== 8 && bits !== 16) throw new Unreadable(DAMAGED);
  const at = (index: number): number => compact.readUIntBE(12 + (index * bits) / 8, bits / 8);
  return { count: compact.readUInt32BE(8), at };
}

function offsetsIn(table: Buffer): Numbers | undefined {
  const short = contentAt(table, 'stco');
  const long = contentAt(table, 'co64');
  const box = short ?? long;
  if (short && long) throw new Unreadable(DAMAGED);
  if (!box) return undefined;
  const at = (index: number): number =>
    short ? box.readUInt32BE(8 + index * 4) : Number(box.readBigUInt64BE(8 + index * 8));
  return { count: box.readUInt32BE(4), at };
}

/** Adds the samples that a fragment has of a track. */
export function addFragmentSamples(
  samples: TrackSamples,
  { content, at: moofAt }: Box,
  { track, usualSizes }: { readonly track: number; readonly usualSizes: ReadonlyMap<number, number> },
): void {
  // Without an offset, a part of a fragment follows the one before it.
  let end = moofAt;
  for (const traf of boxesIn(content)) {
    if (traf.name !== 'traf') continue;
    const boxes = boxesIn(traf.content);
    const head = onlyBox(boxes, 'tfhd')?.content;
    if (!head) throw new Unreadable(DAMAGED);
    const id = head.readUInt32BE(4);
    const { base, size = usualSizes.get(id) ?? 0 } = fragmentHead(head, { moofAt, end });
    end = base;
    for (const { name, content: run } of boxes)
      if (name === 'trun') end = addRun(id === track ? samples : undefined, run, { base, end, size });
  }
}

const flagsOf = (box: Buffer): number => box.readUInt32BE(0) & 0xff_ff_ff;

function fragmentHead(
  head: Buffer,
  { moofAt, end }: { readonly moofAt: number; readonly end: number },
): { base: number; size: number | undefined } {
  const flags = flagsOf(head);
  let at = 8;
  let base = (flags & 0x02_00_00) === 0 ? end : moofAt;
  if ((flags & 1) !== 0) {
    base = Number(head.readBigUInt64BE(at));
    at += 8;
  }
  at += ((flags & 2) === 0 ? 0 : 4) + ((flags & 8) === 0 ? 0 : 4);
  return { base, size: (flags & 0x10) === 0 ? undefined : head.readUInt32BE(at) };
}

/** Returns where the run ends in the file. */
function addRun(
  samples: TrackSamples | undefined,
  run: Buffer,
  { base, end, size: usualSize }: { readonly base: number; readonly end: number; readonly size: number },
): number {
  const flags = flagsOf(run);
  const count = run.readUInt32BE(4);
  const hasOffset = (flags & 1) !== 0;
  let at = hasOffset ? base + run.readInt32BE(8) : end;
  let entry = 8 + (hasOffset ? 4 : 0) + ((flags & 4) === 0 ? 0 : 4);
  const before = (flags & 0x1_00) === 0 ? 0 : 4;
  const members = [0x1_00, 0x2_00, 0x4_00, 0x8_00].filter((flag) => (flags & flag) !== 0).length;
  if (count > MOST_SAMPLES) throw new Unreadable(TOO_COMPLEX);
  for (let index = 0; index < count; index += 1, entry += members * 4) {
    const size = (flags & 0x2_00) === 0 ? usualSize : run.readUInt32BE(entry + before);
    samples?.add(at, size);
    at += size;
  }
  return at;
}
