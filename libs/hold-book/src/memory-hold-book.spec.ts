import { beforeEach, describe, expect, it } from 'vitest';
import { holdBookConformance } from '../test/hold-book.conformance.js';
import { MemoryHoldBook } from './memory-hold-book.js';
import { readsOf } from '../test/hold-book-subject.js';

const ACCOUNT = 'a';

holdBookConformance({
  name: 'the hold book in memory',
  make: (reads, options) => new MemoryHoldBook(reads, { maxAccounts: 100, ...options }),
  size: (book) => Promise.resolve((book as MemoryHoldBook).size),
});

describe('the capacity of a hold book in memory', () => {
  let loads: string[];
  beforeEach(() => {
    loads = [];
  });

  const request = (requestId: string, amountNano: bigint, accountId = ACCOUNT) => ({
    requestId,
    accountId,
    keyId: 'k',
    amountNano,
  });

  it('keeps accounts with holds and evicts idle ones beyond its limit', async () => {
    const reads = readsOf((accountId) => {
      loads.push(accountId);
      const usdNano = accountId === ACCOUNT ? 130n : 0n;
      return Promise.resolve({ accountId, balances: { usdNano, diemNano: 0n }, version: 1n });
    });
    const book = new MemoryHoldBook(reads, { leaseMs: 60_000, maxAccounts: 3, maxHolds: 100 });
    await book.hold(request('r', 40n));
    for (let index = 0; index < 20; index += 1)
      book.release(await book.hold(request(`i${index}`, 0n, `idle${index}`)));
    expect(book.accountCount).toBeLessThanOrEqual(4);
    expect(loads.filter((accountId) => accountId === ACCOUNT)).toHaveLength(1);
    await expect(book.available(ACCOUNT)).resolves.toEqual({ usdNano: 90n, diemNano: 0n });
  });
});
