import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { testLedger } from '../../test/test-ledger.js';
import { chargeOf, usd } from '../../test/testing.js';

const running = testLedger();

describe('the balances of many accounts', () => {
  it('are in the order of their ids, zero for an account without transfers', async () => {
    const ids = Array.from({ length: 3 }, () => randomUUID());
    const [first = '', , last = ''] = ids;
    await running.books.credit({ accountId: first, usdNano: usd(1), reference: 'r' });
    await running.books.credit({ accountId: last, usdNano: usd(3), reference: 'r' });
    const balances = await running.accounting.balances(ids);
    expect(balances.map(({ accountId, usdNano }) => [accountId, usdNano])).toEqual([
      [ids[0], usd(1)],
      [ids[1], 0n],
      [ids[2], usd(3)],
    ]);
    await expect(running.accounting.balances([])).resolves.toEqual([]);
  });
});

describe('the top spenders', () => {
  it('are ordered by what they spent on the given days, less refunds', async () => {
    const today = new Date().toISOString().slice(0, 10);
    const spent = async (amount: number, at = new Date().toISOString()): Promise<string> => {
      const accountId = randomUUID();
      await running.books.credit({ accountId, usdNano: usd(100), reference: 'r' });
      await running.poster.post([
        chargeOf(accountId, usd(amount), { at, requestId: `chatcmpl-${accountId}` }),
      ]);
      return accountId;
    };
    const little = await spent(1);
    const refunded = await spent(9);
    const most = await spent(5);
    await spent(50, '2026-02-15T00:00:00.000Z');
    await running.books.refund({
      accountId: refunded,
      requestId: `chatcmpl-${refunded}`,
      reference: 'sorry',
    });
    const list = await running.accounting.spenders({ from: today, until: today, limit: 10 });
    expect(list.map(({ accountId }) => accountId)).toEqual([most, little, refunded]);
    expect(list[2]).toMatchObject({
      charged: { usdNano: usd(9) },
      refunded: { usdNano: usd(9) },
      tokens: 20n,
    });
    await expect(running.accounting.spenders({ from: today, until: today, limit: 1 })).resolves.toHaveLength(
      1,
    );
    expect(list.map(({ requests }) => requests)).toEqual([1n, 1n, 1n]);
    await expect(
      running.accounting.spenders({ from: '2020-01-01', until: '2020-01-02', limit: 1 }),
    ).resolves.toEqual([]);
  });

  it('are also those with the most tokens or requests, or accounts of choice in their order', async () => {
    const today = new Date().toISOString().slice(0, 10);
    const period = { from: today, until: today, limit: 2 };
    const made = async (requests: number, tokens: number): Promise<string> => {
      const accountId = randomUUID();
      await running.books.credit({ accountId, usdNano: usd(100), reference: 'r' });
      await running.poster.post(
        Array.from({ length: requests }, (_, index) => {
          const charge = chargeOf(accountId, usd(1), { requestId: `chatcmpl-${accountId}-${index}` });
          return { ...charge, lines: charge.lines.map((line) => ({ ...line, units: tokens })) };
        }),
      );
      return accountId;
    };
    const most = await made(30, 20);
    const fewer = await made(20, 20);
    const wordy = await made(1, 1_000_000);
    const byRequests = await running.accounting.spenders({ ...period, by: 'requests' });
    expect(byRequests).toMatchObject([
      { accountId: most, requests: 30n },
      { accountId: fewer, requests: 20n },
    ]);
    const [byTokens] = await running.accounting.spenders({ ...period, by: 'tokens' });
    expect(byTokens?.accountId).toBe(wordy);
    const unknown = randomUUID();
    const chosen = await running.accounting.spenders({ ...period, accountIds: [unknown, fewer, wordy] });
    expect(chosen).toMatchObject([
      { accountId: unknown, requests: 0n, tokens: 0n },
      { accountId: fewer, requests: 20n },
      { accountId: wordy, requests: 1n },
    ]);
  });
});
