import { randomUUID } from 'node:crypto';
import { type Charge, encodeCharge, givenBack, usageRecorded } from '@svc/contracts/messages';
import { Charges, type Refund } from '@svc/contracts/ports';
import { totalNano } from '@svc/contracts/money';
import { money } from '@svc/telemetry';
import { afterEach, describe, expect, it } from 'vitest';
import { testLedger } from '../../test/test-ledger.js';
import { chargeOf, grantDiem, usd } from '../../test/testing.js';

const running = testLedger();

afterEach(expectSound);

async function expectSound(): Promise<void> {
  for (const scope of ['whole', 'new'] as const)
    await expect(running.books.audit(scope)).resolves.toMatchObject({ ok: true, mismatches: [] });
}

const refused = (code: string, param?: string) =>
  expect.objectContaining({ code, ...(param !== undefined && { param }) });
const balances = (accountId: string) => running.books.balances(accountId);

/** An account with 1 USD and 0.5 DIEM, after a charge. */
async function charged(cost: Charge['cost'], more: Partial<Charge> = {}): Promise<Charge> {
  const accountId = randomUUID();
  await running.books.credit({ accountId, usdNano: usd(1), reference: 'start' });
  await grantDiem(running.database, accountId, usd(0.5));
  const charge = chargeOf(accountId, 0n, { cost, ...more });
  await running.poster.post([charge]);
  return charge;
}

const refundOf = ({ accountId, requestId }: Charge, more: Partial<Refund> = {}): Refund => ({
  accountId,
  requestId,
  reference: 'r',
  ...more,
});

describe('a charge looked up by its request', () => {
  it('has its lines, what was paid for each, and its refunds with their cause', async () => {
    const charge = await charged({ usdNano: 700n, diemNano: 200n }, { writeOffNano: 50n });
    const { requestId, lines } = charge;
    const found = await running.books.charge(requestId);
    const { at, lines: _, ...rest } = charge;
    expect(found).toMatchObject({ ...rest, at: new Date(at), refunds: [] });
    expect(found.lines.map(({ paid: _paid, ...line }) => line)).toEqual(lines);
    const paidNano = found.lines.reduce((sum, { paid }) => sum + totalNano(paid), 0n);
    expect(paidNano).toBe(900n);
    await running.books.refund(refundOf(charge, { amount: { usdNano: 1n, diemNano: 0n } }));
    await expect(running.books.charge(requestId)).resolves.toMatchObject({
      refunds: [{ reference: 'r', amount: { usdNano: 1n, diemNano: 0n }, cause: 'operator' }],
    });
  });

  it('is not found before it is posted', async () => {
    await expect(running.books.charge(randomUUID())).rejects.toMatchObject({
      code: 'CHARGE_NOT_FOUND',
      param: 'requestId',
    });
  });
});

describe('a refund', () => {
  it('returns a whole charge at once, in the currencies it was paid in', async () => {
    const charge = await charged({ usdNano: 700n, diemNano: 200n }, { writeOffNano: 50n });
    const transfers = await running.books.refund(refundOf(charge));
    const shared = {
      id: expect.any(BigInt),
      kind: 'refund',
      debitAccount: 'revenue',
      creditAccount: `customer:${charge.accountId}`,
      reference: 'r',
      at: expect.any(Date),
    };
    expect(transfers).toEqual([
      { ...shared, currency: 'DIEM', amountNano: 200n },
      { ...shared, currency: 'USD', amountNano: 700n },
    ]);
    const whole = { usdNano: usd(1), diemNano: usd(0.5) };
    await expect(balances(charge.accountId)).resolves.toEqual(whole);
    await expect(running.ledger.available(charge.accountId)).resolves.toEqual(whole);
    const history = await running.books.transfers(charge.accountId, { limit: 2 });
    expect(history).toEqual(transfers.toReversed());
  });

  it('returns parts, each under its own reference, until nothing is left', async () => {
    const charge = await charged({ usdNano: 700n, diemNano: 200n });
    const part = { usdNano: 100n, diemNano: 0n };
    await running.books.refund(refundOf(charge, { reference: '1', amount: part }));
    await running.books.refund(refundOf(charge, { reference: '2', amount: { usdNano: 1n, diemNano: 199n } }));
    const rest = await running.books.refund(refundOf(charge, { reference: '3' }));
    expect(rest.map(({ currency, amountNano }) => [currency, amountNano])).toEqual([
      ['DIEM', 1n],
      ['USD', 599n],
    ]);
    await expect(running.books.refund(refundOf(charge, { reference: '4' }))).rejects.toEqual(
      refused('REFUND_TOO_LARGE', 'requestId'),
    );
  });

  it('finds a charge of any month, and one that is recorded but not posted yet', async () => {
    const old = await charged({ usdNano: 5n, diemNano: 0n }, { at: '2024-02-29T12:00:00.000Z' });
    await expect(running.books.refund(refundOf(old))).resolves.toHaveLength(1);
    const recorded = chargeOf(old.accountId, 7n);
    await running.log.publish(usageRecorded, recorded);
    await expect(running.books.refund(refundOf(recorded, { reference: 'now' }))).resolves.toMatchObject([
      { amountNano: 7n },
    ]);
  });

  it('in DIEM expires on an account without a stake', async () => {
    const charge = await charged({ usdNano: 0n, diemNano: 10n });
    await running.database.query('DELETE FROM ledger.stakes WHERE account_id = $1', [charge.accountId]);
    await running.books.refund(refundOf(charge));
    const [stake] = await running.database.query<{ tokens_nano: bigint; is_today: boolean }>(
      `SELECT tokens_nano, granted_on = (now() AT TIME ZONE 'UTC')::date AS is_today
       FROM ledger.stakes WHERE account_id = $1`,
      [charge.accountId],
    );
    expect(stake).toEqual({ tokens_nano: 0n, is_today: true });
  });
});

/** The refunds counted by telemetry, in billionths of either currency. */
const counted = (): Record<string, number> =>
  Object.fromEntries(
    money.refunded.points().map(({ values, value }) => [values[0], Math.round(value * 1e9)]),
  );

describe('a repeated refund reference', () => {
  it('is counted once, however often the refund is requested', async () => {
    const before = counted();
    const charge = await charged({ usdNano: 700n, diemNano: 200n });
    for (let time = 0; time < 3; time += 1) await running.books.refund(refundOf(charge));
    const now = counted();
    expect((now['USD'] ?? 0) - (before['USD'] ?? 0)).toBe(700);
    expect((now['DIEM'] ?? 0) - (before['DIEM'] ?? 0)).toBe(200);
  });

  it('returns the same transfers and refunds once, also when it covered all that was left', async () => {
    const charge = await charged({ usdNano: 700n, diemNano: 200n });
    const part = refundOf(charge, { amount: { usdNano: 100n, diemNano: 20n } });
    const first = await running.books.refund(part);
    const rest = refundOf(charge, { reference: 'rest' });
    const second = await running.books.refund(rest);
    await expect(running.books.refund(part)).resolves.toEqual(first);
    await expect(running.books.refund(rest)).resolves.toEqual(second);
    const repeat = { ...rest, amount: { usdNano: 600n, diemNano: 180n } };
    await expect(running.books.refund(repeat)).resolves.toEqual(second);
    await expect(balances(charge.accountId)).resolves.toEqual({ usdNano: usd(1), diemNano: usd(0.5) });
  });

  it.each<[string, Partial<Refund>]>([
    ['more', { amount: { usdNano: 101n, diemNano: 0n } }],
    ['another currency', { amount: { usdNano: 0n, diemNano: 100n } }],
    ['all that is left, after a part', {}],
  ])('is rejected with %s', async (_name, more) => {
    const charge = await charged({ usdNano: 700n, diemNano: 200n });
    await running.books.refund(refundOf(charge, { amount: { usdNano: 100n, diemNano: 0n } }));
    await expect(running.books.refund(refundOf(charge, more))).rejects.toEqual(
      refused('REFERENCE_REUSED', 'reference'),
    );
  });

  it('is rejected for another request, and accepted for another account', async () => {
    const charge = await charged({ usdNano: 700n, diemNano: 0n });
    const other = chargeOf(charge.accountId, 700n);
    await running.poster.post([other]);
    await running.books.refund(refundOf(charge));
    await expect(running.books.refund(refundOf(other))).rejects.toEqual(
      refused('REFERENCE_REUSED', 'reference'),
    );
    const elsewhere = await charged({ usdNano: 1n, diemNano: 0n });
    await expect(running.books.refund(refundOf(elsewhere))).resolves.toHaveLength(1);
  });

  it('may equal the reference of a credit', async () => {
    const charge = await charged({ usdNano: 7n, diemNano: 0n });
    await expect(running.books.refund(refundOf(charge, { reference: 'start' }))).resolves.toHaveLength(1);
  });
});

describe('a refund is rejected', () => {
  it('for a request that was not charged, or belongs to another account', async () => {
    const charge = await charged({ usdNano: 7n, diemNano: 0n });
    const notFound = refused('CHARGE_NOT_FOUND', 'requestId');
    await expect(running.books.refund(refundOf(charge, { requestId: 'none' }))).rejects.toEqual(notFound);
    const stranger = await charged({ usdNano: 7n, diemNano: 0n });
    const stolen = refundOf(charge, { accountId: stranger.accountId });
    await expect(running.books.refund(stolen)).rejects.toEqual(notFound);
  });

  it.each([
    ['usd', { usdNano: 701n, diemNano: 0n }],
    ['diem', { usdNano: 0n, diemNano: 201n }],
  ])('for more %s than was paid in that currency, even if the total was higher', async (param, amount) => {
    const charge = await charged({ usdNano: 700n, diemNano: 200n });
    await expect(running.books.refund(refundOf(charge, { amount }))).rejects.toEqual(
      refused('REFUND_TOO_LARGE', param),
    );
  });

  it('for a charge that was written off or cost nothing', async () => {
    const written = await charged({ usdNano: 0n, diemNano: 0n }, { writeOffNano: 9n });
    const tooLarge = refused('REFUND_TOO_LARGE');
    await expect(running.books.refund(refundOf(written))).rejects.toEqual(tooLarge);
    const free = await charged({ usdNano: 0n, diemNano: 0n });
    await expect(running.books.refund(refundOf(free))).rejects.toEqual(tooLarge);
  });

  it('if the balance would be too large for the books', async () => {
    const charge = await charged({ usdNano: 700n, diemNano: 0n });
    const usdNano = 2n ** 63n - 1n - usd(1) + 700n;
    await running.books.credit({ accountId: charge.accountId, usdNano, reference: 'most' });
    await expect(running.books.refund(refundOf(charge))).rejects.toEqual(refused('INVALID_REQUEST'));
  });
});

describe('parallel refunds', () => {
  it('never return more than the charge, however many there are', async () => {
    const charge = await charged({ usdNano: 1_000n, diemNano: 100n });
    const amount = { usdNano: 90n, diemNano: 9n };
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) =>
        running.books.refund(refundOf(charge, { reference: String(index), amount })),
      ),
    );
    const made = results.filter((result) => result.status === 'fulfilled');
    expect(made).toHaveLength(11);
    const reasons = results.filter((result) => result.status === 'rejected');
    expect(reasons.map(({ reason }) => reason as unknown)).toEqual(
      Array.from({ length: 9 }, () => refused('REFUND_TOO_LARGE', 'usd')),
    );
    const now = await balances(charge.accountId);
    expect(totalNano(now)).toBe(usd(1.5) - 1_100n + 11n * 99n);
  });

  it('happen once for one reference', async () => {
    const charge = await charged({ usdNano: 1_000n, diemNano: 0n });
    const all = await Promise.all(Array.from({ length: 20 }, () => running.books.refund(refundOf(charge))));
    expect(new Set(all.map(([transfer]) => transfer?.id)).size).toBe(1);
    await expect(balances(charge.accountId)).resolves.toMatchObject({ usdNano: usd(1) });
  });
});

describe('a request whose cost is given back', () => {
  const recorded = (charge: Charge, isGivenBack = false) =>
    running.log.publish(usageRecorded, isGivenBack ? givenBack(charge) : charge);
  const funded = async (): Promise<string> => {
    const accountId = randomUUID();
    await running.books.credit({ accountId, usdNano: usd(1), reference: 'start' });
    return accountId;
  };

  it.each([
    ['before its charge', ['back', 'charge']],
    ['after its charge', ['charge', 'back']],
    ['twice, around its charge', ['back', 'charge', 'back']],
    ['twice, after its charge, which arrives twice', ['charge', 'charge', 'back', 'back']],
  ] as const)('costs nothing if the events arrive %s', async (_when, events) => {
    const accountId = await funded();
    const charge = chargeOf(accountId, 100n);
    for (const event of events) await recorded(charge, event === 'back');
    // A read waits for the events before it.
    await expect(balances(accountId)).resolves.toMatchObject({ usdNano: usd(1) });
    await expect(running.books.audit('whole')).resolves.toMatchObject({ mismatches: [] });
  });

  it('leaves an event, so that a restore gives it back again', async () => {
    const accountId = await funded();
    const charge = chargeOf(accountId, 100n);
    await running.poster.post([charge]);
    const charges = running.app.get(Charges, { strict: false });
    for (let time = 0; time < 2; time += 1) await charges.giveBack(charge);
    await expect(balances(accountId)).resolves.toMatchObject({ usdNano: usd(1) });
    const events = await running.database.query<{ payload: string }>(
      `SELECT payload FROM events.outbox WHERE key = $1
       UNION ALL SELECT payload::text FROM events.log WHERE key = $1`,
      [accountId],
    );
    expect(events.map(({ payload }) => JSON.parse(payload) as unknown)).toContainEqual(
      JSON.parse(JSON.stringify(encodeCharge(givenBack(charge)))),
    );
  });
});

describe('charges of refused requests that were refunded', () => {
  const chargeAt = (accountId: string, at: string): Charge =>
    chargeOf(accountId, 0n, { at, keyId: 'k', cost: { usdNano: 30n, diemNano: 20n } });

  it('do not appear in usage: neither in entries nor in sums by day and key', async () => {
    const { accountId, requestId } = await charged(
      { usdNano: 30n, diemNano: 20n },
      { at: '2026-01-20T10:00:00.000Z', keyId: 'k' },
    );
    const taken = [
      chargeAt(accountId, '2026-01-20T11:00:00.000Z'),
      chargeAt(accountId, '2026-01-21T10:00:00.000Z'),
    ];
    await running.poster.post(taken);
    const charges = running.app.get(Charges, { strict: false });
    for (const charge of taken) await charges.giveBack(charge);

    const { history } = running;
    const wanted = { limit: 10, page: 1, order: 'asc' } as const;
    const { entries, total } = await history.page({ accountId }, wanted);
    expect(entries.map((entry) => [entry.requestId, entry.currency])).toEqual([
      [requestId, 'DIEM'],
      [requestId, 'USD'],
    ]);
    expect(total).toBe(2);
    expect((await history.walk({ accountId }, { limit: 10 })).entries).toEqual(entries);
    const [from, until] = [new Date('2026-01-20T10:30:00Z'), new Date('2026-01-21T12:00:00Z')];
    expect(await history.page({ accountId, from, until }, wanted)).toEqual({ entries: [], total: 0 });
    const spent = { usdNano: 30n, diemNano: 20n };
    expect(await history.days(accountId, '2026-01-01', '2026-01-31')).toEqual([
      expect.objectContaining({ day: '2026-01-20', units: 20n, ...spent }),
    ]);
    expect(await history.keys(accountId, ['k'])).toEqual([expect.objectContaining({ lifetime: spent })]);
  });
});
