import { CatalogImageModel } from '@svc/contracts/catalog';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defaultSize, nearestSize, requestedSize } from './image-size.js';

const ratio = fc.tuple(fc.integer({ min: 1, max: 21 }), fc.integer({ min: 1, max: 21 }));
const constraints = fc.record(
  {
    aspectRatios: fc.uniqueArray(
      ratio.map(([width, height]) => `${width}:${height}`),
      { minLength: 1 },
    ),
    maxSide: fc.integer({ min: 256, max: 4_096 }),
    widthHeightDivisor: fc.constantFrom(1, 8, 16, 32, 64),
  },
  { requiredKeys: ['widthHeightDivisor'] },
);

function painter(given: object): CatalogImageModel {
  return CatalogImageModel.parse({
    id: 'p',
    name: 'P',
    type: 'image',
    constraints: given,
    pricing: { generation: 1 },
  });
}

describe('the size of an image', () => {
  const side = fc.integer({ min: 64, max: 2_048 });

  it('is always a multiple of the divisor, and bounded', () => {
    fc.assert(
      fc.property(constraints, side, side, (given, width, height) => {
        const { constraints: of } = painter(given);
        for (const size of [nearestSize({ width, height }, of, '2K'), defaultSize(of, '2K')]) {
          expect([size.width % of.widthHeightDivisor, size.height % of.widthHeightDivisor]).toEqual([0, 0]);
          expect(Math.min(size.width, size.height)).toBeGreaterThan(0);
          expect(size.width * size.height).toBeLessThan(1.3 * Math.max(2_048, of.maxSide) ** 2);
        }
      }),
    );
  });

  it('is the requested one, rounded, if the model allows that', () => {
    fc.assert(
      fc.property(side, side, fc.constantFrom(1, 8, 64), (width, height, widthHeightDivisor) => {
        const near = nearestSize(
          { width, height },
          painter({ widthHeightDivisor, maxSide: 2_048 }).constraints,
          '1K',
        );
        expect(Math.abs(near.width - width)).toBeLessThanOrEqual(widthHeightDivisor);
        expect(Math.abs(near.height - height)).toBeLessThanOrEqual(widthHeightDivisor);
      }),
    );
  });

  it.each([
    [
      { aspectRatios: ['1:1', '16:9', '9:16'] },
      { width: 1_792, height: 1_024 },
      { width: 1_368, height: 768 },
    ],
    [{ aspectRatios: ['1:1', '3:2'] }, { width: 1_000, height: 1_010 }, { width: 1_024, height: 1_024 }],
    [{}, { width: 1_792, height: 1_024 }, { width: 1_280, height: 728 }],
    [{}, { width: 256, height: 256 }, { width: 256, height: 256 }],
  ])('of %j that is nearest to %j is %j', (given, wanted, size) => {
    expect(nearestSize(wanted, painter(given).constraints, undefined)).toEqual(size);
  });

  it('is that of the ratio at the resolution', () => {
    const model = painter({ aspectRatios: ['1:1', '16:9'] });
    expect(requestedSize(model, { aspect_ratio: '1:1' }, '4K')).toEqual({ width: 4_096, height: 4_096 });
    expect(requestedSize(model, {}, '2K')).toEqual({ width: 2_048, height: 2_048 });
    expect(requestedSize(model, { width: 900, height: 500 }, '1K')).toEqual({ width: 1_368, height: 768 });
  });
});
