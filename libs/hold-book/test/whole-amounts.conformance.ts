import { setTimeout as sleep } from 'node:timers/promises';
import { NO_MONEY } from '@svc/contracts/money';
import type { SpendingLimit } from '@svc/contracts/ports';
import { describe, expect, it } from 'vitest';
import type { HoldBook, PostedBalances } from '../src/hold-book.js';
import { type HoldBookSubject, readsOf } from './hold-book-subject.js';

const ACCOUNT = 'a';
const POSTED: PostedBalances = {
  accountId: ACCOUNT,
  balances: { usdNano: 1_000n, diemNano: 100n },
  version: 7n,
};

/** Contract of every hold book for preferred amounts and resetting DIEM. */
export function wholeAmountsConformance(subject: HoldBookSubject): void {
  const createBook = (): HoldBook =>
    subject.make(
      readsOf(() => Promise.resolve(POSTED)),
      { leaseMs: 60_000, maxHolds: 100 },
    );

  let requests = 0;
  const requestOf = (amountNano: bigint) => ({
    requestId: `r${(requests += 1)}`,
    accountId: ACCOUNT,
    keyId: 'k',
    amountNano,
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
      const hold = await createBook().hold({
        ...request(10n, { period: 'EPOCH', usdNano: 100n, diemNano: 0n }),
        preferredNano: 11n,
      });
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
      const change = { ...POSTED, balances: { usdNano: 1_000n, diemNano: 50n }, version: 8n };
      await book.post([{ ...change, requestIds: ['stake'], spends: [] }]);
      expect((await waiting).amount).toEqual({ diemNano: 20n, usdNano: 20n });
    });

    it('continues with the old balance if the change is abandoned', async () => {
      const book = createBook();
      await book.holdRest(ACCOUNT, 'stake');
      const waiting = book.hold(requestOf(40n));
      await book.release({
        requestId: 'stake',
        accountId: ACCOUNT,
        keyId: '',
        amount: NO_MONEY,
        before: NO_MONEY,
      });
      expect((await waiting).amount).toEqual({ diemNano: 40n, usdNano: 0n });
    });
  });
}
