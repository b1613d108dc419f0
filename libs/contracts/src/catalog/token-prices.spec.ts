import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { usdToNano } from '../money/money.js';
import { CatalogEntry } from './catalog.js';

const entry = { id: 'm', name: 'M', contextTokens: 1_000, maxCompletionTokens: 100 };
const providerPricing = {
  input: 0.15,
  output: 0.6,
  extended: { contextTokenThreshold: 100, input: 0.3, output: 0.9, cacheInput: 0.000000001 },
};

const faultsOf = (more: object): string[] =>
  (CatalogEntry.safeParse({ ...entry, ...more }).error?.issues ?? []).map(
    ({ path, message }) => `${path.join('.')}: ${message}`,
  );

describe('the price of a model with a markup', () => {
  it('is that of its provider times the factor, rounded up to a nano-dollar', () => {
    const parsed = CatalogEntry.parse({ ...entry, providerPricing, markup: 1.175 });
    expect(parsed.pricing).toEqual({
      input: 0.17625,
      output: 0.705,
      extended: { contextTokenThreshold: 100, input: 0.3525, output: 1.0575, cacheInput: 0.000000002 },
    });
    expect(CatalogEntry.parse(parsed)).toEqual(parsed);
  });

  it('is exact for all prices and factors', () => {
    const nanos = fc.bigInt({ min: 0n, max: 1_000_000_000_000n });
    fc.assert(
      fc.property(nanos, fc.integer({ min: 1, max: 3_000 }), (nano, thousandths) => {
        const usd = Number(nano) / 1e9;
        const prices = { input: usd, output: usd };
        const { pricing } = CatalogEntry.parse({
          ...entry,
          providerPricing: prices,
          markup: thousandths / 1_000,
        });
        const exact = nano * BigInt(thousandths);
        expect(usdToNano((pricing as { input: number }).input)).toBe((exact + 999n) / 1_000n);
      }),
    );
  });

  it('needs both the price of the provider and the factor, and no price beside them', () => {
    const pricing = { input: 1, output: 1 };
    expect(faultsOf({ pricing, providerPricing })).toEqual(['markup: must be set beside `providerPricing`']);
    expect(faultsOf({ pricing, markup: 2 })).toEqual(['providerPricing: must be set beside `markup`']);
    expect(faultsOf({ pricing, providerPricing, markup: 2 })).toEqual([
      'pricing: must be left out beside `providerPricing` and `markup`',
    ]);
    expect(faultsOf({ markup: 2 })).toEqual([expect.stringMatching(/^pricing: /)]);
    expect(faultsOf({ providerPricing })).toEqual([expect.stringMatching(/^pricing: /)]);
    expect(faultsOf({ providerPricing, markup: 1.0001 })).not.toEqual([]);
    expect(faultsOf({ providerPricing: { input: 1 }, markup: 1.2 })).toContainEqual(
      expect.stringMatching(/^providerPricing.output: /),
    );
  });
});
