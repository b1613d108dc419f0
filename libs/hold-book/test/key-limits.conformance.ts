import { setTimeout as sleep } from 'node:timers/promises';
import type { Balances } from '@svc/contracts/money';
import { Problem } from '@svc/contracts/problems';
import type { SpendingLimit } from '@svc/contracts/ports';
import { beforeEach, describe, expect, it } from 'vitest';
import { MAX_USERS } from '../src/hold-accounts.js';
import type { KeySpent } from '../src/key-budget.js';
import { type HoldBookSubject, readsOf } from './hold-book-subject.js';
import type { HoldBook, KeySpending, PostedBalances } from '../src/hold-book.js';

/** Contract of every hold book for key limits, preferred amounts and resetting DIEM. */
export function keyLimitsConformance(subject: HoldBookSubject): void {
  const ACCOUNT = 'a';
  const refused = (code: ConstructorParameters<typeof Problem>[0]) => expect.objectContaining({ code });

  /** The books, as far as a hold book reads them. */
  let posted: PostedBalances;
  let spent: KeySpent;
  let today: string;
  let keyReads: number;
  /** Runs between a read and its arrival. */
  let beforeArrival: () => Promise<void>;

  const NONE: Balances = { usdNano: 0n, diemNano: 0n };

  beforeEach(() => {
    posted = { accountId: ACCOUNT, balances: { usdNano: 1_000n, diemNano: 100n }, version: 7n };
    spent = { version: 7n, day: '2026-11-21', epoch: NONE, week: NONE, month: NONE, lifetime: NONE };
    today = '2026-11-21';
    keyReads = 0;
    beforeArrival = () => Promise.resolve();
  });

  function createBook(): HoldBook {
    const reads = readsOf(
      () => Promise.resolve(posted),
      async (_accountId, _keyId, day) => {
        keyReads += 1;
        const read = day === spent.day ? spent : { ...spent, day, epoch: NONE };
        await beforeArrival();
        return read;
      },
    );
    return subject.make(reads, {
      leaseMs: 60_000,
      maxHolds: 100,
      today: () => today,
    });
  }

  let requests = 0;
  const requestOf = (amountNano: bigint, keyId = 'k') => ({
    requestId: `r${(requests += 1)}`,
    accountId: ACCOUNT,
    keyId,
    amountNano,
  });

  /** Posts a charge of the key to the books. */
  function charge(spending: Partial<KeySpending>, requestIds: readonly string[] = []) {
    const spends = [{ keyId: 'k', day: today, ...NONE, ...spending }];
    const { usdNano, diemNano } = posted.balances;
    posted = {
      ...posted,
      balances: {
        usdNano: usdNano - (spending.usdNano ?? 0n),
        diemNano: diemNano - (spending.diemNano ?? 0n),
      },
      version: posted.version + 1n,
    };
    return [{ ...posted, requestIds, spends }];
  }

  const usdLimit = (usdNano: bigint, period: SpendingLimit['period'] = 'EPOCH'): SpendingLimit => ({
    period,
    usdNano,
    diemNano: 0n,
  });

  const OF_KEY = {
    whose: 'a key',
    usd: 'API_KEY_USD_SPEND_LIMIT_EXCEEDED',
    diem: 'API_KEY_DIEM_SPEND_LIMIT_EXCEEDED',
    limited: (keyId: string, keyLimit: SpendingLimit) => ({ keyId, keyLimit }),
  } as const;
  const OF_USER = {
    whose: 'an end user',
    usd: 'END_USER_SPEND_LIMIT_EXCEEDED',
    diem: 'END_USER_SPEND_LIMIT_EXCEEDED',
    limited: (endUser: string, limit: SpendingLimit) => ({ keyId: 'any', userLimit: { endUser, ...limit } }),
  } as const;

  describe.each([OF_KEY, OF_USER])('the limit of $whose', ({ usd, diem: ofDiem, limited }) => {
    const request = (amountNano: bigint, limit?: SpendingLimit, id = 'k') => ({
      ...requestOf(amountNano),
      ...(limit && limited(id, limit)),
    });

    it('refuses provisionally only while a request of the key may give back what it took', async () => {
      const book = createBook();
      const code = usd;
      const [mine, other] = [usdLimit(10n), usdLimit(100n)];
      const settled = await book.hold(request(10n, mine));
      await expect(book.hold(request(1n, mine))).rejects.toMatchObject({ code, isProvisional: true });
      await book.settle(settled, settled.amount);
      await book.hold(request(100n, other, 'other'));
      await expect(book.hold(request(1n, other, 'other'))).rejects.toMatchObject({
        code,
        isProvisional: true,
      });
      await expect(book.hold(request(1n, usdLimit(0n), 'third'))).rejects.toMatchObject({
        code,
        isProvisional: false,
      });
    });

    it("counts what its own requests hold, to the nano-dollar, and no other key's", async () => {
      const book = createBook();
      await book.hold(request(60n, usdLimit(100n)));
      await book.hold(request(40n, usdLimit(100n)));
      await expect(book.hold(request(1n, usdLimit(100n)))).rejects.toEqual(refused(usd));
      expect(await book.hold(request(900n))).toBeDefined();
      expect(await book.hold(request(50n, usdLimit(100n), 'other'))).toBeDefined();
    });

    it('uses USD once its DIEM is spent, and names DIEM if DIEM is all it may spend', async () => {
      const book = createBook();
      const diem: SpendingLimit = { period: 'EPOCH', diemNano: 30n };
      const hold = await book.hold(request(50n, diem));
      expect(hold.amount).toEqual({ diemNano: 30n, usdNano: 20n });
      posted = { ...posted, balances: { usdNano: 0n, diemNano: 100n } };
      await expect(createBook().hold(request(31n, diem))).rejects.toEqual(refused(ofDiem));
    });

    it('reports an insufficient balance if the account itself is short', async () => {
      await expect(createBook().hold(request(5_000n, usdLimit(100n)))).rejects.toEqual(
        refused('INSUFFICIENT_BALANCE'),
      );
    });

    it('holds what is left of it if that is enough, and no more for an extension', async () => {
      const book = createBook();
      const hold = await book.hold({ ...request(500n, usdLimit(100n)), atLeastNano: 1n });
      expect(hold.amount.usdNano).toBe(100n);
      await expect(book.extend(hold, { moreNano: 1n })).rejects.toEqual(refused(usd));
    });

    it('reads earlier spending once', async () => {
      spent = { ...spent, epoch: { usdNano: 90n, diemNano: 0n } };
      const book = createBook();
      await Promise.all([1, 2].map(async () => book.hold(request(5n, usdLimit(100n)))));
      await expect(book.hold(request(1n, usdLimit(100n)))).rejects.toEqual(refused(usd));
      expect(keyReads).toBe(1);
    });

    it('counts a charge once, either as held or as posted', async () => {
      const book = createBook();
      const hold = await book.hold(request(60n, usdLimit(100n)));
      await book.settle(hold, { usdNano: 50n, diemNano: 0n });
      await book.post(charge({ usdNano: 50n }, [hold.requestId]));
      expect(await book.hold(request(50n, usdLimit(100n)))).toBeDefined();
      await expect(book.hold(request(1n, usdLimit(100n)))).rejects.toBeDefined();
    });

    it('counts what is posted while its spending is read, once', async () => {
      const book = createBook();
      await book.hold(request(1n));
      beforeArrival = async () => {
        if (keyReads > 1) return;
        await book.post(charge({ usdNano: 80n }));
        spent = { ...spent, version: 8n, epoch: { usdNano: 80n, diemNano: 0n } };
      };
      await expect(book.hold(request(21n, usdLimit(100n)))).rejects.toBeDefined();
      expect(await book.hold(request(20n, usdLimit(100n)))).toBeDefined();
      expect(keyReads).toBe(2);
    });

    it('counts each posting once, in any order, without another read', async () => {
      const book = createBook();
      await book.hold(request(1n, usdLimit(100n)));
      const [first, second, third] = [10n, 20n, 30n].map((usdNano) => charge({ usdNano }));
      for (const posting of [third, first, third, second, first, second]) await book.post(posting ?? []);
      await expect(book.hold(request(40n, usdLimit(100n)))).rejects.toBeDefined();
      expect(await book.hold(request(39n, usdLimit(100n)))).toBeDefined();
      expect(keyReads).toBe(1);
    });

    it('counts a charge as held until it is posted, even if a later one is posted first', async () => {
      const book = createBook();
      const hold = await book.hold(request(60n, usdLimit(100n)));
      await book.settle(hold, { usdNano: 60n, diemNano: 0n });
      const late = charge({ usdNano: 60n }, [hold.requestId]);
      await book.post(charge({ usdNano: 30n }));
      await expect(book.hold(request(11n, usdLimit(100n)))).rejects.toBeDefined();
      await book.post(late);
      await expect(book.hold(request(11n, usdLimit(100n)))).rejects.toBeDefined();
      expect(await book.hold(request(10n, usdLimit(100n)))).toBeDefined();
      expect(keyReads).toBe(1);
    });

    it('is not read again after balance changes without spending', async () => {
      const book = createBook();
      await book.hold(request(1n, usdLimit(100n)));
      for (let change = 1; change <= 3; change += 1) {
        const version = posted.version + 1n;
        posted = { ...posted, balances: { usdNano: 1_000n + version, diemNano: 0n }, version };
        await book.post([{ ...posted, requestIds: [], spends: [] }]);
      }
      await expect(book.hold(request(100n, usdLimit(100n)))).rejects.toBeDefined();
      expect(await book.hold(request(99n, usdLimit(100n)))).toBeDefined();
      expect(keyReads).toBe(1);
    });

    it('is read again if a posting does not arrive', async () => {
      const book = createBook();
      await book.hold(request(1n, usdLimit(100n)));
      charge({ usdNano: 30n });
      for (let later = 1; later <= 17; later += 1) await book.post(charge({ usdNano: 1n }));
      spent = { ...spent, version: posted.version, epoch: { usdNano: 47n, diemNano: 0n } };
      await expect(book.hold(request(53n, usdLimit(100n)))).rejects.toBeDefined();
      expect(await book.hold(request(52n, usdLimit(100n)))).toBeDefined();
      expect(keyReads).toBe(2);
    });

    it('is read again after a counted posting if a later one lacks the spending of an earlier one', async () => {
      const book = createBook();
      const hold = await book.hold(request(60n, usdLimit(100n)));
      await book.settle(hold, { usdNano: 60n, diemNano: 0n });
      charge({ usdNano: 60n });
      await book.post(charge({ usdNano: 30n }));
      await book.post([{ ...posted, requestIds: [hold.requestId] }]);
      spent = { ...spent, version: 9n, epoch: { usdNano: 90n, diemNano: 0n } };
      await expect(book.hold(request(11n, usdLimit(100n)))).rejects.toBeDefined();
      expect(await book.hold(request(10n, usdLimit(100n)))).toBeDefined();
      expect(keyReads).toBe(2);
    });

    it.each([
      ['EPOCH', '2026-11-22', 100n],
      // 21 November 2026 is a Saturday.
      ['WEEK', '2026-11-22', 25n],
      ['WEEK', '2026-11-23', 100n],
      ['MONTH', '2026-11-22', 20n],
      ['MONTH', '2026-12-01', 100n],
      ['LIFETIME', '2027-01-01', 10n],
    ] as const)('starts over with its period: %s on %s', async (period, day, left) => {
      spent = {
        ...spent,
        epoch: { usdNano: 70n, diemNano: 0n },
        week: { usdNano: 75n, diemNano: 0n },
        month: { usdNano: 80n, diemNano: 0n },
        lifetime: { usdNano: 90n, diemNano: 0n },
      };
      const book = createBook();
      await book.hold({ ...request(0n, usdLimit(100n, period)) });
      today = day;
      await expect(book.hold(request(left + 1n, usdLimit(100n, period)))).rejects.toBeDefined();
      expect(await book.hold(request(left, usdLimit(100n, period)))).toBeDefined();
    });

    it('is read again after a posting without its spending, whichever of two arrives first', async () => {
      const book = createBook();
      await book.hold(request(1n, usdLimit(100n)));
      const [made] = charge({ usdNano: 60n });
      spent = { ...spent, version: 8n, epoch: { usdNano: 60n, diemNano: 0n } };
      const { accountId, balances, version } = posted;
      await book.post([{ accountId, balances, version, requestIds: [] }]);
      await book.post(made ? [made] : []);
      await expect(book.hold(request(40n, usdLimit(100n)))).rejects.toBeDefined();
      expect(await book.hold(request(39n, usdLimit(100n)))).toBeDefined();
      expect(keyReads).toBe(2);
    });

    it('is read again if its day began during the read', async () => {
      const book = createBook();
      beforeArrival = async () => {
        if (keyReads > 1) return;
        today = '2026-11-22';
        spent = { ...spent, version: 8n, day: today, epoch: { usdNano: 100n, diemNano: 0n } };
        await book.post(charge({ usdNano: 100n }));
      };
      await expect(book.hold(request(1n, usdLimit(100n)))).rejects.toEqual(refused(usd));
      expect(keyReads).toBe(2);
    });

    it('applies a changed limit to the next request', async () => {
      const book = createBook();
      await book.hold(request(60n, usdLimit(100n)));
      await expect(book.hold(request(41n, usdLimit(100n)))).rejects.toBeDefined();
      expect(await book.hold(request(41n, usdLimit(101n)))).toBeDefined();
    });
  });

  describe('the limits of a key and an end user together', () => {
    const ofUser = (amountNano: bigint, endUser = 'u', userNano = 50n) => ({
      ...requestOf(amountNano),
      userLimit: { endUser, ...usdLimit(userNano) },
    });
    const both = (...of: Parameters<typeof ofUser>) => ({ ...ofUser(...of), keyLimit: usdLimit(100n) });

    it('both count what is held, and the one that refuses is named', async () => {
      const book = createBook();
      await book.hold(both(30n));
      await expect(book.hold(both(21n))).rejects.toEqual(refused(OF_USER.usd));
      await book.hold(both(50n, 'v'));
      await expect(book.hold(both(21n, 'w'))).rejects.toEqual(refused(OF_KEY.usd));
      await expect(book.hold(both(2_000n, 'w'))).rejects.toEqual(refused('INSUFFICIENT_BALANCE'));
      const last = await book.hold({ ...both(500n), atLeastNano: 1n });
      expect(last.amount.usdNano).toBe(20n);
      await book.release(last);
      expect(await book.hold(both(20n))).toBeDefined();
    });

    it('both count what is posted, each for its own', async () => {
      const book = createBook();
      const hold = await book.hold(both(40n));
      await book.settle(hold, { usdNano: 40n, diemNano: 0n });
      const [made] = charge({ usdNano: 40n }, [hold.requestId]);
      spent = { ...spent, version: posted.version };
      const ofUser = { ...NONE, keyId: 'u', day: today, usdNano: 40n };
      await book.post(made ? [{ ...made, spends: [...made.spends, ofUser] }] : []);
      await expect(book.hold(both(11n))).rejects.toEqual(refused(OF_USER.usd));
      await expect(book.hold(both(61n, 'v', 500n))).rejects.toEqual(refused(OF_KEY.usd));
      expect(await book.hold(both(10n))).toBeDefined();
    });

    it('a lapsed hold is taken again within both', async () => {
      const hold = await createBook().hold(both(30n));
      const later = createBook();
      await later.hold(both(30n));
      await later.renew([hold]);
      await expect(later.hold(both(21n))).rejects.toEqual(refused(OF_USER.usd));
      expect(await later.hold(both(20n))).toBeDefined();
    });

    it('stays exact for more end users than a book remembers', async () => {
      const book = createBook();
      const refusalsOf = async (nano: bigint): Promise<number> => {
        let refusals = 0;
        for (let of = 0; of < MAX_USERS / 5; of += 1) {
          const users = Array.from('0123456789', (at) => `eu_${of}${at}`);
          const held = await Promise.allSettled(users.map(async (id) => book.hold(ofUser(nano, id))));
          refusals += held.filter(({ status }) => status === 'rejected').length;
          for (const each of held) if (each.status === 'fulfilled') await book.release(each.value);
        }
        return refusals;
      };
      await book.hold(ofUser(30n, 'eu_held'));
      expect(await refusalsOf(50n)).toBe(0);
      await expect(book.hold(ofUser(21n, 'eu_held'))).rejects.toEqual(refused(OF_USER.usd));
      expect(await book.hold(ofUser(20n, 'eu_held'))).toBeDefined();
      spent = { ...spent, epoch: { usdNano: 40n, diemNano: 0n } };
      expect(await refusalsOf(11n)).toBeGreaterThanOrEqual(MAX_USERS);
    });
  });

  describe('the preferred amount', () => {
    const request = (amountNano: bigint, keyLimit?: SpendingLimit) => ({
      ...requestOf(amountNano),
      ...(keyLimit && { keyLimit }),
    });

    it('is held if it is at most a tenth of what can be spent, otherwise the amount', async () => {
      const book = createBook();
      const small = await book.hold({ ...request(10n), preferredNano: 110n });
      expect(small.amount.diemNano + small.amount.usdNano).toBe(110n);
      const large = await book.hold({ ...request(10n), preferredNano: 111n });
      expect(large.amount.usdNano).toBe(10n);
    });

    it('considers what the key may spend', async () => {
      const hold = await createBook().hold({ ...request(10n, usdLimit(100n)), preferredNano: 11n });
      expect(hold.amount.usdNano).toBe(10n);
    });
  });

  describe('setting the DIEM of an account', () => {
    it('sets aside what is not held, and lets other requests wait for the new balance', async () => {
      const book = createBook();
      await book.hold(requestOf(30n));
      expect(await book.holdRest(ACCOUNT, 'stake')).toBe(70n);
      expect(await book.holdRest(ACCOUNT, 'stake')).toBe(70n);
      const waiting = book.hold(requestOf(40n));
      const outcome = await Promise.race([waiting, sleep(20, 'waits')]);
      expect(outcome).toBe('waits');
      const [change] = charge({ diemNano: 50n }, ['stake']);
      await book.post(change ? [change] : []);
      expect((await waiting).amount).toEqual({ diemNano: 20n, usdNano: 20n });
    });

    it('continues with the old balance if the change is abandoned', async () => {
      const book = createBook();
      await book.holdRest(ACCOUNT, 'stake');
      const waiting = book.hold(requestOf(40n));
      await book.release({ requestId: 'stake', accountId: ACCOUNT, keyId: '', amount: NONE, before: NONE });
      expect((await waiting).amount).toEqual({ diemNano: 40n, usdNano: 0n });
    });
  });
}
