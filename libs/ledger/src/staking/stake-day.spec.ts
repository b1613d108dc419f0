import fc from 'fast-check';
import { expect, it } from 'vitest';
import { setStakeDay } from './stake-day.js';

const accountId = '11111111-1111-4111-8111-111111111111';
const day = '2026-11-21';
const at = `${day}T00:00:00.000Z`;

function set({ postedNano, restNano, tokensNano }: Record<'postedNano' | 'restNano' | 'tokensNano', bigint>) {
  const before = { accountId, balances: { usdNano: 7n, diemNano: postedNano }, version: 3n };
  return setStakeDay({ day, at, tokensNano, restNano, before });
}

it.each([
  { is: 'nothing before', postedNano: 0n, restNano: 0n, tokensNano: 5n, moved: ['grant 5'] },
  { is: 'some left', postedNano: 2n, restNano: 2n, tokensNano: 5n, moved: ['expiry 2', 'grant 5'] },
  { is: 'all held', postedNano: 5n, restNano: 0n, tokensNano: 5n, moved: [] },
  { is: 'part held', postedNano: 5n, restNano: 2n, tokensNano: 5n, moved: ['expiry 2', 'grant 2'] },
  { is: 'more held than staked now', postedNano: 9n, restNano: 1n, tokensNano: 5n, moved: ['expiry 1'] },
  { is: 'nothing staked any more', postedNano: 9n, restNano: 9n, tokensNano: 0n, moved: ['expiry 9'] },
  { is: 'more set aside than posted', postedNano: 3n, restNano: 4n, tokensNano: 0n, moved: ['expiry 3'] },
  { is: 'nothing at all', postedNano: 0n, restNano: 0n, tokensNano: 0n, moved: [] },
])('expires what is left and grants up to the stake: $is', ({ moved, ...amounts }) => {
  const { transfers } = set(amounts);
  expect(transfers.map(({ kind, amountNano }) => `${kind} ${amountNano}`)).toEqual(moved);
});

const nano = fc.bigInt({ min: 0n, max: 10n ** 18n });

it('leaves the larger of stake and held amount, with exactly those transfers and one new version', () => {
  fc.assert(
    fc.property(nano, nano, nano, (postedNano, anyNano, tokensNano) => {
      const restNano = anyNano > postedNano ? postedNano : anyNano;
      const held = postedNano - restNano;
      const { transfers, after } = set({ postedNano, restNano, tokensNano });
      expect(after.balances).toEqual({ usdNano: 7n, diemNano: held > tokensNano ? held : tokensNano });
      const moved = transfers.reduce(
        (sum, { kind, amountNano }) => (kind === 'grant' ? sum + amountNano : sum - amountNano),
        postedNano,
      );
      expect(moved).toBe(after.balances.diemNano);
      expect(after.version).toBe(transfers.length > 0 ? 4n : 3n);
      expect(transfers.every(({ reference, amountNano }) => reference === day && amountNano > 0n)).toBe(true);
    }),
  );
});
