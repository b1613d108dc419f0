import { randomUUID } from 'node:crypto';
import type { AccountEvent } from '@svc/contracts/messages';
import type { Alert } from '@svc/contracts/ports';
import { expect, it } from 'vitest';
import { testLedger } from '../../test/test-ledger.js';
import { chargeOf, usd } from '../../test/testing.js';

const running = testLedger();
const KEY = randomUUID();
const ALICE = 'eu_alice';

const low = (amount: number, currency: 'USD' | 'DIEM' = 'USD'): Alert => ({
  type: 'balance.low',
  currency,
  amountNano: usd(amount),
});
const spent = (amount: number, period: 'EPOCH' | 'WEEK' | 'MONTH' | 'LIFETIME'): Alert => ({
  type: 'key.spend_threshold',
  keyId: KEY,
  period,
  currency: 'USD',
  amountNano: usd(amount),
});

const spentBy = (endUser: string, amount: number, period: 'EPOCH' | 'MONTH'): Alert => ({
  type: 'end_user.spend_threshold',
  endUser,
  period,
  currency: 'USD',
  amountNano: usd(amount),
});

/** The events of an account in the outbox, which nobody empties here, or in the log. */
async function eventsOf(accountId: string): Promise<Pick<AccountEvent, 'type' | 'data'>[]> {
  const rows = await running.database.query<{ payload: string }>(
    `SELECT payload FROM (
       SELECT id, payload, key, topic FROM events.outbox UNION ALL SELECT id, payload, key, topic FROM events.log
     ) AS event WHERE topic = 'account.event.v1' AND key = $1 ORDER BY id`,
    [accountId],
  );
  const events = rows.map(({ payload }) => JSON.parse(payload) as AccountEvent);
  return [...new Map(events.map(({ id, type, data }) => [id, { type, data }])).values()];
}

const credit = (accountId: string, amount: number) =>
  running.books.credit({ accountId, usdNano: usd(amount), reference: randomUUID() });
const charge = (accountId: string, amount: number, at = new Date().toISOString()) =>
  running.poster.post([{ ...chargeOf(accountId, usd(amount)), keyId: KEY, at }]);
const amountsIn = async (accountId: string) => (await eventsOf(accountId)).map(({ data }) => data['amount']);

it('keeps the alerts of an account in their order, and replaces all of them', async () => {
  const accountId = randomUUID();
  const alerts = [spent(3, 'WEEK'), low(5), spentBy(ALICE, 2, 'MONTH'), low(1, 'DIEM')];
  await running.books.setAlerts(accountId, alerts);
  expect(await running.books.alerts(accountId)).toEqual(alerts);
  await running.books.setAlerts(accountId, []);
  expect(await running.books.alerts(accountId)).toEqual([]);
});

it('notifies once that a balance is low, and again after a credit', async () => {
  const accountId = randomUUID();
  await credit(accountId, 10);
  await running.books.setAlerts(accountId, [low(5), low(1)]);
  await charge(accountId, 5);
  expect(await eventsOf(accountId)).toEqual([]);
  await charge(accountId, 1);
  await charge(accountId, 1);
  const first = { type: 'balance.low', data: { currency: 'USD', amount: 5, balance: 4 } };
  expect(await eventsOf(accountId)).toEqual([first]);
  await credit(accountId, 2);
  await charge(accountId, 4.5);
  expect(new Set(await amountsIn(accountId))).toEqual(new Set([1, 5]));
  expect(await amountsIn(accountId)).toHaveLength(3);
});

it('does not notify of what was so before the alert was set', async () => {
  const accountId = randomUUID();
  await credit(accountId, 10);
  await charge(accountId, 4);
  await running.books.setAlerts(accountId, [low(8), spent(3, 'EPOCH'), spent(5, 'EPOCH')]);
  await charge(accountId, 1);
  expect(await amountsIn(accountId)).toEqual([5]);
});

it('notifies of DIEM once a stake has given enough of it', async () => {
  const accountId = randomUUID();
  await running.books.setAlerts(accountId, [low(3, 'DIEM')]);
  await running.books.setStake(accountId, usd(4));
  const cost = { usdNano: 0n, diemNano: usd(2) };
  await running.poster.post([chargeOf(accountId, 0n, { cost })]);
  expect(await eventsOf(accountId)).toEqual([
    { type: 'balance.low', data: { currency: 'DIEM', amount: 3, balance: 2 } },
  ]);
});

it('notifies once in each period of what a key has spent, also of charges that arrive late', async () => {
  const accountId = randomUUID();
  await credit(accountId, 100);
  await running.books.setAlerts(accountId, [spent(2, 'EPOCH'), spent(5, 'MONTH'), spent(7, 'LIFETIME')]);
  const monday = '2031-03-03T10:00:00.000Z';
  const tuesday = '2031-03-04T00:00:00.000Z';
  await charge(accountId, 1.5, monday);
  expect(await eventsOf(accountId)).toEqual([]);
  await charge(accountId, 1.5, monday);
  await charge(accountId, 1, monday);
  const day = { key_id: KEY, period: 'EPOCH', currency: 'USD', amount: 2, spent: 3 };
  expect(await eventsOf(accountId)).toEqual([{ type: 'key.spend_threshold', data: day }]);
  await charge(accountId, 2, tuesday);
  await charge(accountId, 2, monday);
  expect(new Set(await amountsIn(accountId))).toEqual(new Set([2, 5, 7]));
  expect(await amountsIn(accountId)).toHaveLength(4);
});

it('notifies once in each period of what an end user has spent, and of no other user', async () => {
  const accountId = randomUUID();
  await credit(accountId, 100);
  await running.books.setAlerts(accountId, [spentBy(ALICE, 2, 'EPOCH'), spentBy('eu_bob', 9, 'EPOCH')]);
  const post = (endUser: string | undefined, amount: number, at: string) =>
    running.poster.post([
      { ...chargeOf(accountId, usd(amount)), keyId: KEY, at, ...(endUser && { endUser }) },
    ]);
  const monday = '2031-03-03T10:00:00.000Z';
  await post(ALICE, 1.5, monday);
  await post('eu_bob', 1.5, monday);
  await post(undefined, 5, monday);
  expect(await eventsOf(accountId)).toEqual([]);
  await post(ALICE, 1.5, monday);
  await post(ALICE, 1, monday);
  const day = { end_user: ALICE, period: 'EPOCH', currency: 'USD', amount: 2, spent: 3 };
  expect(await eventsOf(accountId)).toEqual([{ type: 'end_user.spend_threshold', data: day }]);
  await post(ALICE, 2, '2031-03-04T00:00:00.000Z');
  expect(await amountsIn(accountId)).toEqual([2, 2]);
});

it('notifies of each of a hundred amounts exactly once under concurrent charges, and again after a credit', async () => {
  const accountId = randomUUID();
  await credit(accountId, 100);
  const alerts = Array.from({ length: 100 }, (_, index) => {
    const amount = (index + 1) / 2;
    return [low(amount), spent(amount, 'MONTH'), spentBy(ALICE, amount, 'MONTH')][index % 3] ?? low(amount);
  });
  await running.books.setAlerts(accountId, alerts);
  const at = new Date().toISOString();
  const charges = Array.from({ length: 300 }, () => ({
    ...chargeOf(accountId, usd(1 / 3)),
    keyId: KEY,
    endUser: ALICE,
    at,
  }));
  // Every charge arrives twice, in batches of two sizes that are posted at the same time.
  const batches = [7, 12]
    .flatMap((size) => Array.from({ length: Math.ceil(300 / size) }, (_, index) => ({ size, index })))
    .toSorted((a, b) => a.index * a.size - b.index * b.size)
    .map(({ size, index }) => charges.slice(index * size, (index + 1) * size));
  const posters = Array.from({ length: 6 }, async () => {
    for (let batch = batches.shift(); batch; batch = batches.shift()) await running.poster.post(batch);
  });
  await Promise.all(posters);
  const wanted = alerts.map(({ type, amountNano }) => `${type} ${Number(amountNano) / 1e9}`).toSorted();
  const named = async () =>
    (await eventsOf(accountId)).map(({ type, data }) => `${type} ${data['amount']}`).toSorted();
  expect(await named()).toEqual(wanted);
  await credit(accountId, 100);
  expect(await named()).toEqual(wanted);
  await charge(accountId, 90);
  const again = alerts.filter(({ type, amountNano }) => type === 'balance.low' && amountNano > usd(10));
  expect(await named()).toHaveLength(wanted.length + again.length);
  await expect(running.books.audit('whole')).resolves.toMatchObject({ ok: true });
});

it('notifies of deposits, of their reversals and of refunds', async () => {
  const accountId = randomUUID();
  const deposit = { accountId, reference: 'p1', rail: 'base' };
  await running.books.credit({ ...deposit, usdNano: usd(2) });
  await running.books.credit({ ...deposit, usdNano: usd(2) });
  const paid = chargeOf(accountId, usd(1));
  await running.poster.post([paid]);
  await running.books.refund({ accountId, requestId: paid.requestId, reference: 'sorry' });
  await running.books.reverse(deposit);
  expect(await eventsOf(accountId)).toEqual([
    { type: 'payment.settled', data: { reference: 'p1', usd: 2 } },
    { type: 'refund.created', data: { request_id: paid.requestId, usd: 1, diem: 0 } },
    { type: 'payment.reversed', data: { reference: 'p1', usd: 2 } },
  ]);
});
