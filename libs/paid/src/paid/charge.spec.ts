import { describe, expect, it } from 'vitest';
import { payFrom } from './charge.js';

describe('payFrom', () => {
  it('spends DIEM first, then USD, and writes off the rest', () => {
    const held = { diemNano: 10n, usdNano: 5n };
    expect(payFrom(held, 7n)).toEqual({ cost: { diemNano: 7n, usdNano: 0n }, writeOffNano: 0n });
    expect(payFrom(held, 12n)).toEqual({ cost: { diemNano: 10n, usdNano: 2n }, writeOffNano: 0n });
    expect(payFrom(held, 20n)).toEqual({ cost: { diemNano: 10n, usdNano: 5n }, writeOffNano: 5n });
  });
});
