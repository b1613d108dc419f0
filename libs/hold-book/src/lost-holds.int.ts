import { setTimeout as sleep } from 'node:timers/promises';
import type { Hold } from '@svc/contracts/ports';
import { type RedisConnection, connectRedis } from '@svc/storage';
import { type TestRedis, startTestRedis, withRedis } from '@svc/storage/testing';
import { money } from '@svc/telemetry';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { HoldMarks } from './hold-marks.js';
import { HoldSteps, bucketOf } from './hold-steps.js';
import { RedisHoldBook } from './redis-hold-book.js';
import { readsOf } from '../test/hold-book-subject.js';
import type { PostedBalances } from './hold-book.js';

const ACCOUNT = 'a';
const LEASE_MS = 60_000;
const WAIT_MS = 60_000;

const { skipped, note } = withRedis();
const refused = (code: string) => expect.objectContaining({ code });

describe.skipIf(skipped)(`a Redis that has lost its data${note}`, () => {
  let server: TestRedis;
  let redis: RedisConnection;
  /** The account in the books. */
  let posted: PostedBalances;
  let log: object[];
  /** Posts what was recorded. */
  let post: () => Promise<void>;
  let book: RedisHoldBook;

  beforeAll(async () => {
    server = await startTestRedis();
    redis = connectRedis({ url: server.url, name: 'test' });
    while (redis.status !== 'ready') await sleep(5);
  });
  afterAll(async () => {
    redis?.disconnect();
    await server?.stop();
  });

  beforeEach(async () => {
    await redis.flushall();
    posted = { accountId: ACCOUNT, balances: { usdNano: 100n, diemNano: 0n }, version: 1n };
    log = [];
    post = () => Promise.resolve();
    book = openBook();
    await book.available(ACCOUNT);
  });

  function openBook(): RedisHoldBook {
    const steps = new HoldSteps(redis);
    const marks = new HoldMarks(steps, () => post(), { warn: () => undefined });
    const reads = readsOf(() => Promise.resolve(posted));
    const error = (fields: object): void => void log.push(fields);
    return new RedisHoldBook(
      steps,
      { reads, marks, log: { error } },
      { leaseMs: LEASE_MS, maxHolds: 100, waitMs: WAIT_MS },
    );
  }

  const hold = (requestId: string, amountNano: bigint): Promise<Hold> =>
    book.hold({ requestId, accountId: ACCOUNT, keyId: 'k', amountNano });

  /** The money of lost holds by currency, as counted by telemetry. */
  const lostNano = (): Record<string, number> =>
    Object.fromEntries(
      money.lostAmount.points().map(({ values, value }) => [values[0], Math.round(value * 1e9)]),
    );

  /** Kills the server and restarts it empty. */
  async function lose(): Promise<void> {
    server.signal('SIGKILL');
    await server.restart();
    while (redis.status !== 'ready') await sleep(5);
  }

  it('does not hold what a charge has spent that is recorded but not posted', async () => {
    await book.settle(await hold('r', 60n), { usdNano: 60n, diemNano: 0n });
    await lose();
    post = async () => {
      await sleep(50);
      posted = { ...posted, balances: { usdNano: 40n, diemNano: 0n }, version: 2n };
    };
    await expect(hold('next', 41n)).rejects.toEqual(refused('INSUFFICIENT_BALANCE'));
    await expect(hold('next', 40n)).resolves.toBeDefined();
  });

  it('holds nothing while the recorded charges cannot be posted', async () => {
    await lose();
    post = () => Promise.reject(new Error('the log is away'));
    await expect(hold('r', 1n)).rejects.toEqual(refused('UNAVAILABLE'));
    post = () => Promise.resolve();
    await expect(hold('r', 1n)).resolves.toBeDefined();
  });

  it('restores live holds when they are renewed or extended, and spends nothing twice', async () => {
    const [renewed, extended] = [await hold('r1', 30n), await hold('r2', 30n)];
    await lose();
    await book.renew([renewed]);
    await expect(book.extend(extended, { moreNano: 10n })).resolves.toMatchObject({
      amount: { usdNano: 40n },
    });
    await expect(book.available(ACCOUNT)).resolves.toMatchObject({ usdNano: 30n });
    expect(book.gone).toEqual({ holds: 0, nano: 0n });
  });

  it('logs each live hold once whose money others hold by then, with the amount', async () => {
    const before = lostNano();
    const [first, second] = [await hold('r1', 30n), await hold('r2', 20n)];
    await lose();
    await hold('other', 90n);
    await book.renew([first, second]);
    await book.renew([first, second]);
    await expect(book.extend(first, { moreNano: 1n })).rejects.toEqual(refused('INSUFFICIENT_BALANCE'));
    expect(book.gone).toEqual({ holds: 2, nano: 50n });
    expect(lostNano()).toEqual({ USD: 50 + (before['USD'] ?? 0), DIEM: before['DIEM'] });
    expect(log).toEqual([{ accountId: ACCOUNT, holds: 2, usdNano: '50', diemNano: '0' }]);
  });

  it('is noticed by every process, and marked as known by one', async () => {
    await lose();
    let waits = 0;
    post = () => Promise.resolve(void (waits += 1));
    const other = openBook();
    await Promise.all([book.available(ACCOUNT), other.available(ACCOUNT), book.available(ACCOUNT)]);
    expect(waits).toBeGreaterThan(0);
    waits = 0;
    await openBook().available(ACCOUNT);
    expect(waits).toBe(0);
  });

  describe('that came back with an older state', () => {
    /** Restores an older state, as when a replica takes over. */
    async function loseTheLast(meanwhile: () => Promise<void>): Promise<void> {
      await redis.save();
      await meanwhile();
      await lose();
    }

    it('holds nothing for charges posted since', async () => {
      await book.settle(await hold('r', 60n), { usdNano: 60n, diemNano: 0n });
      await loseTheLast(async () => {
        posted = { ...posted, balances: { usdNano: 40n, diemNano: 0n }, version: 2n };
        await book.post([{ ...posted, requestIds: ['r'], spends: [] }]);
      });
      await new HoldSteps(redis).mark(bucketOf(ACCOUNT));
      posted = { ...posted, balances: { usdNano: 90n, diemNano: 0n }, version: 3n };
      await book.post([{ ...posted, requestIds: [], spends: [] }]);
      await expect(book.available(ACCOUNT)).resolves.toMatchObject({ usdNano: 90n });
    });

    it('restores live holds, and uses no older balance', async () => {
      const live = await hold('r', 30n);
      await loseTheLast(async () => {
        posted = { ...posted, balances: { usdNano: 50n, diemNano: 0n }, version: 2n };
        await book.post([{ ...posted, requestIds: [], spends: [] }]);
      });
      await new HoldSteps(redis).mark(bucketOf(ACCOUNT));
      await book.renew([live]);
      await expect(book.available(ACCOUNT)).resolves.toMatchObject({ usdNano: 20n });
      expect(book.gone).toEqual({ holds: 0, nano: 0n });
    });
  });
});
