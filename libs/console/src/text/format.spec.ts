import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { usdNumber } from '@svc/contracts/money';
import { diem, nanoOf, relative, usd, usdNine } from './format.js';

/** Below 2^23 dollars, where a JSON number has nine exact decimals. */
const nano = fc.bigInt({ min: 0n, max: 8_388_607_999_999_999n });

describe('an amount of money', () => {
  it('is shown with every decimal that the API sends', () => {
    expect(usd(10)).toBe('$10.00');
    expect(usd(0.000000001)).toBe('$0.000000001');
    expect(usd(-1234.5)).toBe('−$1,234.50');
    expect(diem(0.5)).toBe('0.50 DIEM');
    expect(usdNine(0.000012)).toBe('$0.000012000');
    expect(usdNine(-1000)).toBe('−$1,000.000000000');
  });

  it('adds up to the nano-dollar, however many numbers are added', () => {
    fc.assert(
      fc.property(fc.array(nano, { maxLength: 200 }), (amounts) => {
        const sum = amounts.map((amount) => nanoOf(usdNumber(amount))).reduce((a, b) => a + b, 0n);
        expect(sum).toBe(amounts.reduce((a, b) => a + b, 0n));
      }),
    );
  });

  it('has the digits of its nano-dollars', () => {
    fc.assert(
      fc.property(nano, (amount) => {
        expect(
          usdNine(amount)
            .replaceAll(/[$,.]/g, '')
            .replace(/^0+(?=.)/, ''),
        ).toBe(String(amount));
      }),
    );
  });
});

describe('a distance in time', () => {
  const now = Date.parse('2026-11-27T12:00:00Z');
  it.each([
    ['2026-11-27T12:00:20Z', 'just now'],
    ['2026-11-27T11:55:00Z', '5 minutes ago'],
    ['2026-11-28T00:00:00Z', 'in 12 hours'],
    ['2026-12-27T12:00:00Z', 'in 30 days'],
  ])('to %s is "%s"', (iso, text) => expect(relative(iso, now)).toBe(text));
});
