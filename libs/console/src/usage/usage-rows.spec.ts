import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { usdNumber } from '@svc/contracts/money';
import { type DailyRow, groupsOf, seriesOf, sumOf } from './usage-rows.js';

const tokens = fc.option(fc.nat(1_000_000), { nil: null });
const rows = fc.array(
  fc.record({
    date: fc.constantFrom('2026-11-25', '2026-11-26', '2026-11-27'),
    apiKeyId: fc.constantFrom(null, 'key-000001', 'key-000002'),
    description: fc.constantFrom('same', 'other'),
    modelName: fc.nat(20).map((at) => `model-${at}`),
    modelType: fc.constant('text'),
    usd: fc.bigInt({ min: 0n, max: 9_999_999_999_999n }).map(usdNumber),
    diem: fc.bigInt({ min: 0n, max: 9_999_999_999_999n }).map(usdNumber),
    inputTokens: tokens,
    outputTokens: tokens,
    cacheReadTokens: tokens,
    cacheWriteTokens: tokens,
  }) satisfies fc.Arbitrary<DailyRow>,
  { maxLength: 60 },
);
const grouping = fc.constantFrom('model' as const, 'key' as const, 'day' as const);

describe('groups of usage', () => {
  it('add up to the whole, to the nano-dollar and the token', () => {
    fc.assert(
      fc.property(rows, grouping, (all, by) => {
        const groups = groupsOf(all, by);
        const total = sumOf('Total', all);
        expect(groups.reduce((sum, { usdNano }) => sum + usdNano, 0n)).toBe(total.usdNano);
        expect(groups.reduce((sum, { diemNano }) => sum + diemNano, 0n)).toBe(total.diemNano);
        const inputs = groups.flatMap(({ inputTokens }) => inputTokens ?? []);
        expect(inputs.length === 0 ? null : inputs.reduce((a, b) => a + b, 0)).toBe(total.inputTokens);
      }),
    );
  });

  it('keep keys apart that have the same description', () => {
    const [row] = fc.sample(rows, { numRuns: 100, seed: 1 }).find(({ length }) => length > 0) ?? [];
    const pair = ['key-000001', 'key-000002'].map((apiKeyId) => ({ ...(row as DailyRow), apiKeyId }));
    const same = pair.map((key) => ({ ...key, description: 'same' }));
    expect(groupsOf(same, 'key').map(({ name }) => name)).toEqual(['same (000001)', 'same (000002)']);
  });
});

describe('the bars', () => {
  it('show every token once, however many models there are', () => {
    const days = ['2026-11-25', '2026-11-26', '2026-11-27'];
    fc.assert(
      fc.property(rows, (all) => {
        const series = seriesOf(all, { days, grouping: 'model', measure: 'tokens' });
        expect(series.length).toBeLessThanOrEqual(9);
        const shown = series.flatMap(({ values }) => values).reduce((a, b) => a + b, 0);
        const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = sumOf('', all);
        const counts = [inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens];
        expect(shown).toBe(counts.reduce<number>((a, b) => a + (b ?? 0), 0));
      }),
    );
  });
});
