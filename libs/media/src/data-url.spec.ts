import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { base64Bytes, dataUrl, dataUrlBytes, dataUrlHead } from './data-url.js';

/** The content of a data URL; `undefined` if it is not one. */
async function read(
  url: string,
): Promise<{ mediaType: string; bytes: Buffer; isPlain: boolean } | undefined> {
  const head = dataUrlHead(url);
  const decoded = head && (await dataUrlBytes(url, head));
  return head && decoded && { mediaType: head.mediaType, ...decoded };
}

describe('a data URL', () => {
  it.each([
    ['data:text/plain;base64,aMOp', 'text/plain', 'hé'],
    ['data:text/plain;charset=utf-8;base64,aMOp', 'text/plain', 'hé'],
    ['DATA:Text/CSV,a%2Cb', 'text/csv', 'a,b'],
    ['data:,h%C3%A9', '', 'hé'],
    ['data:,100%', '', '100%'],
    ['data:,%4', '', '%4'],
    ['data:,%zz%41', '', '%zzA'],
    ['data:text/plain;base64,aM Op\n', 'text/plain', 'hé'],
    ['data:text/plain;base64,aA%3D%3D', 'text/plain', 'h'],
    ['data:text/plain;base64,aA=\r\n=', 'text/plain', 'h'],
    ['data:text/plain;base64,aA', 'text/plain', 'h'],
    ['data:text/plain,é', 'text/plain', 'é'],
  ])('%j is accepted', async (url, mediaType, text) => {
    const parsed = await read(url);
    expect([parsed?.mediaType, parsed?.bytes.toString()]).toEqual([mediaType, text]);
  });

  it.each([
    'https://a.example',
    'data:text/plain;base64',
    'data:;base64,!!!!',
    'data:;base64,aa=aa',
    'data:;base64,a',
    'data:;base64,aaaaa===',
    'data',
    '',
  ])('%j is rejected', async (url) => {
    expect(await read(url)).toBeUndefined();
  });

  it('survives a round trip with any bytes, and is plain', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array(), async (bytes) => {
        const parsed = await read(await dataUrl('image/png', bytes));
        expect(Uint8Array.from(parsed?.bytes ?? [])).toEqual(bytes);
        expect(parsed?.isPlain).toBe(true);
      }),
    );
  });

  it.each(['aMOp\n', 'aM Op', 'aA', '_-__'])('%j is not plain base64', async (text) => {
    expect((await base64Bytes(text))?.isPlain).toBe(false);
  });
});

describe('a long data URL', () => {
  const bytes = Buffer.alloc(3_000_001, 'hé%41 ');

  it('gives the same bytes in base64, with or without spaces at slice boundaries', async () => {
    const text = bytes.toString('base64');
    const spaced = text.replaceAll(/(.{77})/g, '$1\r\n');
    expect((await base64Bytes(text))?.bytes.equals(bytes)).toBe(true);
    expect((await base64Bytes(spaced))?.bytes.equals(bytes)).toBe(true);
    expect((await read(await dataUrl('a/b', bytes)))?.bytes.equals(bytes)).toBe(true);
  });

  it.each([0, 1, 2, 3])('gives the same bytes in escapes, shifted by %i', async (shift) => {
    const text = `${'x'.repeat(shift)}${'%41é🙂'.repeat(100_000)}`;
    const expected = text.replaceAll('%41', 'A');
    expect((await read(`data:,${text}`))?.bytes.toString()).toBe(expected);
  });

  it('yields to the event loop while it is read', async () => {
    let turns = 0;
    const turning = setInterval(() => (turns += 1), 0);
    await read(`data:,${'%41'.repeat(3_000_000)}`);
    clearInterval(turning);
    expect(turns).toBeGreaterThan(5);
  });
});
