import type { UsageHistory } from '@svc/contracts/ports';
import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chargeOf, type LedgerOptions, newAccount, type RunningLedger, startLedger, usd } from './testing.js';

/** Contract of the port `UsageHistory` for end users. */
export function endUsersConformance(
  name: string,
  at: (history: UsageHistory) => UsageHistory,
  start: (options: LedgerOptions) => Promise<RunningLedger> = startLedger,
): void {
  describe(`the end users of ${name}`, () => {
    let test: TestDatabase;
    let running: RunningLedger;
    let history: UsageHistory;

    beforeAll(async () => {
      test = await startTestDatabase();
      running = await start({ url: test.url });
      history = at(running.history);
    });

    afterAll(async () => {
      await running?.stop();
      await test?.stop();
    });

    const accountWith = (usdNano: bigint, diemNano?: bigint): Promise<string> =>
      newAccount(running, usdNano, diemNano);

    const entriesOf = async (accountId: string, endUser?: string) => {
      const filter = endUser === undefined ? { accountId } : { accountId, endUser };
      return (await history.walk(filter, { limit: 100 })).entries;
    };

    const DAYS = { from: '2026-11-20', until: '2026-11-21' };
    const cost = (usdNano: bigint, diemNano = 0n) => ({ cost: { usdNano, diemNano } });

    it('are summed up over days, highest cost first, without what was given back', async () => {
      const accountId = await accountWith(usd(1), usd(1));
      const at = (day: string): string => `${day}T10:00:00.000Z`;
      const charge = (endUser: string, day: string, money: object) =>
        chargeOf(accountId, 0n, { endUser, at: at(day), ...money });
      const wrong = charge('eu_a', '2026-11-21', cost(1_000n));
      await running.poster.post([
        charge('eu_a', '2026-11-20', cost(5n, 1n)),
        charge('eu_a', '2026-11-21', cost(7n)),
        charge('eu_b', '2026-11-21', cost(100n)),
        charge('eu_b', '2026-11-19', cost(100_000n)),
        chargeOf(accountId, 9n, { at: at('2026-11-21') }),
        wrong,
      ]);
      await running.books.refund({
        accountId,
        requestId: wrong.requestId,
        reference: `never charged: ${wrong.requestId}`,
      });
      const tokens = { promptTokens: 10, completionTokens: 20 };
      const a = {
        endUser: 'eu_a',
        requests: 2,
        promptTokens: 20,
        completionTokens: 40,
        usdNano: 12n,
        diemNano: 1n,
      };
      const b = { endUser: 'eu_b', requests: 1, ...tokens, usdNano: 100n, diemNano: 0n };
      expect(await history.users(accountId, DAYS, { limit: 10 })).toEqual([b, a]);
      expect(await history.users(accountId, DAYS, { limit: 1 })).toEqual([b]);
      expect(await history.users(accountId, DAYS, { limit: 10, endUser: 'eu_a' })).toEqual([a]);
      expect(await history.users(await accountWith(usd(1)), DAYS, { limit: 10 })).toEqual([]);
    });

    it('are forgotten alone, while their charges stay', async () => {
      const accountId = await accountWith(usd(1));
      const other = await accountWith(usd(1));
      const at = '2026-11-21T10:00:00.000Z';
      await running.poster.post([
        ...['eu_a', 'eu_a', 'eu_b'].map((endUser) => chargeOf(accountId, 1n, { endUser, at })),
        chargeOf(other, 1n, { endUser: 'eu_a', at }),
      ]);
      const before = await entriesOf(accountId);
      expect(await history.forgetUser(accountId, 'eu_a')).toBe(2);
      expect(await history.forgetUser(accountId, 'eu_a')).toBe(0);
      expect(await entriesOf(accountId, 'eu_a')).toEqual([]);
      expect(await entriesOf(accountId)).toEqual(before);
      expect(await entriesOf(accountId, 'eu_b')).toHaveLength(1);
      const left = await history.users(accountId, DAYS, { limit: 10 });
      expect(left.map(({ endUser }) => endUser)).toEqual(['eu_b']);
      expect(await entriesOf(other, 'eu_a')).toHaveLength(1);
    });

    it('are forgotten or known as a whole, whatever is posted in the meantime', async () => {
      const accountId = await accountWith(usd(1));
      const at = '2026-11-21T10:00:00.000Z';
      const charges = Array.from({ length: 60 }, () => chargeOf(accountId, 1n, { endUser: 'eu_a', at }));
      const posting = charges.map((charge) => running.poster.post([charge]));
      const forgetting = [1, 2, 3].map(() => history.forgetUser(accountId, 'eu_a'));
      await Promise.all([...posting, ...forgetting]);
      const [sum] = await history.users(accountId, DAYS, { limit: 10 });
      const known = new Set((await entriesOf(accountId, 'eu_a')).map(({ requestId }) => requestId));
      expect(sum?.requests ?? 0).toBe(known.size);
      expect(await history.forgetUser(accountId, 'eu_a')).toBe(known.size);
      expect(await history.users(accountId, DAYS, { limit: 10 })).toEqual([]);
      const entries = await entriesOf(accountId);
      expect(new Set(entries.map(({ requestId }) => requestId)).size).toBe(60);
    });
  });
}
