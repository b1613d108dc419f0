import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { hollowPng, tinyJpeg, tinyPng, tinyWebp } from './tiny-images.js';

const SIZES = [
  [1, 1],
  [64, 64],
  [1_000, 701],
  [17, 4_096],
] as const;

describe('a tiny image', () => {
  it.each([
    ['png', tinyPng],
    ['webp', tinyWebp],
    ['jpeg', tinyJpeg],
  ] as const)('is a valid %s of its size and colour', async (format, make) => {
    for (const [width, height] of SIZES) {
      const image = sharp(make({ width, height, colour: [120, 120, 120] }), { failOn: 'warning' });
      expect(await image.metadata()).toMatchObject({ format, width, height });
      expect(new Set(await image.removeAlpha().raw().toBuffer()).size).toBe(1);
    }
  });

  it.each([
    ['png', tinyPng],
    ['webp', tinyWebp],
  ] as const)('has the exact colour as %s', async (_, make) => {
    const pixels = await sharp(make({ width: 3, height: 2, colour: [200, 120, 90] }))
      .removeAlpha()
      .raw()
      .toBuffer();
    expect([...pixels.subarray(0, 3)]).toEqual([200, 120, 90]);
  });

  it('may have a comment, or no pixels', async () => {
    const commented = tinyPng({ width: 8, height: 8, colour: [1, 2, 3] }, 'a prompt');
    expect((await sharp(commented).metadata()).comments).toEqual([
      { keyword: 'parameters', text: 'a prompt' },
    ]);
    await expect(sharp(hollowPng(60_000, 60_000)).toBuffer()).rejects.toThrow(/pixel limit/);
  });
});
