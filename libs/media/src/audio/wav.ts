import { Unreadable } from '@svc/threads';
import type { Duration } from './duration.js';

/** Encodings whose length follows from their bytes: PCM, floats, A-law and µ-law. */
const ENCODINGS: ReadonlySet<number> = new Set([1, 3, 6, 7]);
const EXTENSIBLE = 0xfffe;

const HIGHEST_RATE = 768_000;

/** The seconds of the samples that are there, whatever the header says of them. */
export function wavLength(bytes: Buffer): Duration {
  let bytesPerSecond = 0;
  let dataBytes = 0;
  let at = 12;
  while (at + 8 <= bytes.length) {
    const name = bytes.toString('latin1', at, at + 4);
    const begins = at + 8;
    const declared = bytes.readUInt32LE(at + 4);
    if (name === 'fmt ') bytesPerSecond = rateOf(bytes.subarray(begins, begins + declared));
    if (name === 'data') {
      const size = presentBytes(bytes, begins, declared);
      dataBytes += size;
      at = begins + size + (size % 2);
    } else at = begins + declared + (declared % 2);
  }
  if (bytesPerSecond === 0 || dataBytes === 0) throw new Unreadable('it contains no audio');
  return { seconds: dataBytes / bytesPerSecond };
}

function rateOf(format: Buffer): number {
  const encoding = format.readUInt16LE(0);
  const channels = format.readUInt16LE(2);
  const rate = format.readUInt32LE(4);
  const bits = format.readUInt16LE(14);
  if (!ENCODINGS.has(encoding === EXTENSIBLE ? format.readUInt16LE(24) : encoding))
    throw new Unreadable('its encoding is not supported: expected PCM, float, A-law or µ-law');
  if (channels === 0 || rate === 0 || rate > HIGHEST_RATE || bits === 0 || bits % 8 !== 0 || bits > 64)
    throw new Unreadable('its header is not valid');
  return (rate * channels * bits) / 8;
}

/**
 * The bytes of a data chunk: as declared if only other chunks follow, and otherwise all the rest, because a
 * stream's writer declares nothing and an untruthful one too little.
 */
function presentBytes(bytes: Buffer, begins: number, declared: number): number {
  const rest = bytes.length - begins;
  if (declared === 0 || declared >= rest) return rest;
  let at = begins + declared + (declared % 2);
  while (at + 8 <= bytes.length && /^[\w ]{4}$/.test(bytes.toString('latin1', at, at + 4))) {
    const size = bytes.readUInt32LE(at + 4);
    at += 8 + size + (size % 2);
  }
  return at >= bytes.length - 1 && at <= bytes.length + 1 ? declared : rest;
}
