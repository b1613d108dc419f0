import { DAMAGED, Unreadable } from '@svc/threads';
import type { Duration } from './duration.js';

const RATES = [0, 88_200, 176_400, 192_000, 8_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000];

/** What a verbatim frame has beside its samples. */
const OVERHEAD_BYTES = 1_024;

interface FlacFrame {
  readonly samples: number;
  /** 0: the rate is in the file's header. */
  readonly rate: number;
  /** The number of the frame, or of its first sample if the frames have different sizes. */
  readonly number: number;
  readonly numberOfNext: number;
  /** The most bytes that it can take. */
  readonly most: number;
}

const CRC8 = table(8, 0x07);
const CRC16 = table(16, 0x8005);

/**
 * The seconds of all frames. A frame begins at a head with a valid checksum, behind a frame with a valid
 * checksum or with the number that follows. Frames that are longer than uncompressed ones hide others.
 */
export function flacLength(bytes: Buffer): Duration {
  const { at: begins, rate: usualRate } = metadataOf(bytes);
  let seconds = 0;
  let frame = frameAt(bytes, begins);
  if (!frame) throw new Unreadable('it contains no audio');
  let start = begins;
  let crc = 0;
  for (let at = begins; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (at > start && byte === 0xff) {
      const next = frameAt(bytes, at);
      if (next && (crc === 0 || next.number === frame.numberOfNext)) {
        seconds += secondsOf(frame, usualRate);
        [frame, start, crc] = [next, at, 0];
      }
    }
    if (at - start > frame.most) throw new Unreadable(DAMAGED);
    crc = ((crc << 8) & 0xff_ff) ^ (CRC16[(crc >> 8) ^ byte] ?? 0);
  }
  return { seconds: seconds + secondsOf(frame, usualRate) };
}

function secondsOf({ samples, rate }: FlacFrame, usualRate: number): number {
  if (rate === 0 && usualRate === 0) throw new Unreadable(DAMAGED);
  return samples / (rate || usualRate);
}

/** Where the frames begin, and the sample rate that those have which state none. */
function metadataOf(bytes: Buffer): { at: number; rate: number } {
  let rate = 0;
  for (let at = 4; ;) {
    const head = bytes.readUInt32BE(at);
    if (((head >>> 24) & 127) === 0) rate = bytes.readUIntBE(at + 14, 3) >> 4;
    at += 4 + (head & 0xff_ff_ff);
    if (head >>> 31 === 1) return { at, rate };
  }
}

function frameAt(bytes: Buffer, at: number): FlacFrame | undefined {
  if (at + 6 > bytes.length || (bytes.readUInt16BE(at) & 0xff_fe) !== 0xff_f8) return undefined;
  const channels = (bytes[at + 3] ?? 0) >> 4;
  const numbered = numberAt(bytes, at + 4);
  if (channels > 10 || !numbered) return undefined;
  const { number } = numbered;
  const sized = sizeAndRateAt(bytes, { codes: bytes[at + 2] ?? 0, at: numbered.end });
  if (!sized) return undefined;
  const { samples, rate, end } = sized;
  let crc = 0;
  for (const byte of bytes.subarray(at, end)) crc = CRC8[crc ^ byte] ?? 0;
  if (crc !== bytes[end]) return undefined;
  const isVariable = ((bytes[at + 1] ?? 0) & 1) === 1;
  return {
    samples,
    rate,
    number,
    numberOfNext: number + (isVariable ? samples : 1),
    most: Math.ceil((samples * (channels < 8 ? channels + 1 : 2) * 33) / 8) + OVERHEAD_BYTES,
  };
}

/** The samples and rate of a frame, in its codes or, if those say so, in the bytes behind its number. */
function sizeAndRateAt(
  bytes: Buffer,
  { codes, at }: { readonly codes: number; readonly at: number },
): { samples: number; rate: number; end: number } | undefined {
  const sizeCode = codes >> 4;
  const rateCode = codes & 15;
  const sizeBytes = sizeCode === 6 ? 1 : sizeCode === 7 ? 2 : 0;
  const rateBytes = rateCode === 12 ? 1 : rateCode > 12 ? 2 : 0;
  const end = at + sizeBytes + rateBytes;
  if (sizeCode === 0 || rateCode === 15 || end >= bytes.length) return undefined;
  const samples = sizeBytes > 0 ? bytes.readUIntBE(at, sizeBytes) + 1 : usualSize(sizeCode);
  if (rateBytes === 0) return { samples, rate: RATES[rateCode] ?? 0, end };
  const unit = rateCode === 12 ? 1_000 : rateCode === 14 ? 10 : 1;
  return { samples, rate: bytes.readUIntBE(at + sizeBytes, rateBytes) * unit, end };
}

function usualSize(code: number): number {
  if (code === 1) return 192;
  return code < 6 ? 576 << (code - 2) : 256 << (code - 8);
}

/** A number of up to 36 bits, written as UTF-8 writes characters. */
function numberAt(bytes: Buffer, at: number): { number: number; end: number } | undefined {
  const first = bytes[at] ?? 0;
  const length = Math.clz32(~(first << 24));
  if (length === 0) return { number: first, end: at + 1 };
  if (length === 1 || length > 7 || at + length > bytes.length) return undefined;
  let number = first & (0x7f >> length);
  for (const byte of bytes.subarray(at + 1, at + length)) {
    if (byte >> 6 !== 2) return undefined;
    number = number * 64 + (byte & 63);
  }
  return { number, end: at + length };
}

/** Checksums of one byte. */
function table(bits: 8 | 16, polynomial: number): Uint16Array {
  const top = 1 << (bits - 1);
  return Uint16Array.from({ length: 256 }, (_, byte) => {
    let crc = byte << (bits - 8);
    for (let bit = 0; bit < 8; bit += 1) crc = (crc & top) === 0 ? crc << 1 : (crc << 1) ^ polynomial;
    return crc & ((1 << bits) - 1);
  });
}
