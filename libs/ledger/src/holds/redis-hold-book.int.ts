import { repeats } from '@svc/testing';
import { startTestRedis, startTestRedisCluster, withRedis } from '@svc/storage/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { holdHistories, seed } from '../../test/hold-world.js';
import { type RedisBooks, startRedisBooks } from '../../test/redis-books.js';
import { type HoldBookSubject, holdBookConformance } from './hold-book.conformance.js';

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

  it(`random histories hold no more than there is and lose nothing that is owed (seed ${seed})`, async () => {
    await expect(holdHistories(repeats('REDIS_HOLD_HISTORIES'), subject)).resolves.toBeUndefined();
  }, 300_000);
});
