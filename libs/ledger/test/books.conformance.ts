import { randomUUID } from 'node:crypto';
import type { Books } from '@svc/contracts/ports';
import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LedgerOptions, type RunningLedger, chargeOf, requestOf, startLedger, usd } from './testing.js';

/** Contract of the port `Books`. `at` creates the adapter for the books that `start` starts. */
export function booksConformance(
  name: string,
  at: (books: Books) => Books,
  start: (options: LedgerOptions) => Promise<RunningLedger> = startLedger,
): void {
  describe(`${name}`, () => {
    let test: TestDatabase;
    let running: RunningLedger;
    let books: Books;

    beforeAll(async () => {
      test = await startTestDatabase();
      running = await start({ url: test.url });
      books = at(running.books);
    });

    afterAll(async () => {
      await running?.stop();
      await test?.stop();
    });

    const refused = (code: string) => expect.objectContaining({ code });

    it('shows what a request under way holds, until it is released', async () => {
      const accountId = randomUUID();
      await books.credit({ accountId, usdNano: usd(5), reference: 'r' });
      const hold = await running.ledger.hold(requestOf(accountId, usd(3)));
      const { requestId, keyId, amount } = hold;
      const left = { leftMs: expect.any(Number) };
      expect(await books.openHolds(accountId)).toEqual([{ requestId, keyId, amount, ...left }]);
      await running.ledger.release(hold);
      expect(await books.openHolds(accountId)).toEqual([]);
    });

    describe('credit', () => {
      it('is a transfer from the operator to the customer', async () => {
        const accountId = randomUUID();
        await expect(books.balances(accountId)).resolves.toEqual({ usdNano: 0n, diemNano: 0n });
        const transfer = await books.credit({ accountId, usdNano: usd(10), reference: 'invoice 7' });
        expect(transfer).toEqual({
          id: expect.any(BigInt),
          kind: 'credit',
          debitAccount: 'deposits:operator',
          creditAccount: `customer:${accountId}`,
          currency: 'USD',
          amountNano: usd(10),
          reference: 'invoice 7',
          at: expect.any(Date),
        });
        await expect(books.transfers(accountId, { limit: 10 })).resolves.toEqual([transfer]);
        await expect(books.balances(accountId)).resolves.toEqual({ usdNano: usd(10), diemNano: 0n });
      });

      it('happens once for a reference, and returns the first transfer each time', async () => {
        const credit = { accountId: randomUUID(), usdNano: usd(1), reference: 'r' };
        const first = await books.credit(credit);
        await expect(books.credit(credit)).resolves.toEqual(first);
        await expect(books.balances(credit.accountId)).resolves.toMatchObject({ usdNano: usd(1) });
      });

      it('happens once when it is requested many times in parallel', async () => {
        const credit = { accountId: randomUUID(), usdNano: usd(1), reference: 'r' };
        const transfers = await Promise.all(Array.from({ length: 20 }, () => books.credit(credit)));
        expect(new Set(transfers.map(({ id }) => id)).size).toBe(1);
        await expect(books.balances(credit.accountId)).resolves.toMatchObject({ usdNano: usd(1) });
      });

      it('rejects a used reference with another amount, also in parallel', async () => {
        const accountId = randomUUID();
        const results = await Promise.allSettled(
          [1, 2, 3, 4].map((amount) => books.credit({ accountId, usdNano: usd(amount), reference: 'r' })),
        );
        const refusals = results.filter((result) => result.status === 'rejected');
        expect(refusals.map(({ reason }) => reason as unknown)).toEqual(
          [1, 2, 3].map(() => refused('REFERENCE_REUSED')),
        );
        const won = results.find((result) => result.status === 'fulfilled')?.value.amountNano;
        await expect(books.balances(accountId)).resolves.toMatchObject({ usdNano: won });
      });

      it('accepts the same reference for another account', async () => {
        const [a, b] = [randomUUID(), randomUUID()];
        await books.credit({ accountId: a, usdNano: usd(1), reference: 'shared' });
        await books.credit({ accountId: b, usdNano: usd(2), reference: 'shared' });
        await expect(books.balances(b)).resolves.toMatchObject({ usdNano: usd(2) });
      });

      it('rejects a balance too large for the books', async () => {
        const accountId = randomUUID();
        const credit = { accountId, usdNano: 2n ** 63n - 1n, reference: 'most' };
        await books.credit(credit);
        await expect(books.credit({ ...credit, usdNano: 1n, reference: 'more' })).rejects.toEqual(
          refused('INVALID_REQUEST'),
        );
        const larger = { accountId: randomUUID(), usdNano: 2n ** 64n, reference: 'larger' };
        await expect(books.credit(larger)).rejects.toEqual(refused('INVALID_REQUEST'));
      });
    });

    describe('reversing a deposit', () => {
      const paid = (accountId: string, reference = 'payment_1') =>
        books.credit({ accountId, usdNano: usd(5), reference, rail: 'base' });
      const taken = (accountId: string, reference = 'payment_1') =>
        books.reverse({ accountId, reference, rail: 'base' });
      const kinds = async (accountId: string) =>
        (await books.transfers(accountId, { limit: 20 }))
          .map(({ kind, amountNano }) => [kind, amountNano])
          .toReversed();

      it('takes it from the balance once, however often it is requested, also in parallel', async () => {
        const accountId = randomUUID();
        await paid(accountId);
        const transfers = await Promise.all(Array.from({ length: 5 }, () => taken(accountId)));
        expect(new Set(transfers.map(({ id }) => id)).size).toBe(1);
        expect(transfers[0]).toMatchObject({
          kind: 'reversal',
          debitAccount: `customer:${accountId}`,
          creditAccount: 'deposits:base',
          amountNano: usd(5),
        });
        await expect(books.balances(accountId)).resolves.toEqual({ usdNano: 0n, diemNano: 0n });
        await expect(running.ledger.available(accountId)).resolves.toEqual({ usdNano: 0n, diemNano: 0n });
      });

      it('creates a debt for what was spent, which later credits repay first', async () => {
        const accountId = randomUUID();
        await paid(accountId);
        await running.poster.post([chargeOf(accountId, usd(3))]);
        await taken(accountId);
        await expect(books.balances(accountId)).resolves.toMatchObject({ usdNano: 0n });
        await books.credit({ accountId, usdNano: usd(1), reference: 'payment_1' });
        await expect(books.balances(accountId)).resolves.toMatchObject({ usdNano: 0n });
        await paid(accountId, 'payment_1.2');
        await expect(books.balances(accountId)).resolves.toMatchObject({ usdNano: usd(3) });
        await expect(running.ledger.available(accountId)).resolves.toMatchObject({ usdNano: usd(3) });
        await books.credit({ accountId, usdNano: usd(1), reference: 'free of debt' });
        await expect(books.balances(accountId)).resolves.toMatchObject({ usdNano: usd(4) });
        expect(await kinds(accountId)).toEqual([
          ['deposit', usd(5)],
          ['charge', usd(3)],
          ['debt', usd(3)],
          ['reversal', usd(5)],
          ['credit', usd(1)],
          ['repayment', usd(1)],
          ['deposit', usd(5)],
          ['repayment', usd(2)],
          ['credit', usd(1)],
        ]);
        for (const scope of ['new', 'whole'] as const)
          await expect(books.audit(scope)).resolves.toMatchObject({ ok: true, mismatches: [] });
      });

      it("rejects an operator's credit, a payment of another rail, and an unknown deposit", async () => {
        const accountId = randomUUID();
        await books.credit({ accountId, usdNano: usd(1), reference: 'payment_1' });
        await expect(taken(accountId)).rejects.toEqual(refused('INVALID_REQUEST'));
        await paid(accountId);
        await expect(books.reverse({ accountId, reference: 'payment_1', rail: 'solana' })).rejects.toEqual(
          refused('INVALID_REQUEST'),
        );
        await expect(books.balances(accountId)).resolves.toMatchObject({ usdNano: usd(6) });
      });

      it('is listed with the deposits, by reference or page by page', async () => {
        const accountId = randomUUID();
        const first = await paid(accountId, 'payment_9');
        await books.credit({ accountId, usdNano: usd(1), reference: 'payment_9' });
        const reversal = await taken(accountId, 'payment_9');
        await expect(books.deposits({ references: ['payment_9', 'none'] })).resolves.toEqual([
          first,
          reversal,
        ]);
        await expect(books.deposits({ after: first.id - 1n, limit: 1 })).resolves.toEqual([first]);
        await expect(books.deposits({ after: first.id, limit: 10 })).resolves.toEqual([reversal]);
      });
    });

    describe('reversing a credit', () => {
      const credited = (accountId: string, amount = 5000, reference = 'invoice 7') =>
        books.credit({ accountId, usdNano: usd(amount), reference });

      it('returns the whole credit to the operator once, also in parallel', async () => {
        const accountId = randomUUID();
        await credited(accountId);
        const reversal = { accountId, reference: 'invoice 7' };
        const transfers = await Promise.all(Array.from({ length: 5 }, () => books.reverse(reversal)));
        expect(new Set(transfers.map(({ id }) => id)).size).toBe(1);
        expect(transfers[0]).toMatchObject({
          kind: 'credit_reversal',
          debitAccount: `customer:${accountId}`,
          creditAccount: 'deposits:operator',
          amountNano: usd(5000),
        });
        await expect(running.ledger.available(accountId)).resolves.toEqual({ usdNano: 0n, diemNano: 0n });
      });

      it('and crediting the right amount leaves what the right credit would have left', async () => {
        const accountId = randomUUID();
        await credited(accountId);
        await running.poster.post([chargeOf(accountId, usd(20))]);
        await books.reverse({ accountId, reference: 'invoice 7' });
        await expect(books.balances(accountId)).resolves.toMatchObject({ usdNano: 0n });
        await credited(accountId, 50, 'invoice 7, corrected');
        await expect(books.balances(accountId)).resolves.toMatchObject({ usdNano: usd(30) });
        for (const scope of ['new', 'whole'] as const)
          await expect(books.audit(scope)).resolves.toMatchObject({ ok: true, mismatches: [] });
      });

      it('is apart from the reversal of a deposit with the same reference', async () => {
        const accountId = randomUUID();
        await credited(accountId, 1, 'same');
        await books.credit({ accountId, usdNano: usd(5), reference: 'same', rail: 'base' });
        await running.poster.post([chargeOf(accountId, usd(6))]);
        await books.reverse({ accountId, reference: 'same' });
        await books.reverse({ accountId, reference: 'same', rail: 'base' });
        await credited(accountId, 7, 'later');
        await expect(books.balances(accountId)).resolves.toMatchObject({ usdNano: usd(1) });
        await expect(books.audit('whole')).resolves.toMatchObject({ ok: true, mismatches: [] });
      });

      it('rejects an unknown reference, and that of a deposit', async () => {
        const accountId = randomUUID();
        await books.credit({ accountId, usdNano: usd(5), reference: 'payment_1', rail: 'base' });
        for (const reference of ['payment_1', 'none'])
          await expect(books.reverse({ accountId, reference })).rejects.toEqual(refused('CREDIT_NOT_FOUND'));
      });
    });

    describe('a debit', () => {
      it('is a transfer from the customer to the operator, once for a reference, also in parallel', async () => {
        const accountId = randomUUID();
        await books.credit({ accountId, usdNano: usd(10), reference: 'r' });
        const debit = { accountId, usdNano: usd(4), reference: 'r' };
        const transfers = await Promise.all(Array.from({ length: 5 }, () => books.debit(debit)));
        expect(new Set(transfers.map(({ id }) => id)).size).toBe(1);
        expect(transfers[0]).toMatchObject({
          kind: 'debit',
          debitAccount: `customer:${accountId}`,
          creditAccount: 'deposits:operator',
          currency: 'USD',
          amountNano: usd(4),
        });
        await expect(books.balances(accountId)).resolves.toEqual({ usdNano: usd(6), diemNano: 0n });
        await expect(running.ledger.available(accountId)).resolves.toMatchObject({ usdNano: usd(6) });
        await expect(books.debit({ ...debit, usdNano: usd(1) })).rejects.toEqual(refused('REFERENCE_REUSED'));
        await expect(books.audit('whole')).resolves.toMatchObject({ ok: true, mismatches: [] });
      });

      it('never takes more than the balance, also in parallel, and says what is left', async () => {
        const accountId = randomUUID();
        await books.credit({ accountId, usdNano: usd(10), reference: 'r' });
        const results = await Promise.allSettled(
          ['a', 'b', 'c', 'd'].map((reference) => books.debit({ accountId, usdNano: usd(4), reference })),
        );
        const refusals = results.filter((result) => result.status === 'rejected');
        expect(refusals.map(({ reason }) => reason as unknown)).toEqual(
          [1, 2].map(() => refused('DEBIT_TOO_LARGE')),
        );
        await expect(books.debit({ accountId, usdNano: usd(2.01), reference: 'e' })).rejects.toMatchObject({
          message: 'The account has 2.00 USD left. Debit at most that.',
        });
        await expect(books.balances(accountId)).resolves.toMatchObject({ usdNano: usd(2) });
      });

      it('leaves what requests in progress hold', async () => {
        const accountId = randomUUID();
        await books.credit({ accountId, usdNano: usd(10), reference: 'r' });
        const hold = await running.ledger.hold(requestOf(accountId, usd(3)));
        await expect(books.debit({ accountId, usdNano: usd(8), reference: 'd' })).rejects.toMatchObject({
          code: 'DEBIT_TOO_LARGE',
          message: 'The account has 7.00 USD left, and requests in progress hold 3.00. Debit at most that.',
        });
        await books.debit({ accountId, usdNano: usd(7), reference: 'd' });
        await running.ledger.release(hold);
        await expect(running.ledger.available(accountId)).resolves.toMatchObject({ usdNano: usd(3) });
      });
    });

    describe('transfers', () => {
      it('are filtered by kind and time', async () => {
        const accountId = randomUUID();
        const first = await books.credit({ accountId, usdNano: usd(5), reference: 'a' });
        const at = '2026-02-15T00:00:00.000Z';
        await running.poster.post([chargeOf(accountId, usd(1), { at })]);
        const second = await books.debit({ accountId, usdNano: usd(1), reference: 'a' });
        const ids = async (filter: object) =>
          (await books.transfers(accountId, { limit: 10, ...filter })).map(({ id }) => id);
        expect(await ids({ kind: 'debit' })).toEqual([second.id]);
        expect(await ids({ kind: 'refund' })).toEqual([]);
        expect(await ids({ from: first.at })).toEqual([second.id, first.id]);
        expect(await ids({ from: new Date(at), until: first.at })).toHaveLength(1);
        expect(await ids({ until: new Date(at) })).toEqual([]);
      });

      it('are listed newest first, page by page, without gaps or duplicates, and for one account only', async () => {
        const accountId = randomUUID();
        await books.credit({ accountId, usdNano: usd(1), reference: 'start' });
        const charges = Array.from({ length: 24 }, (_, index) =>
          // Several months, since pages span partitions.
          chargeOf(accountId, BigInt(index + 1), { at: `2026-0${(index % 3) + 1}-15T00:00:00.000Z` }),
        );
        for (const charge of charges) await running.poster.post([charge, chargeOf(randomUUID(), 0n)]);
        const amounts: bigint[] = [];
        let before: bigint | undefined;
        do {
          const page = await books.transfers(accountId, { limit: 7, ...(before && { before }) });
          amounts.push(...page.map(({ amountNano }) => amountNano));
          before = page.at(-1)?.id;
        } while (before);
        expect(amounts).toEqual([...charges.map(({ cost }) => cost.usdNano).toReversed(), usd(1)]);
      });
    });

    describe('the audit', () => {
      it('counts and proves books with both currencies and write-offs', async () => {
        const accountId = randomUUID();
        await books.credit({ accountId, usdNano: 100n, reference: 'start' });
        await running.poster.post([
          chargeOf(accountId, 60n),
          chargeOf(accountId, 60n),
          chargeOf(accountId, 0n),
        ]);
        const report = await books.audit('whole');
        expect(report).toMatchObject({
          ok: true,
          imbalanceUsdNano: 0n,
          imbalanceDiemNano: 0n,
          mismatches: [],
        });
        expect(report.charges).toBeGreaterThanOrEqual(3);
        expect(report.accounts).toBeGreaterThan(0);
        expect(report.transfers).toBeGreaterThanOrEqual(4);
      });
    });
  });
}
