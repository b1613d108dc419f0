import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dataUrl, parseDataUrl } from './data-url.js';

describe('parseDataUrl', () => {
  it.each([
    ['data:text/plain;base64,aMOp', 'text/plain', 'hé'],
    ['data:text/plain;charset=utf-8;base64,aMOp', 'text/plain', 'hé'],
    ['DATA:Text/CSV,a%2Cb', 'text/csv', 'a,b'],
    ['data:,h%C3%A9', '', 'hé'],
    ['data:text/plain;base64,aM Op\n', 'text/plain', 'hé'],
    ['data:text/plain,é', 'text/plain', 'é'],
  ])('reads %s', (url, mediaType, text) => {
    const parsed = parseDataUrl(url);
    expect([parsed?.mediaType, parsed?.bytes.toString()]).toEqual([mediaType, text]);
  });

  it.each(['https://a.example', 'data:text/plain;base64', 'data:;base64,!!!!', 'data', ''])(
    'refuses %j',
    (url) => {
      expect(parseDataUrl(url)).toBeUndefined();
    },
  );

  it('gives any bytes back', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        expect(Uint8Array.from(parseDataUrl(dataUrl('image/png', bytes))?.bytes ?? [])).toEqual(bytes);
      }),
    );
  });
});
