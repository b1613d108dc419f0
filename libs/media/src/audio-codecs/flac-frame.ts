import { crcTable } from './crc.js';

const RATES = [0, 88_200, 176_400, 192_000, 8_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000];
const BITS = [0, 8, 12, undefined, 16, 20, 24, 32];

/** What a verbatim frame has in addition to its samples. */
const OVERHEAD_BYTES = 1_024;

export interface FlacFrame {
  readonly samples: number;
  /** 0: as in the header of the file. */
  readonly rate: number;
  /** Of a sample; 0: as in the header of the file. */
  readonly bits: number;
  readonly channels: number;
  readonly isVariable: boolean;
  /** The number of the frame, or of its first sample if the frames have different sizes. */
  readonly number: number;
  /** The most bytes that it can take. */
  readonly most: number;
}

const CRC8 = crcTable(8, 0x07);

/** The head of a frame, if one with a valid checksum is there. */
export function flacFrameAt(bytes: Buffer, at: number): FlacFrame | undefined {
  if (at + 6 > bytes.length || (bytes.readUInt16BE(at) & 0xff_fe) !== 0xff_f8) return undefined;
  const fourth = bytes[at + 3] ?? 0;
  // Codes 8 to 10 are two channels, of which one or both are differences.
  const assignment = fourth >> 4;
  const bits = BITS[(fourth >> 1) & 7];
  const numbered = numberAt(bytes, at + 4);
  if (assignment > 10 || bits === undefined || (fourth & 1) === 1 || !numbered) return undefined;
  const { number } = numbered;
  const sized = sizeAndRateAt(bytes, { codes: bytes[at + 2] ?? 0, at: numbered.end });
  if (!sized) return undefined;
  const { samples, rate, end } = sized;
  let crc = 0;
  for (const byte of bytes.subarray(at, end)) crc = CRC8[crc ^ byte] ?? 0;
  if (crc !== bytes[end]) return undefined;
  const isVariable = ((bytes[at + 1] ?? 0) & 1) === 1;
  const channels = assignment < 8 ? assignment + 1 : 2;
  const most = Math.ceil((samples * channels * 33) / 8) + OVERHEAD_BYTES;
  return { samples, rate, bits, channels, isVariable, number, most };
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
