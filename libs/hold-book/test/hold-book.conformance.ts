import type { Hold } from '@svc/contracts/ports';
import { PROVISIONAL_MS, Problem } from '@svc/contracts/problems';
import { beforeEach, describe, expect, it } from 'vitest';
import { type HoldBookSubject, type TestedBookOptions, readsOf } from './hold-book-subject.js';
import { keyLimitsConformance } from './key-limits.conformance.js';
import { wholeAmountsConformance } from './whole-amounts.conformance.js';
import type { HoldBook, PostedBalances } from '../src/hold-book.js';

const ACCOUNT = 'a';
const LEASE_MS = 1_000;

/** The contract of every hold book. */
export function holdBookConformance(subject: HoldBookSubject): void {
  describe(`${subject.name}`, () => {
    let now: number;
    let database: Map<string, PostedBalances>;
    let loads: string[];

    function createBook(options: Partial<TestedBookOptions> = {}): HoldBook {
      return subject.make(readsOf(load), { leaseMs: LEASE_MS, maxHolds: 100, nowMs: () => now, ...options });
    }

    async function load(accountId: string): Promise<PostedBalances> {
      loads.push(accountId);
      await Promise.resolve();
      return database.get(accountId) ?? { accountId, balances: { usdNano: 0n, diemNano: 0n }, version: 0n };
    }

    function posted(usdNano: bigint, diemNano: bigint, version: bigint): PostedBalances {
      return { accountId: ACCOUNT, balances: { usdNano, diemNano }, version };
    }

    const request = (requestId: string, amountNano: bigint, accountId = ACCOUNT) => ({
      requestId,
      accountId,
      keyId: 'k',
      amountNano,
    });

    async function available(book: HoldBook): Promise<{ usdNano: bigint; diemNano: bigint }> {
      const probe = await book.hold(request('probe', 0n));
      await book.release(probe);
      return probe.before;
    }

    const refused = (code: string) => expect.objectContaining({ code });

    beforeEach(() => {
      now = 1_000_000;
      loads = [];
      database = new Map([[ACCOUNT, posted(100n, 30n, 1n)]]);
    });

    describe('hold', () => {
      it('takes DIEM first, then USD, and returns the balance before', async () => {
        const hold = await createBook().hold(request('r', 50n));
        expect(hold).toEqual({
          requestId: 'r',
          accountId: ACCOUNT,
          keyId: 'k',
          amount: { usdNano: 20n, diemNano: 30n },
          before: { usdNano: 100n, diemNano: 30n },
        });
      });

      it('holds up to the whole balance and no more', async () => {
        const book = createBook();
        await book.hold(request('r1', 130n));
        await expect(book.hold(request('r2', 1n))).rejects.toEqual(refused('INSUFFICIENT_BALANCE'));
        await expect(available(book)).resolves.toEqual({ usdNano: 0n, diemNano: 0n });
      });

      it('takes nothing when it refuses', async () => {
        const book = createBook();
        await expect(book.hold(request('r', 131n))).rejects.toBeInstanceOf(Problem);
        await expect(available(book)).resolves.toEqual({ usdNano: 100n, diemNano: 30n });
      });

      it('holds once for each request', async () => {
        const book = createBook();
        const [first, second] = await Promise.all([
          book.hold(request('r', 50n)),
          book.hold(request('r', 50n)),
        ]);
        expect(second).toEqual(first);
        await expect(available(book)).resolves.toEqual({ usdNano: 80n, diemNano: 0n });
      });

      it('reads an account once for all waiting calls', async () => {
        const book = createBook();
        await Promise.all([book.hold(request('r1', 1n)), book.hold(request('r2', 1n))]);
        await book.hold(request('r3', 1n));
        expect(loads).toEqual([ACCOUNT]);
      });

      it('has nothing for an account that is not in the database', async () => {
        await expect(createBook().hold(request('r', 1n, 'b'))).rejects.toEqual(
          refused('INSUFFICIENT_BALANCE'),
        );
      });

      it('is unavailable while the database cannot be read, and works afterwards', async () => {
        let down = true;
        const book = subject.make(
          readsOf((accountId) => (down ? Promise.reject(new Error('down')) : load(accountId))),
          { leaseMs: LEASE_MS, maxHolds: 10, nowMs: () => now },
        );
        await expect(book.hold(request('r', 1n))).rejects.toEqual(refused('UNAVAILABLE'));
        down = false;
        expect(await book.hold(request('r', 1n))).toMatchObject({ requestId: 'r' });
      });

      it('is unavailable beyond its maximum number of holds', async () => {
        const book = createBook({ maxHolds: 2 });
        await book.hold(request('r1', 1n));
        await book.hold(request('r2', 1n));
        await expect(book.hold(request('r3', 1n))).rejects.toEqual(refused('UNAVAILABLE'));
      });
    });

    describe('a lack of money', () => {
      const leaseMs = 60_000;
      const refusal = async (holding: Hold | Promise<Hold>): Promise<unknown> =>
        Promise.resolve(holding).catch((error: unknown) => error);
      const lacking = (isProvisional: boolean) =>
        expect.objectContaining({ code: 'INSUFFICIENT_BALANCE', isProvisional });

      it('is provisional while a request took some less than a second ago and may give it back', async () => {
        const book = createBook({ leaseMs });
        const first = await book.hold(request('r1', 130n));
        expect(await refusal(book.hold(request('r2', 1n)))).toEqual(lacking(true));
        now += PROVISIONAL_MS;
        expect(await refusal(book.hold(request('r2', 1n)))).toEqual(lacking(false));
        await book.release(first);
        expect(await book.hold(request('r2', 1n))).toBeDefined();
      });

      it('is final once the other requests are charged', async () => {
        const book = createBook({ leaseMs });
        const first = await book.hold(request('r1', 130n));
        await book.settle(first, first.amount);
        expect(await refusal(book.hold(request('r2', 1n)))).toEqual(lacking(false));
      });

      it('is final if the account has too little even without holds', async () => {
        const book = createBook({ leaseMs });
        await book.hold(request('r1', 1n));
        expect(await refusal(book.hold(request('r2', 131n)))).toEqual(lacking(false));
      });

      it('is final for an extension if no other request took some', async () => {
        const book = createBook({ leaseMs });
        const hold = await book.hold(request('r1', 100n));
        expect(await refusal(book.extend(hold, { moreNano: 40n }))).toEqual(lacking(false));
        await book.hold(request('r2', 10n));
        expect(await refusal(book.extend(hold, { moreNano: 30n }))).toEqual(lacking(true));
      });
    });

    describe('extend', () => {
      it('grows a hold, DIEM first', async () => {
        const book = createBook();
        const hold = await book.extend(await book.hold(request('r', 20n)), { moreNano: 20n });
        expect(hold.amount).toEqual({ usdNano: 10n, diemNano: 30n });
      });

      it('leaves the hold as it was when it refuses', async () => {
        const book = createBook();
        const hold = await book.hold(request('r', 100n));
        await expect(book.extend(hold, { moreNano: 31n })).rejects.toEqual(refused('INSUFFICIENT_BALANCE'));
        await expect(available(book)).resolves.toEqual({ usdNano: 30n, diemNano: 0n });
        await expect(book.extend(hold, { moreNano: 30n })).resolves.toMatchObject({
          amount: { usdNano: 100n, diemNano: 30n },
        });
      });

      it('grows once when the same extension is requested twice', async () => {
        const book = createBook();
        const hold = await book.hold(request('r', 10n));
        await book.extend(hold, { moreNano: 5n });
        await expect(book.extend(hold, { moreNano: 5n })).resolves.toMatchObject({
          amount: { usdNano: 0n, diemNano: 15n },
        });
      });

      it('takes a lapsed hold again, in its own currencies', async () => {
        const book = createBook();
        const hold = await book.hold(request('r', 40n));
        now = 1_000_000 + LEASE_MS;
        await expect(available(book)).resolves.toEqual({ usdNano: 100n, diemNano: 30n });
        await expect(book.extend(hold, { moreNano: 5n })).resolves.toMatchObject({
          amount: { usdNano: 15n, diemNano: 30n },
        });
        await expect(available(book)).resolves.toEqual({ usdNano: 85n, diemNano: 0n });
      });
    });

    describe('leases', () => {
      it('end a hold when they are over, not before', async () => {
        const book = createBook();
        await book.hold(request('r', 130n));
        now = 1_000_000 + LEASE_MS - 1;
        await expect(available(book)).resolves.toEqual({ usdNano: 0n, diemNano: 0n });
        now = 1_000_000 + LEASE_MS;
        await expect(available(book)).resolves.toEqual({ usdNano: 100n, diemNano: 30n });
      });

      it('keep a hold that is renewed or extended', async () => {
        const book = createBook();
        const renewed = await book.hold(request('r1', 30n));
        const extended = await book.hold(request('r2', 50n));
        now = 1_000_000 + LEASE_MS - 1;
        await book.renew([renewed]);
        await book.extend(extended, { moreNano: 0n });
        now = 1_000_000 + LEASE_MS;
        await expect(available(book)).resolves.toEqual({ usdNano: 50n, diemNano: 0n });
      });

      it('are renewed after a pause that outlasts them if the money was not taken meanwhile', async () => {
        const book = createBook();
        const hold = await book.hold(request('r1', 130n));
        now = 1_000_000 + 10 * LEASE_MS;
        await available(book);
        await book.renew([hold]);
        await expect(book.hold(request('r2', 1n))).rejects.toEqual(refused('INSUFFICIENT_BALANCE'));
      });

      it('never end a settled hold', async () => {
        const book = createBook();
        await book.settle(await book.hold(request('r', 60n)), { usdNano: 10n, diemNano: 20n });
        now = 1_000_000 + 100 * LEASE_MS;
        await expect(available(book)).resolves.toEqual({ usdNano: 90n, diemNano: 10n });
      });
    });

    describe('settle, post and release', () => {
      it('returns at once what the cost did not use', async () => {
        const book = createBook();
        await book.settle(await book.hold(request('r', 130n)), { usdNano: 1n, diemNano: 30n });
        await expect(available(book)).resolves.toEqual({ usdNano: 99n, diemNano: 0n });
      });

      it('has the same balance available before and after a posting', async () => {
        const book = createBook();
        await book.settle(await book.hold(request('r', 130n)), { usdNano: 1n, diemNano: 30n });
        await book.post([{ ...posted(99n, 0n, 2n), requestIds: ['r'], spends: [] }]);
        await expect(available(book)).resolves.toEqual({ usdNano: 99n, diemNano: 0n });
        await expect(subject.size(book)).resolves.toBe(0);
      });

      it('holds nothing again when the posting arrives before the settle', async () => {
        const book = createBook();
        const hold = await book.hold(request('r', 130n));
        await book.post([{ ...posted(99n, 0n, 2n), requestIds: ['r'], spends: [] }]);
        await book.settle(hold, { usdNano: 1n, diemNano: 30n });
        await expect(available(book)).resolves.toEqual({ usdNano: 99n, diemNano: 0n });
        await expect(subject.size(book)).resolves.toBe(0);
      });

      it('ignores a balance of an older version', async () => {
        const book = createBook();
        await available(book);
        await book.post([{ ...posted(70n, 0n, 3n), requestIds: [], spends: [] }]);
        await book.post([{ ...posted(90n, 0n, 2n), requestIds: [], spends: [] }]);
        await expect(available(book)).resolves.toEqual({ usdNano: 70n, diemNano: 0n });
      });

      it('does not lose a posting that arrives while the account is read', async () => {
        const book: HoldBook = subject.make(
          readsOf(async (accountId) => {
            const read = await load(accountId);
            await book.post([{ ...posted(5n, 0n, 2n), requestIds: [], spends: [] }]);
            return read;
          }),
          { leaseMs: LEASE_MS, maxHolds: 10, nowMs: () => now },
        );
        await expect(book.hold(request('r', 6n))).rejects.toEqual(refused('INSUFFICIENT_BALANCE'));
      });

      it('keeps the cost of a durable charge held although the hold has lapsed', async () => {
        const book = createBook();
        const hold = await book.hold(request('r', 130n));
        now = 1_000_000 + LEASE_MS;
        await available(book);
        await book.settle(hold, { usdNano: 100n, diemNano: 30n });
        await expect(available(book)).resolves.toEqual({ usdNano: 0n, diemNano: 0n });
      });

      it('settles once', async () => {
        const book = createBook();
        const hold = await book.hold(request('r', 130n));
        await book.settle(hold, { usdNano: 1n, diemNano: 0n });
        await book.settle(hold, { usdNano: 50n, diemNano: 0n });
        await expect(available(book)).resolves.toEqual({ usdNano: 99n, diemNano: 30n });
      });

      it('releases a hold, but not a settled one', async () => {
        const book = createBook();
        const released = await book.hold(request('r1', 50n));
        const settled: Hold = await book.hold(request('r2', 50n));
        await book.settle(settled, settled.amount);
        await book.release(released);
        await book.release(released);
        await book.release(settled);
        await expect(available(book)).resolves.toEqual({ usdNano: 50n, diemNano: 30n });
      });
    });

    describe('open', () => {
      it('lists the holds of requests under way, the latest renewed first', async () => {
        const book = createBook();
        const first = await book.hold(request('r1', 10n));
        now += 100;
        const second = await book.hold(request('r2', 40n));
        now += 100;
        await book.extend(first, { moreNano: 5n });
        await book.settle(await book.hold(request('r3', 9n)), { usdNano: 9n, diemNano: 0n });
        await book.release(await book.hold(request('r4', 9n)));
        await book.holdRest(ACCOUNT, 'a reset of DIEM');
        now += 100;
        const held = [
          { requestId: 'r1', keyId: 'k', amount: { diemNano: 10n, usdNano: 5n }, leftMs: LEASE_MS - 100 },
          { requestId: 'r2', keyId: 'k', amount: { diemNano: 20n, usdNano: 20n }, leftMs: LEASE_MS - 200 },
        ];
        expect(await book.open(ACCOUNT, 10)).toEqual(held);
        expect(await book.open('b', 10)).toEqual([]);
        await book.settle(second, second.amount);
        expect(await book.open(ACCOUNT, 10)).toEqual(held.slice(0, 1));
        now += LEASE_MS;
        expect(await book.open(ACCOUNT, 10)).toEqual([]);
      });

      it('lists no more than are asked for', async () => {
        const book = createBook();
        for (const id of ['r1', 'r2', 'r3']) {
          now += 1;
          await book.hold(request(id, 1n));
        }
        expect((await book.open(ACCOUNT, 2)).map(({ requestId }) => requestId)).toEqual(['r3', 'r2']);
      });
    });

    keyLimitsConformance(subject);
    wholeAmountsConformance(subject);
  });
}
