import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Hold, Ledger } from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type LedgerOptions,
  type RunningLedger,
  chargeFor,
  chargeOf,
  grantDiem,
  requestOf,
  startLedger,
  usd,
} from './testing.js';

/** Expects that all holds are gone once the postings up to now are done. */
export async function expectNothingHeld(running: RunningLedger, accountId: string): Promise<void> {
  // A read of the books waits for postings, which update the hold book.
  await running.books.balances(accountId);
  expect(running.ledger.size).toBe(0);
  await expect.poll(() => running.held()).toBe(0);
}

/** Contract of the port `Ledger`. `at` creates the adapter for the ledger that `start` starts. */
export function ledgerConformance(
  name: string,
  at: (ledger: Ledger) => Ledger,
  start: (options: LedgerOptions) => Promise<RunningLedger> = startLedger,
): void {
  describe(`${name}`, () => {
    let test: TestDatabase;
    let running: RunningLedger;
    let ledger: Ledger;
    let accountId: string;

    beforeAll(async () => {
      test = await startTestDatabase();
      running = await start({ url: test.url });
      ledger = at(running.ledger);
    });

    afterAll(async () => {
      await running?.stop();
      await test?.stop();
    });

    beforeEach(async () => {
      accountId = randomUUID();
      await running.books.credit({ accountId, usdNano: usd(1), reference: 'start' });
    });

    const refused = (code: string) => expect.objectContaining({ code });
    const usdLeft = async () => (await running.books.balances(accountId)).usdNano;

    describe('hold and settle', () => {
      it('charges what was used and returns the rest at once', async () => {
        const hold = await ledger.hold(requestOf(accountId, usd(0.9)));
        await ledger.settle(hold, chargeFor(hold, usd(0.1)));
        const next = await ledger.hold(requestOf(accountId, usd(0.9)));
        expect(next.before.usdNano).toBe(usd(0.9));
        await ledger.release(next);
        await expect(usdLeft()).resolves.toBe(usd(0.9));
      });

      it('spends DIEM before USD and charges both', async () => {
        const staked = randomUUID();
        await running.books.credit({ accountId: staked, usdNano: usd(1), reference: 'start' });
        await grantDiem(running.database, staked, usd(0.25));
        const hold = await ledger.hold(requestOf(staked, usd(0.5)));
        expect(hold.amount).toEqual({ usdNano: usd(0.25), diemNano: usd(0.25) });
        const charge = chargeOf(staked, 0n, {
          requestId: hold.requestId,
          cost: { usdNano: 5n, diemNano: usd(0.25) },
        });
        await ledger.settle(hold, charge);
        await expect(running.books.balances(staked)).resolves.toEqual({ usdNano: usd(1) - 5n, diemNano: 0n });
      });

      it('rejects a charge beyond its hold, of another request, or not equal to its lines, and holds nothing', async () => {
        const charged = await ledger.hold(requestOf(accountId, 100n));
        const charge = chargeFor(charged, 100n);
        const huge = { ...charge, writeOffNano: 2n ** 63n };
        for (const wrong of [
          chargeFor(charged, 101n),
          { ...charge, requestId: 'other' },
          { ...charge, lines: [] },
          {
            ...huge,
            lines: [
              { sku: 's', unit: 'token', units: 1, priceNanoPerMillion: 1n, amountNano: 100n + 2n ** 63n },
            ],
          },
        ]) {
          const hold = await ledger.hold({ ...requestOf(accountId, 100n), requestId: charged.requestId });
          await expect(ledger.settle(hold, wrong)).rejects.toBeInstanceOf(Error);
          await expectNothingHeld(running, accountId);
        }
        await expect(usdLeft()).resolves.toBe(usd(1));
      });

      it('renews a live hold, takes a lapsed one again, and ignores an ended one', async () => {
        const [live, released, settled] = await Promise.all(
          [1, 2, 3].map(async () => ledger.hold(requestOf(accountId, usd(0.2)))),
        );
        assert(live && released && settled);
        await ledger.release(released);
        await ledger.settle(settled, chargeFor(settled, usd(0.1)));
        await ledger.renew([live, settled]);
        await expect(ledger.available(accountId)).resolves.toMatchObject({ usdNano: usd(0.7) });
        // As after its lease: the book no longer has the hold.
        await running.holdBook.release(live);
        await ledger.renew([live]);
        await expect(ledger.available(accountId)).resolves.toMatchObject({ usdNano: usd(0.7) });
        await ledger.release(live);
        await expectNothingHeld(running, accountId);
      });

      it('charges once when settled again, in parallel or later', async () => {
        const hold = await ledger.hold(requestOf(accountId, 100n));
        const charge = chargeFor(hold, 40n);
        await Promise.all([ledger.settle(hold, charge), ledger.settle(hold, charge)]);
        await ledger.settle(hold, charge);
        await expect(usdLeft()).resolves.toBe(usd(1) - 40n);
        await expectNothingHeld(running, accountId);
      });

      it('never spends more than the balance, to the nano-dollar, with 1,000 parallel requests', async () => {
        const before = await running.books.audit('whole');
        let refusals = 0;
        let chargedNano = 0n;
        const run = async (index: number): Promise<void> => {
          let hold: Hold;
          try {
            hold = await ledger.hold(requestOf(accountId, usd(0.004)));
          } catch (error) {
            if (!(error instanceof Problem && error.code === 'INSUFFICIENT_BALANCE')) throw error;
            refusals += 1;
            return;
          }
          if (index % 10 === 0) {
            await ledger.release(hold);
            return;
          }
          const cost = BigInt(3_000_000 + index);
          chargedNano += cost;
          await ledger.settle(hold, chargeFor(hold, cost));
        };
        await Promise.all(Array.from({ length: 1_000 }, (_, index) => run(index)));
        expect(refusals).toBe(750);
        await expect(usdLeft()).resolves.toBe(usd(1) - chargedNano);
        await expectNothingHeld(running, accountId);
        const report = await running.books.audit('whole');
        expect(report).toMatchObject({ ok: true, charges: before.charges + 1_000 - refusals - 25 });
      });

      it('includes a credit at once', async () => {
        await expect(ledger.hold(requestOf(accountId, usd(2)))).rejects.toEqual(
          refused('INSUFFICIENT_BALANCE'),
        );
        await running.books.credit({ accountId, usdNano: usd(1), reference: 'more' });
        expect(await ledger.hold(requestOf(accountId, usd(2)))).toBeDefined();
      });
    });
  });
}
