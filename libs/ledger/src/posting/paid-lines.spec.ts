import { describe, expect, it } from 'vitest';
import { keySpendings, paidLines, usageSums } from './paid-lines.js';
import { chargeOf } from '../../test/testing.js';

const A = '00000000-0000-4000-8000-00000000000a';
const B = '00000000-0000-4000-8000-00000000000b';
const line = (sku: string, amountNano: bigint, units = 1) => ({
  sku,
  unit: 'token',
  units,
  priceNanoPerMillion: 1n,
  amountNano,
});

describe('paidLines', () => {
  it('takes DIEM first, then USD, in line order, and writes off the rest', () => {
    const charge = chargeOf(A, 0n, {
      cost: { diemNano: 5n, usdNano: 4n },
      writeOffNano: 2n,
      lines: [line('input', 3n), line('free', 0n), line('output', 8n)],
    });
    expect(paidLines([charge]).map(({ diemNano, usdNano }) => [diemNano, usdNano])).toEqual([
      [3n, 0n],
      [0n, 0n],
      [2n, 4n],
    ]);
  });
});

describe('usageSums', () => {
  it('sums lines by account, day, key, model and sku', () => {
    const at = '2026-11-21T10:00:00.000Z';
    const charges = [
      chargeOf(A, 3n, { at, lines: [line('input', 3n, 10)] }),
      chargeOf(A, 4n, { at, lines: [line('input', 4n, 20)] }),
      chargeOf(A, 4n, { at: '2026-11-22T00:00:00.000Z', lines: [line('input', 4n, 1)] }),
      chargeOf(A, 5n, { at, keyId: 'other', lines: [line('input', 5n, 1)] }),
      chargeOf(B, 6n, { at, lines: [line('input', 6n, 1)] }),
    ];
    expect(usageSums(paidLines(charges)).map((sum) => [sum.day, sum.keyId, sum.units, sum.usdNano])).toEqual([
      ['2026-11-21', 'key', 30n, 7n],
      ['2026-11-22', 'key', 1n, 4n],
      ['2026-11-21', 'other', 1n, 5n],
      ['2026-11-21', 'key', 1n, 6n],
    ]);
  });
});

describe('keySpendings', () => {
  it('sums what each key of an account paid, by hour', () => {
    const at = '2026-11-21T10:00:00.000Z';
    const charges = [
      chargeOf(A, 0n, { at, cost: { usdNano: 1n, diemNano: 2n } }),
      chargeOf(A, 3n, { at }),
      chargeOf(A, 4n, { at: '2026-11-22T00:00:00.000Z' }),
      chargeOf(B, 5n, { at, keyId: 'other' }),
    ];
    expect([...keySpendings(charges)]).toEqual([
      [
        A,
        [
          { keyId: 'key', hour: '2026-11-21T10', usdNano: 4n, diemNano: 2n },
          { keyId: 'key', hour: '2026-11-22T00', usdNano: 4n, diemNano: 0n },
        ],
      ],
      [B, [{ keyId: 'other', hour: '2026-11-21T10', usdNano: 5n, diemNano: 0n }]],
    ]);
  });
});
