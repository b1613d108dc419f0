import { DAMAGED, Unreadable } from '@svc/threads';
import { NOT_SUPPORTED } from './audio-terms.js';
import { AAC_BANDS, type BandWidths } from './aac-bands.js';
import { AacBits } from './aac-bits.js';
import { SCALE_CODE, SPECTRAL_CODES } from './aac-codes.js';

/** Elements of a frame. */
const ONE_CHANNEL = 0;
const TWO_CHANNELS = 1;
const LOW_FREQUENCIES = 3;
const DATA = 4;
const PROGRAM = 5;
const FILLER = 6;
const END = 7;

/** Codebooks in addition to those of spectra. */
const NONE = 0;
const RESERVED = 12;
const NOISE = 13;

const SHORT_WINDOWS = 2;

/** The windows of a channel. */
interface Windows {
  readonly isShort: boolean;
  /** Of the bands that are used. */
  readonly widths: readonly number[];
  /** How many windows share their scale factors. */
  readonly groups: readonly number[];
}

/**
 * The bytes of the first frame in a packet, which should be all of them: decoders go on with what is behind
 * it as a further frame. The frame states no length, so that all of it is walked through.
 * Source: ISO/IEC 14496-3, section 4.4.2.
 */
export function aacFrameBytes(packet: Buffer, rateIndex: number): number {
  const bits = new AacBits(packet);
  const bands = AAC_BANDS[rateIndex];
  if (!bands) throw new Unreadable(NOT_SUPPORTED);
  for (;;) {
    const element = bits.read(3);
    if (element === END) break;
    skipElement(bits, element, bands);
  }
  bits.align();
  return bits.position / 8;
}

function skipElement(bits: AacBits, element: number, bands: BandWidths): void {
  switch (element) {
    case ONE_CHANNEL:
    case LOW_FREQUENCIES:
      bits.skip(4);
      return skipChannel(bits, bands);
    case TWO_CHANNELS:
      bits.skip(4);
      return skipPair(bits, bands);
    case DATA:
      return skipData(bits);
    case PROGRAM:
      return skipProgram(bits);
    case FILLER: {
      const count = bits.read(4);
      return bits.skip(8 * (count === 15 ? 14 + bits.read(8) : count));
    }
    default:
      throw new Unreadable(`${NOT_SUPPORTED}: its channels are coupled`);
  }
}

function skipData(bits: AacBits): void {
  bits.skip(4);
  const isAligned = bits.read(1) === 1;
  const count = bits.read(8);
  const more = count === 255 ? bits.read(8) : 0;
  if (isAligned) bits.align();
  bits.skip(8 * (count + more));
}

/** The channels of a program: their numbers first, then each of them. */
function skipProgram(bits: AacBits): void {
  bits.skip(4 + 2 + 4);
  const channels = bits.read(4) + bits.read(4) + bits.read(4);
  const [low, data, coupled] = [bits.read(2), bits.read(3), bits.read(4)];
  for (const width of [4, 4, 3]) if (bits.read(1) === 1) bits.skip(width);
  bits.skip(5 * (channels + coupled) + 4 * (low + data));
  bits.align();
  bits.skip(8 * bits.read(8));
}

function skipPair(bits: AacBits, bands: BandWidths): void {
  const isCommon = bits.read(1) === 1;
  if (!isCommon) {
    skipChannel(bits, bands);
    return skipChannel(bits, bands);
  }
  const windows = readWindows(bits, bands);
  const mask = bits.read(2);
  if (mask === 3) throw new Unreadable(DAMAGED);
  if (mask === 1) bits.skip(windows.widths.length * windows.groups.length);
  skipChannel(bits, bands, windows);
  skipChannel(bits, bands, windows);
}

function readWindows(bits: AacBits, { long, short }: BandWidths): Windows {
  bits.skip(1);
  const isShort = bits.read(2) === SHORT_WINDOWS;
  bits.skip(1);
  const count = bits.read(isShort ? 4 : 6);
  const groups = [1];
  if (isShort)
    for (let window = 1; window < 8; window += 1) {
      if (bits.read(1) === 1) groups.push((groups.pop() ?? 0) + 1);
      else groups.push(1);
    }
  else if (bits.read(1) === 1) throw new Unreadable(DAMAGED);
  const widths = isShort ? short : long;
  if (count > widths.length) throw new Unreadable(DAMAGED);
  return { isShort, widths: widths.slice(0, count), groups };
}

function skipChannel(bits: AacBits, bands: BandWidths, common?: Windows): void {
  bits.skip(8);
  const windows = common ?? readWindows(bits, bands);
  const books = windows.groups.map(() => readBooks(bits, windows));
  skipScales(bits, books);
  if (bits.read(1) === 1) skipPulses(bits, windows);
  if (bits.read(1) === 1) skipNoiseShapes(bits, windows);
  // Gain control is not part of the profile.
  if (bits.read(1) === 1) throw new Unreadable(DAMAGED);
  skipSpectrum(bits, books, windows);
}

/** The codebook of each band of a group of windows. */
function readBooks(bits: AacBits, { isShort, widths }: Windows): number[] {
  const books: number[] = [];
  const width = isShort ? 3 : 5;
  const most = 2 ** width - 1;
  while (books.length < widths.length) {
    const book = bits.read(4);
    if (book === RESERVED) throw new Unreadable(DAMAGED);
    for (let isOver = false; !isOver;) {
      const count = bits.read(width);
      for (let band = 0; band < count; band += 1) books.push(book);
      if (books.length > widths.length) throw new Unreadable(DAMAGED);
      isOver = count < most;
    }
  }
  return books;
}

function skipScales(bits: AacBits, books: readonly (readonly number[])[]): void {
  let isFirstNoise = true;
  for (const book of books.flat()) {
    if (book === NONE) continue;
    if (book === NOISE && isFirstNoise) {
      isFirstNoise = false;
      bits.skip(9);
    } else bits.skipWord(SCALE_CODE);
  }
}

function skipPulses(bits: AacBits, { isShort }: Windows): void {
  if (isShort) throw new Unreadable(DAMAGED);
  const count = bits.read(2) + 1;
  bits.skip(6 + 9 * count);
}

function skipNoiseShapes(bits: AacBits, { isShort }: Windows): void {
  const [countBits, lengthBits, orderBits] = isShort ? [1, 4, 3] : [2, 6, 5];
  for (let window = 0; window < (isShort ? 8 : 1); window += 1) {
    const filters = bits.read(countBits);
    const resolution = filters > 0 ? bits.read(1) + 3 : 0;
    for (let filter = 0; filter < filters; filter += 1) {
      bits.skip(lengthBits);
      const order = bits.read(orderBits);
      if (order === 0) continue;
      bits.skip(1);
      bits.skip(order * (resolution - bits.read(1)));
    }
  }
}

function skipSpectrum(
  bits: AacBits,
  books: readonly (readonly number[])[],
  { widths, groups }: Windows,
): void {
  for (const [group, windows] of groups.entries())
    for (const [band, book] of (books[group] ?? []).entries()) {
      const code = SPECTRAL_CODES[book - 1];
      if (!code) continue;
      // The first four codes have four values in a word, the others two.
      const words = ((widths[band] ?? 0) * windows) / (book < 5 ? 4 : 2);
      for (let word = 0; word < words; word += 1) bits.skipWord(code);
    }
}
