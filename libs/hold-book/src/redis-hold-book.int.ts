import { repeats } from '@svc/testing';
import { startTestRedis, startTestRedisCluster, withRedis } from '@svc/storage/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { holdHistories, seed } from '../test/hold-fixture.js';
import { type RedisBooks, startRedisBooks } from '../test/redis-books.js';
import { type HoldBookSubject, readsOf } from '../test/hold-book-subject.js';
import { holdBookConformance } from '../test/hold-book.conformance.js';
import type { PostedBalances } from './hold-book.js';

const POLL = { timeout: 30_000 };

const { skipped, note } = withRedis();

describe.skipIf(skipped).each([
  ['on a server', startTestRedis],
  ['on a cluster of three', startTestRedisCluster],
] as const)(`RedisHoldBook %s${note}`, (name, start) => {
  let books: RedisBooks;
  beforeAll(async () => {
    books = await startRedisBooks(name, start);
  });
  afterAll(() => books?.stop());

  const subject: HoldBookSubject = {
    name,
    make: (reads, options) => books.subject.make(reads, options),
    size: (book) => books.subject.size(book),
  };

  holdBookConformance(subject);

  it('rejects a hold while the books do not respond, and does not take it once they do', async () => {
    const accountId = 'a';
    const balances = { usdNano: 100n, diemNano: 0n };
    const read = Promise.withResolvers<PostedBalances>();
    const reads = readsOf(() => read.promise);
    const book = books.subject.make(reads, { leaseMs: 60_000, maxHolds: 10, readMs: 20 });
    const hold = book.hold({ requestId: 'r', accountId, keyId: 'k', amountNano: 60n });
    await expect(hold).rejects.toMatchObject({ code: 'UNAVAILABLE', retryAfterSeconds: 1 });
    read.resolve({ accountId, balances, version: 1n });
    await expect.poll(() => book.available(accountId).catch(String), POLL).toEqual(balances);
    expect(await books.subject.size(book)).toBe(0);
  });

  it(
    `random histories hold no more than the balance and lose no charge (seed ${seed})`,
    async () => {
      await expect(holdHistories(repeats('REDIS_HOLD_HISTORIES'), subject)).resolves.toBeUndefined();
    },
    120_000 + repeats('REDIS_HOLD_HISTORIES') * 5_000,
  );
});
