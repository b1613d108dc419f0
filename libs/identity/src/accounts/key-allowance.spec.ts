import { type Balances, NO_MONEY } from '@svc/contracts/money';
import { LIMIT_PERIODS, type LimitPeriod } from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type KeyLimits, givenUp, refuseOwnRaise } from './key-allowance.js';

const PERIODS: readonly LimitPeriod[] = LIMIT_PERIODS;
const NONE: KeyLimits = {
  usdLimitNano: null,
  diemLimitNano: null,
  limitPeriod: 'EPOCH',
  requestLimitNano: null,
  requestsPerMinute: null,
  tokensPerMinute: null,
  requestsPerDay: null,
  tokensPerDay: null,
};

const amount = fc.option(fc.bigInt({ min: 0n, max: 5n }));
const rate = fc.option(fc.integer({ min: 1, max: 4 }));
const limits: fc.Arbitrary<KeyLimits> = fc.record({
  usdLimitNano: amount,
  diemLimitNano: amount,
  limitPeriod: fc.constantFrom(...PERIODS),
  requestLimitNano: fc.option(fc.bigInt({ min: 1n, max: 4n })),
  requestsPerMinute: rate,
  tokensPerMinute: rate,
  requestsPerDay: rate,
  tokensPerDay: rate,
});
const money = fc.record({ usdNano: fc.bigInt(0n, 5n), diemNano: fc.bigInt(0n, 5n) });

function isAllowed(change: () => unknown): boolean {
  try {
    change();
    return true;
  } catch (error) {
    if (error instanceof Problem && error.code === 'INVALID_REQUEST') return false;
    throw error;
  }
}

const CURRENCIES = ['usdNano', 'diemNano'] as const;
const RATES = [
  'requestsPerMinute',
  'tokensPerMinute',
  'requestsPerDay',
  'tokensPerDay',
  'requestLimitNano',
] as const;

/** More than any limit. */
const ENDLESS = 1_000_000n;

/** Limits whose period contains the whole of each period of this kind. A week may be in two months. */
const CONTAINING: Readonly<Record<LimitPeriod, string>> = {
  HOUR: 'HOUR EPOCH WEEK MONTH LIFETIME',
  EPOCH: 'EPOCH WEEK MONTH LIFETIME',
  WEEK: 'WEEK LIFETIME',
  MONTH: 'MONTH LIFETIME',
  LIFETIME: 'LIFETIME',
};

/** The most that a key may spend in a day, a week, a month and its lifetime. */
function most({ usdLimitNano, diemLimitNano, limitPeriod }: KeyLimits, period: LimitPeriod) {
  const isBound = CONTAINING[period].split(' ').includes(limitPeriod);
  return {
    usdNano: isBound ? (usdLimitNano ?? ENDLESS) : usdLimitNano === 0n ? 0n : ENDLESS,
    diemNano: isBound ? (diemLimitNano ?? ENDLESS) : diemLimitNano === 0n ? 0n : ENDLESS,
  };
}

describe('an ADMIN key with limits', () => {
  it('cannot raise any of its own limits, and can lower them', () => {
    const raised = (before: KeyLimits, after: KeyLimits): string[] => [
      ...PERIODS.flatMap((period) =>
        CURRENCIES.filter((currency) => most(after, period)[currency] > most(before, period)[currency]),
      ),
      ...RATES.filter((name) => (after[name] ?? Infinity) > (before[name] ?? Infinity)),
    ];
    fc.assert(
      fc.property(limits, limits, (before, after) => {
        fc.pre(isAllowed(() => refuseOwnRaise(before, after)));
        expect(raised(before, after)).toEqual([]);
      }),
    );
    const before = { ...NONE, usdLimitNano: 5n, requestsPerMinute: 3 };
    expect(isAllowed(() => refuseOwnRaise(before, { ...before, usdLimitNano: 4n }))).toBe(true);
    expect(isAllowed(() => refuseOwnRaise(before, { ...before, limitPeriod: 'LIFETIME' }))).toBe(true);
  });

  it('gives up what another key may spend more, and never more than it has left', () => {
    const gift = fc.record({
      giver: limits,
      before: fc.option(limits, { nil: undefined }),
      after: limits,
      spent: money,
    });
    fc.assert(
      fc.property(gift, ({ giver, before, after, spent }) => {
        let given = NO_MONEY;
        fc.pre(isAllowed(() => (given = givenUp(giver, { before, after }, spent))));
        const own = { usdNano: giver.usdLimitNano, diemNano: giver.diemLimitNano };
        const had = before ? most(before, giver.limitPeriod) : NO_MONEY;
        const has = most(after, giver.limitPeriod);
        const isWrong = (currency: keyof Balances): boolean => {
          const limit = own[currency];
          if (limit === null) return given[currency] !== 0n;
          const left = limit > spent[currency] ? limit - spent[currency] : 0n;
          // What the other key may spend more in the giver's period is what the giver gave up.
          return given[currency] > left || has[currency] - had[currency] > given[currency];
        };
        expect(CURRENCIES.filter(isWrong)).toEqual([]);
      }),
    );
  });

  it.each([
    { name: 'no limit', terms: {}, isFine: false },
    { name: 'what is left', terms: { usdLimitNano: 3n }, isFine: true },
    { name: 'more than is left', terms: { usdLimitNano: 4n }, isFine: false },
    { name: 'that for each day', terms: { usdLimitNano: 3n, limitPeriod: 'EPOCH' as const }, isFine: false },
    { name: 'a higher rate', terms: { usdLimitNano: 1n, requestsPerMinute: 9 }, isFine: false },
  ])('gives a new key at most what is left each month: $name', ({ terms, isFine }) => {
    const giver = { ...NONE, usdLimitNano: 5n, limitPeriod: 'MONTH' as const, requestsPerMinute: 8 };
    const after = { ...NONE, limitPeriod: 'MONTH' as const, requestsPerMinute: 8, ...terms };
    const spent = { usdNano: 2n, diemNano: 0n };
    expect(isAllowed(() => givenUp(giver, { before: undefined, after }, spent))).toBe(isFine);
  });
});
