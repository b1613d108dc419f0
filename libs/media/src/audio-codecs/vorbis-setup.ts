import { DAMAGED, Unreadable } from '@svc/threads';

/** Reads bits, the least significant first. */
class Bits {
  private at = 0;

  constructor(private readonly bytes: Buffer) {}

  read(bits: number): number {
    let value = 0;
    for (let bit = 0; bit < bits; bit += 1, this.at += 1) {
      const byte = this.bytes[this.at >> 3];
      if (byte === undefined) throw new Unreadable(DAMAGED);
      if (((byte >> (this.at & 7)) & 1) === 1) value += 2 ** bit;
    }
    return value;
  }

  skip(bits: number): void {
    this.at += bits;
    if (this.at > this.bytes.length * 8) throw new Unreadable(DAMAGED);
  }
}

const bitsFor = (value: number): number => (value === 0 ? 0 : 32 - Math.clz32(value));

/**
 * Whether the windows of each mode are long, by the setup of a Vorbis stream. The modes come last, so
 * everything before them is read. Source: the Vorbis I specification, section 4.2.4.
 */
export function vorbisModes(setup: Buffer, channels: number): boolean[] {
  const bits = new Bits(setup);
  each(bits, 8, () => skipCodebook(bits));
  each(bits, 6, () => bits.skip(16));
  each(bits, 6, () => skipFloor(bits));
  each(bits, 6, () => skipResidue(bits));
  each(bits, 6, () => skipMapping(bits, channels));
  const modes: boolean[] = [];
  each(bits, 6, () => {
    modes.push(bits.read(1) === 1);
    bits.skip(16 + 16 + 8);
  });
  if (bits.read(1) !== 1) throw new Unreadable(DAMAGED);
  return modes;
}

/** Does something as often as the next bits say, and once more. */
function each(bits: Bits, width: number, step: (index: number) => void): void {
  const count = bits.read(width) + 1;
  for (let index = 0; index < count; index += 1) step(index);
}

function skipCodebook(bits: Bits): void {
  if (bits.read(24) !== 0x56_43_42) throw new Unreadable(DAMAGED);
  const dimensions = bits.read(16);
  const entries = bits.read(24);
  if (bits.read(1) === 1) {
    bits.skip(5);
    for (let entry = 0; entry < entries;) {
      const width = bitsFor(entries - entry);
      const count = bits.read(width);
      entry += count;
      // Each length of a code has its number of entries.
      if (entry > entries) throw new Unreadable(DAMAGED);
    }
  } else skipLengths(bits, entries);
  const lookup = bits.read(4);
  if (lookup > 2) throw new Unreadable(DAMAGED);
  if (lookup === 0) return;
  bits.skip(64);
  const width = bits.read(4) + 1;
  bits.skip(1);
  bits.skip(width * (lookup === 1 ? rootOf(entries, dimensions) : entries * dimensions));
}

/** The lengths of words; a sparse codebook has only some of them. */
function skipLengths(bits: Bits, entries: number): void {
  const isSparse = bits.read(1) === 1;
  if (!isSparse) return bits.skip(entries * 5);
  for (let entry = 0; entry < entries; entry += 1) if (bits.read(1) === 1) bits.skip(5);
}

/** The greatest number whose power is at most `entries`. */
function rootOf(entries: number, dimensions: number): number {
  if (dimensions === 0) throw new Unreadable(DAMAGED);
  let root = Math.floor(entries ** (1 / dimensions)) + 1;
  while (root ** dimensions > entries) root -= 1;
  return root;
}

function skipFloor(bits: Bits): void {
  const type = bits.read(16);
  if (type === 0) {
    bits.skip(8 + 16 + 16 + 6 + 8);
    each(bits, 4, () => bits.skip(8));
    return;
  }
  if (type !== 1) throw new Unreadable(DAMAGED);
  const classes = Array.from({ length: bits.read(5) }, () => bits.read(4));
  const dimensions = Array.from({ length: Math.max(-1, ...classes) + 1 }, () => {
    const size = bits.read(3) + 1;
    const subclasses = bits.read(2);
    if (subclasses > 0) bits.skip(8);
    bits.skip(8 * 2 ** subclasses);
    return size;
  });
  bits.skip(2);
  const width = bits.read(4);
  for (const kind of classes) bits.skip((dimensions[kind] ?? 0) * width);
}

function skipResidue(bits: Bits): void {
  if (bits.read(16) > 2) throw new Unreadable(DAMAGED);
  bits.skip(24 + 24 + 24);
  const classifications = bits.read(6) + 1;
  bits.skip(8);
  let books = 0;
  for (let index = 0; index < classifications; index += 1) {
    const low = bits.read(3);
    const high = bits.read(1) === 1 ? bits.read(5) : 0;
    for (let cascade = high * 8 + low; cascade > 0; cascade >>= 1) books += cascade & 1;
  }
  bits.skip(books * 8);
}

function skipMapping(bits: Bits, channels: number): void {
  if (bits.read(16) !== 0) throw new Unreadable(DAMAGED);
  const submaps = bits.read(1) === 1 ? bits.read(4) + 1 : 1;
  if (bits.read(1) === 1) each(bits, 8, () => bits.skip(2 * bitsFor(channels - 1)));
  bits.skip(2);
  if (submaps > 1) bits.skip(4 * channels);
  bits.skip(submaps * 24);
}
