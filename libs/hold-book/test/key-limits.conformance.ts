import type { Balances } from '@svc/contracts/money';
import { Problem } from '@svc/contracts/problems';
import type { SpendingLimit } from '@svc/contracts/ports';
import { beforeEach, describe, expect, it } from 'vitest';
import { MAX_USERS } from '../src/hold-accounts.js';
import type { KeySpent } from '../src/spendable.js';
import { type HoldBookSubject, readsOf } from './hold-book-subject.js';
import type { HoldBook, KeySpending, PostedBalances } from '../src/hold-book.js';

/** Contract of every hold book for the limits of keys and end users. */
export function keyLimitsConformance(subject: HoldBookSubject): void {
  const ACCOUNT = 'a';
  const refused = (code: ConstructorParameters<typeof Problem>[0]) => expect.objectContaining({ code });

  /** The books, as far as a hold book reads them. */
  let posted: PostedBalances;
  let spent: KeySpent;
  let now: string;
  let keyReads: number;
  /** Runs between a read and its arrival. */
  let beforeArrival: () => Promise<void>;

  const NONE: Balances = { usdNano: 0n, diemNano: 0n };

  beforeEach(() => {
    posted = { accountId: ACCOUNT, balances: { usdNano: 1_000n, diemNano: 100n }, version: 7n };
    now = '2026-11-21T13';
    spent = { version: 7n, readIn: now, hour: NONE, epoch: NONE, week: NONE, month: NONE, lifetime: NONE };
    keyReads = 0;
    beforeArrival = () => Promise.resolve();
  });

  function createBook(): HoldBook {
    const reads = readsOf(
      () => Promise.resolve(posted),
      async (_accountId, { isHourly }, readIn) => {
        keyReads += 1;
        const { hour, ...read } = spent;
        const isOfDay = readIn.slice(0, 10) === read.readIn.slice(0, 10);
        const isOfHour = readIn === read.readIn;
        await beforeArrival();
        return {
          ...read,
          readIn,
          ...(!isOfDay && { epoch: NONE }),
          ...(isHourly && { hour: isOfHour && hour ? hour : NONE }),
        };
      },
    );
    return subject.make(reads, {
      leaseMs: 60_000,
      maxHolds: 100,
      hour: () => now,
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
    const spends = [{ keyId: 'k', hour: now, ...NONE, ...spending }];
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
      ['HOUR', '2026-11-21T13', 35n],
      ['HOUR', '2026-11-21T14', 100n],
      ['EPOCH', '2026-11-21T23', 30n],
      ['EPOCH', '2026-11-22T00', 100n],
      // 21 November 2026 is a Saturday.
      ['WEEK', '2026-11-22T23', 25n],
      ['WEEK', '2026-11-23T00', 100n],
      ['MONTH', '2026-11-30T23', 20n],
      ['MONTH', '2026-12-01T00', 100n],
      ['LIFETIME', '2027-01-01T00', 10n],
    ] as const)('starts over with its period: %s at %s', async (period, hour, left) => {
      spent = {
        ...spent,
        hour: { usdNano: 65n, diemNano: 0n },
        epoch: { usdNano: 70n, diemNano: 0n },
        week: { usdNano: 75n, diemNano: 0n },
        month: { usdNano: 80n, diemNano: 0n },
        lifetime: { usdNano: 90n, diemNano: 0n },
      };
      const book = createBook();
      await book.hold({ ...request(0n, usdLimit(100n, period)) });
      now = hour;
      await expect(book.hold(request(left + 1n, usdLimit(100n, period)))).rejects.toBeDefined();
      expect(await book.hold(request(left, usdLimit(100n, period)))).toBeDefined();
    });

    it('counts what is charged in an hour, and reads the hour only for a limit of it', async () => {
      spent = { ...spent, hour: { usdNano: 10n, diemNano: 0n }, epoch: { usdNano: 30n, diemNano: 0n } };
      const book = createBook();
      const ofHour = (usdNano: bigint) => usdLimit(usdNano, 'HOUR');
      await book.hold(request(5n, usdLimit(100n)));
      const hold = await book.hold(request(50n, ofHour(100n)));
      expect(keyReads).toBe(2);
      await book.settle(hold, { usdNano: 50n, diemNano: 0n });
      await book.post(charge({ usdNano: 50n }, [hold.requestId]));
      await expect(book.hold(request(36n, ofHour(100n)))).rejects.toEqual(refused(usd));
      const over = await book.hold(request(35n, ofHour(100n)));
      now = '2026-11-21T14';
      await expect(book.hold(request(61n, ofHour(100n)))).rejects.toEqual(refused(usd));
      await book.settle(over, { usdNano: 35n, diemNano: 0n });
      await book.post(charge({ usdNano: 35n }, [over.requestId]));
      await expect(book.hold(request(61n, ofHour(100n)))).rejects.toEqual(refused(usd));
      expect(await book.hold(request(60n, ofHour(100n)))).toBeDefined();
      expect(keyReads).toBe(2);
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

    it('is read again if its hour began during the read', async () => {
      const book = createBook();
      beforeArrival = async () => {
        if (keyReads > 1) return;
        now = '2026-11-22T00';
        spent = { ...spent, version: 8n, readIn: now, epoch: { usdNano: 100n, diemNano: 0n } };
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
      const ofUser = { ...NONE, keyId: 'u', hour: now, usdNano: 40n };
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
}
