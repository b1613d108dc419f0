import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { testLedger } from '../../test/test-ledger.js';
import { chargeOf, newAccount, usd } from '../../test/testing.js';
import { HoldReadsStore } from './hold-reads.store.js';

const running = testLedger();

const HOUR = '2026-11-21T10';
const KEY = randomUUID();
const spent = (usdNano: bigint, diemNano = 0n) => ({ usdNano, diemNano });

it.each([
  ['a key', KEY],
  ['an end user', 'eu_a'],
])(
  '%s has what was charged in the hour, without what was given back, if that is asked for',
  async (_, id) => {
    const accountId = await newAccount(running, usd(1), usd(1));
    const charge = (at: string, usdNano: bigint, diemNano = 0n) =>
      chargeOf(accountId, 0n, { at, keyId: KEY, endUser: 'eu_a', cost: { usdNano, diemNano } });
    const wrong = charge(`${HOUR}:30:00.000Z`, 1_000n);
    await running.poster.post([
      charge('2026-11-21T09:59:59.999Z', 100n),
      charge(`${HOUR}:00:00.000Z`, 1n, 10n),
      charge(`${HOUR}:59:59.999Z`, 2n, 20n),
      charge('2026-11-21T11:00:00.000Z', 200n),
      chargeOf(accountId, 0n, { at: `${HOUR}:30:00.000Z`, keyId: 'other', endUser: 'eu_b', cost: spent(5n) }),
      wrong,
    ]);
    await running.books.refund({
      accountId,
      requestId: wrong.requestId,
      reference: `never charged: ${wrong.requestId}`,
    });
    const reads = new HoldReadsStore(running.database);
    const read = await reads.spentOf(accountId, { id, isHourly: true }, HOUR);
    expect(read).toMatchObject({ readIn: HOUR, hour: spent(3n, 30n), epoch: spent(303n, 30n) });
    const { hour: _hour, ...rest } = read;
    expect(await reads.spentOf(accountId, { id, isHourly: false }, HOUR)).toEqual(rest);
    expect(await reads.spentOf(accountId, { id, isHourly: true }, '2026-11-22T10')).toMatchObject({
      hour: spent(0n),
      epoch: spent(0n),
      month: spent(303n, 30n),
    });
  },
);
