import { strToU8, zipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { Archive, repack } from './archive.js';
import { zipOf } from '../../test/sample-files.js';

const all = (): boolean => true;

/** Rewrites the unpacked size in the directory of a zip with one entry. */
function claim(zip: Uint8Array, bytes: number): Uint8Array {
  const copy = Buffer.from(zip);
  copy.writeUInt32LE(bytes, copy.indexOf('PK\u0001\u0002', 0, 'latin1') + 24);
  return copy;
}

describe('Archive', () => {
  it('unpacks only the selected entries', () => {
    const parts = new Archive(zipOf({ a: 'one', b: 'two' })).read((name) => name === 'b');
    expect([...parts]).toEqual([['b', strToU8('two')]]);
  });

  it('gives an entry no more than the size that it claims', () => {
    const zip = claim(zipOf({ a: 'x'.repeat(100_000) }), 10);
    expect(new Archive(zip).read(all).get('a')?.length).toBe(10);
  });

  it('rejects entries that claim too much before unpacking them, in total over all reads', () => {
    expect(() => new Archive(claim(zipOf({ a: 'x' }), 4_000_000_000)).read(all)).toThrow('too large');
    const archive = new Archive(claim(zipOf({ a: 'x' }), 150 * 1_048_576));
    archive.read(all);
    expect(() => archive.read(all)).toThrow('too large');
  });

  it('rejects an archive with too many entries', () => {
    const entries = Array.from({ length: 20_001 }, (_, index) => [`e${index}`, new Uint8Array()] as const);
    const zip = zipSync(Object.fromEntries(entries), { level: 0 });
    expect(() => new Archive(zip).read(() => false)).toThrow('too large');
  });

  it('rejects a truncated archive', () => {
    const zip = zipOf({ a: 'one' });
    expect(() => new Archive(zip.subarray(0, zip.length - 10)).read(all)).toThrow('damaged');
    expect(() => new Archive(zip.subarray(0, 4)).read(all)).toThrow('damaged');
  });

  it('repacks parts unchanged', () => {
    const parts = new Archive(zipOf({ 'a/b': 'one', c: '' })).read(all);
    expect(new Archive(repack(parts)).read(all)).toEqual(parts);
  });
});
