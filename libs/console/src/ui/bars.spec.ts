import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ceilingOf } from './bars.js';

it('the axis of a chart ends at or above the highest bar, and at most at two and a half times it', () => {
  fc.assert(
    fc.property(fc.double({ min: 1e-9, max: 1e9, noNaN: true }), (most) => {
      expect(ceilingOf(most)).toBeGreaterThanOrEqual(most * 0.999);
      expect(ceilingOf(most)).toBeLessThanOrEqual(most * 2.5);
    }),
  );
  expect(ceilingOf(0)).toBe(1);
  expect(ceilingOf(0.000123)).toBe(0.0002);
});
