import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { chooseEncoding, encode } from './content-encoding.js';

describe('chooseEncoding', () => {
  it.each([
    [undefined, undefined],
    ['', undefined],
    ['identity', undefined],
    ['gzip', 'gzip'],
    ['gzip, deflate, br', 'br'],
    ['br;q=0.5, gzip', 'gzip'],
    ['br;q=0, gzip;q=0', undefined],
    ['br;q=0, *', 'gzip'],
    ['*', 'br'],
    ['BR', 'br'],
    ['gzip;q=nonsense', undefined],
  ])('for %j chooses %j', (header, encoding) => {
    expect(chooseEncoding(header)).toBe(encoding);
  });
});

it('encodes a body so that the client can decode it', async () => {
  expect(gunzipSync(await encode('héllo', 'gzip')).toString()).toBe('héllo');
  expect(brotliDecompressSync(await encode('héllo', 'br')).toString()).toBe('héllo');
});
