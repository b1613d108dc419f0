import { describe, expect, it } from 'vitest';
import { audioFile } from './audio-files.js';
import { crc } from './bits.js';

const SECONDS = 7.3;

/** The lengths of the frames, each of which says how long it is. */
function frameLengths(bytes: Buffer, lengthAt: (at: number) => number): number[] {
  const lengths: number[] = [];
  for (let at = 0; at < bytes.length; at += lengths.at(-1) ?? 1) lengths.push(lengthAt(at));
  return lengths;
}

describe('a file of speech', () => {
  it('has as many frames as its length needs in MP3', () => {
    const { bytes } = audioFile('mp3', SECONDS);
    const heads = bytes.filter((_, at) => at % 96 === 0);
    expect(heads.every((byte) => byte === 0xff)).toBe(true);
    expect(heads.length).toBe(Math.round(SECONDS / 0.024));
  });

  it('has frames with their length in AAC', () => {
    const { bytes } = audioFile('aac', SECONDS);
    const lengths = frameLengths(bytes, (at) => (bytes.readUInt32BE(at + 2) >>> 5) & 0x1fff);
    expect(lengths).toEqual(Array.from({ length: Math.round((SECONDS * 48_000) / 1_024) }, () => 11));
  });

  it('has pages with their packets and their checksum in Opus', () => {
    const { bytes } = audioFile('opus', SECONDS);
    const pageLength = (at: number): number => {
      const count = bytes[at + 26] ?? 0;
      const page = bytes.subarray(at, at + 27 + count);
      return page.length + page.subarray(27).reduce((sum, size) => sum + size, 0);
    };
    const lengths = frameLengths(bytes, pageLength);
    // Two pages of heads, and one for each second that has begun.
    expect(lengths.length).toBe(2 + 8);
    const last = Buffer.from(bytes.subarray(-(lengths.at(-1) ?? 0)));
    const sum = last.readUInt32LE(22);
    last.writeUInt32LE(0, 22);
    expect(crc(last, { width: 32, polynomial: 0x04c11db7 })).toBe(sum);
    expect(last.readBigInt64LE(6)).toBe(BigInt(312 + SECONDS * 48_000));
    expect(last[5]).toBe(4);
  });

  it('states its samples in FLAC', () => {
    const { bytes } = audioFile('flac', SECONDS);
    expect(bytes.toString('latin1', 0, 4)).toBe('fLaC');
    expect(bytes.readUInt32BE(22)).toBe(Math.round((SECONDS * 48_000) / 4_096) * 4_096);
  });

  it('has two bytes a sample in WAV and PCM', () => {
    const samples = audioFile('pcm', SECONDS).bytes;
    expect(samples.length).toBe(SECONDS * 24_000 * 2);
    const { bytes } = audioFile('wav', SECONDS);
    expect(bytes.readUInt32LE(40)).toBe(samples.length);
    expect(bytes.subarray(44)).toEqual(samples);
  });
});

/** Published check values: the sums of the digits 1 to 9. */
describe('a checksum', () => {
  it.each([
    [8, 0x07, 0xf4],
    [16, 0x8005, 0xfee8],
    [32, 0x04c11db7, 0x89a1897f],
  ])('of %i bits is the published one', (width, polynomial, expected) => {
    expect(crc(Buffer.from('123456789'), { width, polynomial })).toBe(expected);
  });
});
