import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ServiceTiers, tieredNano } from './price-tiers.js';

describe('a price in a tier', () => {
  it('is the price times the factor, rounded up to a whole nano-dollar per million tokens', () => {
    const property = fc.property(
      fc.bigInt(0n, 10n ** 15n),
      fc.integer({ min: 1, max: 100_000 }),
      (nano, thousandths) => {
        const tiered = tieredNano(nano, { priceFactor: thousandths / 1_000 });
        expect(tiered * 1_000n).toBeGreaterThanOrEqual(nano * BigInt(thousandths));
        expect((tiered - 1n) * 1_000n).toBeLessThan(nano * BigInt(thousandths));
      },
    );
    fc.assert(property);
  });
});

describe('a tier of the catalogue', () => {
  it('has a factor of at most three decimals, and the usual band and weight', () => {
    expect(ServiceTiers.parse({ flex: { priceFactor: 0.333 }, priority: { priceFactor: 1.1 } })).toEqual({
      flex: { priceFactor: 0.333, band: 'background', weight: 1 },
      priority: { priceFactor: 1.1, band: 'interactive', weight: 4 },
    });
    for (const priceFactor of [0.3333, 0, -1, 1_000])
      expect(ServiceTiers.safeParse({ flex: { priceFactor } }).success).toBe(false);
    expect(ServiceTiers.safeParse({ gold: { priceFactor: 1 } }).success).toBe(false);
  });
});
