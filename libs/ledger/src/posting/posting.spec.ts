import { describe, expect, it } from 'vitest';
import type { Charge } from '@svc/contracts/messages';
import { NO_MONEY, totalNano } from '@svc/contracts/money';
import { chargeFault } from './charge-fault.js';
import { postingOf } from './posting.js';
import { chargeOf } from '../../test/testing.js';

const ACCOUNT = '00000000-0000-4000-8000-000000000001';

const accountWith = (usdNano: bigint, diemNano: bigint) =>
  new Map([[ACCOUNT, { accountId: ACCOUNT, balances: { usdNano, diemNano }, version: 4n }]]);

const charge = (usdNano: bigint, diemNano = 0n, writeOffNano = 0n): Charge =>
  chargeOf(ACCOUNT, usdNano, { cost: { usdNano, diemNano }, writeOffNano });

const moves = (posting: ReturnType<typeof postingOf>) =>
  posting.transfers.map((transfer) => [
    transfer.debitAccount,
    transfer.creditAccount,
    transfer.currency,
    transfer.amountNano,
    transfer.kind,
  ]);

describe('postingOf', () => {
  it('moves what a customer pays to revenue, by currency', () => {
    const posting = postingOf([charge(7n, 3n)], accountWith(10n, 3n));
    expect(moves(posting)).toEqual([
      [`customer:${ACCOUNT}`, 'revenue', 'DIEM', 3n, 'charge'],
      [`customer:${ACCOUNT}`, 'revenue', 'USD', 7n, 'charge'],
    ]);
    expect(posting.accounts).toEqual([
      { accountId: ACCOUNT, balances: { usdNano: 3n, diemNano: 0n }, version: 5n },
    ]);
  });

  it('moves a write-off from the write-off account to revenue', () => {
    const posting = postingOf([charge(7n, 0n, 2n)], accountWith(10n, 0n));
    expect(moves(posting)).toEqual([
      [`customer:${ACCOUNT}`, 'revenue', 'USD', 7n, 'charge'],
      ['write_offs', 'revenue', 'USD', 2n, 'write_off'],
    ]);
  });

  it('pays in the other currency what is missing in one, and writes off only what is missing in both', () => {
    const amounts = [0n, 1n, 2n, 5n];
    const quadruples = amounts.flatMap((usdNano) =>
      amounts.flatMap((diemNano) =>
        amounts.flatMap((usdLeft) => amounts.map((diemLeft) => ({ usdNano, diemNano, usdLeft, diemLeft }))),
      ),
    );
    for (const { usdNano, diemNano, usdLeft, diemLeft } of quadruples) {
      const { charges, accounts } = postingOf([charge(usdNano, diemNano)], accountWith(usdLeft, diemLeft));
      const { cost = NO_MONEY, writeOffNano } = charges[0] ?? {};
      const [total, left] = [usdNano + diemNano, usdLeft + diemLeft];
      expect(totalNano(cost)).toBe(total < left ? total : left);
      expect(writeOffNano).toBe(total - totalNano(cost));
      // Each currency pays its own part first.
      expect(cost.usdNano >= (usdNano < usdLeft ? usdNano : usdLeft)).toBe(true);
      expect(cost.diemNano >= (diemNano < diemLeft ? diemNano : diemLeft)).toBe(true);
      const after = { usdNano: usdLeft - cost.usdNano, diemNano: diemLeft - cost.diemNano };
      expect(accounts[0]?.balances).toEqual(after);
      expect([after.usdNano, after.diemNano].filter((nano) => nano < 0n)).toEqual([]);
    }
  });

  it('writes off what exceeds both balances', () => {
    const posting = postingOf([charge(7n, 3n)], accountWith(5n, 1n));
    expect(posting.charges[0]).toMatchObject({ cost: { usdNano: 5n, diemNano: 1n }, writeOffNano: 4n });
    expect(posting.clamped).toEqual({ charges: 1, nano: 4n });
    expect(posting.accounts[0]?.balances).toEqual({ usdNano: 0n, diemNano: 0n });
  });

  it('applies the charges of a batch in order, with one new version per account', () => {
    const posting = postingOf([charge(6n), charge(6n), charge(0n)], accountWith(10n, 0n));
    expect(posting.charges.map(({ cost, writeOffNano }) => [cost.usdNano, writeOffNano])).toEqual([
      [6n, 0n],
      [4n, 2n],
      [0n, 0n],
    ]);
    expect(posting.accounts[0]?.version).toBe(5n);
  });

  it('makes no transfer of zero', () => {
    expect(postingOf([charge(0n)], accountWith(10n, 0n)).transfers).toEqual([]);
  });
});

describe('chargeFault', () => {
  const sound = charge(7n, 3n, 1n);

  it('finds no fault in a sound charge', () => {
    expect(chargeFault(sound)).toBeUndefined();
  });

  it.each<[string, Partial<Charge>]>([
    ['an account that is not a UUID', { accountId: 'a' }],
    ['lines that do not sum to the cost', { writeOffNano: 0n }],
    ['a negative amount', { cost: { usdNano: 14n, diemNano: -4n } }],
    ['a zero character', { model: 'a\0b' }],
    ['a request id too long for an index', { requestId: 'r'.repeat(3_000) }],
    ['no time', { at: '2026-13-01T00:00:00Z' }],
    ['a time of another century', { at: '2126-01-01T00:00:00Z' }],
    [
      'an amount beyond 64 bits',
      {
        cost: { usdNano: 2n ** 63n, diemNano: 0n },
        writeOffNano: 0n,
        lines: [{ sku: 's', unit: 'token', units: 1, priceNanoPerMillion: 1n, amountNano: 2n ** 63n }],
      },
    ],
    [
      'a negative line',
      {
        lines: [
          { sku: 's', unit: 'token', units: 1, priceNanoPerMillion: 1n, amountNano: -1n },
          { sku: 's', unit: 'token', units: 1, priceNanoPerMillion: 1n, amountNano: 12n },
        ],
      },
    ],
  ])('finds %s', (_name, change) => {
    expect(chargeFault({ ...sound, ...change })).toEqual(expect.any(String));
  });
});
