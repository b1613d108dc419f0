import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Hold, Transfer } from '@svc/contracts/ports';
import { NANO_PER_USD } from '@svc/contracts/money';
import { setStakedDiem } from '@svc/contracts/messages';
import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { Clock } from '../src/clock.js';
import { type LedgerOptions, type RunningLedger, chargeOf, requestOf, usd } from './testing.js';

/** A clock set by the test. */
class TestClock extends Clock {
  constructor(public at: string) {
    super();
  }

  override now(): Date {
    return new Date(this.at);
  }
}

const BEFORE = '2026-11-20T23:59:00.000Z';
const MIDNIGHT = '2026-11-21T00:00:00.000Z';
const NOON = '2026-11-21T12:00:00.000Z';

interface StakingSubject {
  readonly name: string;
  /** Starts one of the ledgers on a database. */
  readonly start: (options: LedgerOptions) => Promise<RunningLedger>;
  /** Called before each test. */
  readonly begin?: () => Promise<void>;
}

/** Contract of resetting DIEM, wherever holds are stored. */
export function stakingConformance({
  name,
  start: startOne,
  begin = () => Promise.resolve(),
}: StakingSubject): void {
  describe(`${name}`, () => {
    let database: TestDatabase;
    let clock: TestClock;
    let running: RunningLedger;
    const others: RunningLedger[] = [];

    const start = (options: Partial<LedgerOptions> = {}): Promise<RunningLedger> =>
      startOne({ url: database.url, clock, ...options });

    beforeAll(async () => {
      database = await startTestDatabase();
    });

    beforeEach(async () => {
      clock = new TestClock(BEFORE);
      await begin();
      running = await start();
    });

    afterEach(async () => {
      const { ok, mismatches } = await running.books.audit('whole');
      for (const ledger of [running, ...others.splice(0)]) await ledger.stop();
      assert.deepEqual({ ok, mismatches }, { ok: true, mismatches: [] });
    });

    afterAll(() => database.stop());

    const run = (ledger = running, dueAt = clock.now()): Promise<void> =>
      ledger.staking.setDay({ dueAt, signal: new AbortController().signal });

    /** An account with a stake whose DIEM was set the day before. */
    async function staked(tokens: number, ledger = running): Promise<string> {
      const accountId = randomUUID();
      await ledger.books.setStake(accountId, usd(tokens));
      return accountId;
    }

    async function transfers(accountId: string): Promise<string[]> {
      const all = await running.books.transfers(accountId, { limit: 1_000 });
      return all
        .toReversed()
        .map(({ kind, amountNano, reference }: Transfer) =>
          ['grant', 'expiry'].includes(kind) ? `${reference} ${kind} ${Number(amountNano) / 1e9}` : kind,
        );
    }

    const diem = async (accountId: string): Promise<number> =>
      Number((await running.books.balances(accountId)).diemNano) / 1e9;

    const available = async (accountId: string, ledger = running): Promise<number> =>
      Number((await ledger.ledger.available(accountId)).diemNano) / 1e9;

    function settle(hold: Hold, diemNano: bigint): Promise<void> {
      const charge = chargeOf(hold.accountId, 0n, {
        requestId: hold.requestId,
        cost: { usdNano: 0n, diemNano },
      });
      return running.ledger.settle(hold, charge);
    }

    it('grants a new stake at once, and applies a changed one from the next day', async () => {
      const accountId = await staked(3);
      expect(await available(accountId)).toBe(3);
      const changed = await running.books.setStake(accountId, usd(5));
      expect(changed).toEqual({ accountId, tokensNano: usd(5), grantedOn: '2026-11-20' });
      expect(await available(accountId)).toBe(3);
      clock.at = MIDNIGHT;
      await run();
      expect(await available(accountId)).toBe(5);
      expect(await running.books.stake(accountId)).toEqual({ ...changed, grantedOn: '2026-11-21' });
      expect(await transfers(accountId)).toEqual([
        '2026-11-20 grant 3',
        '2026-11-21 expiry 3',
        '2026-11-21 grant 5',
      ]);
    });

    it('returns an empty stake for an unknown account', async () => {
      const accountId = randomUUID();
      expect(await running.books.stake(accountId)).toEqual({ accountId, tokensNano: 0n });
    });

    it('sets a day once per account, however many runs and processes there are', async () => {
      const accounts = await Promise.all([1, 2, 3, 4, 5].map((tokens) => staked(tokens)));
      clock.at = MIDNIGHT;
      others.push(await start());
      const ledgers = [running, others[0] ?? running];
      await Promise.all(Array.from({ length: 10 }, (_, index) => run(ledgers[index % 2])));
      for (const [index, accountId] of accounts.entries()) {
        const tokens = index + 1;
        expect(await transfers(accountId)).toEqual([
          `2026-11-20 grant ${tokens}`,
          `2026-11-21 expiry ${tokens}`,
          `2026-11-21 grant ${tokens}`,
        ]);
      }
    });

    it('sets a day once for an account staked during a run', async () => {
      const accountId = await staked(1);
      clock.at = NOON;
      await Promise.all([
        run(),
        running.books.setStake(accountId, usd(2)),
        run(),
        running.books.setStake(accountId, usd(2)),
      ]);
      const grants = (await transfers(accountId)).filter((transfer) =>
        transfer.startsWith('2026-11-21 grant'),
      );
      expect(grants).toHaveLength(1);
    });

    it('catches up after two days of downtime with the current day only', async () => {
      const accountId = await staked(4);
      await running.stop();
      clock.at = '2026-11-23T08:00:00.000Z';
      running = await start();
      await run();
      expect(await transfers(accountId)).toEqual([
        '2026-11-20 grant 4',
        '2026-11-23 expiry 4',
        '2026-11-23 grant 4',
      ]);
      await run();
      expect(await transfers(accountId)).toHaveLength(3);
    });

    it('sets the new day even if its clock is slightly behind the one that started the run', async () => {
      const accountId = await staked(4);
      clock.at = '2026-11-20T23:59:59.990Z';
      await run(running, new Date(MIDNIGHT));
      expect((await running.books.stake(accountId)).grantedOn).toBe('2026-11-21');
      clock.at = MIDNIGHT;
      await run();
      expect(await transfers(accountId)).toHaveLength(3);
    });

    it('follows its own clock if a job claims to be due on another day', async () => {
      const accountId = await staked(4);
      await run(running, new Date(NOON));
      expect((await running.books.stake(accountId)).grantedOn).toBe('2026-11-20');
    });

    it('keeps what a request holds over midnight: it counts against the new day and is charged', async () => {
      const accountId = await staked(3);
      const hold = await running.ledger.hold(requestOf(accountId, usd(1)));
      clock.at = MIDNIGHT;
      await run();
      expect(await available(accountId)).toBe(2);
      expect(await diem(accountId)).toBe(3);
      await settle(hold, usd(0.25));
      expect(await available(accountId)).toBe(2.75);
      expect(await diem(accountId)).toBe(2.75);
      expect(await transfers(accountId)).toEqual([
        '2026-11-20 grant 3',
        '2026-11-21 expiry 2',
        '2026-11-21 grant 2',
        'charge',
      ]);
    });

    it('keeps what was charged but is not posted yet', async () => {
      const accountId = await staked(3);
      const posting = vi.spyOn(running.poster, 'post').mockRejectedValue(new Error('not now'));
      await settle(await running.ledger.hold(requestOf(accountId, usd(1))), usd(1));
      clock.at = MIDNIGHT;
      await run();
      expect(await available(accountId)).toBe(2);
      posting.mockRestore();
      expect(await diem(accountId)).toBe(2);
      expect(await available(accountId)).toBe(2);
    });

    it('charges a request over midnight in full if the stake was removed', async () => {
      const accountId = await staked(3);
      const hold = await running.ledger.hold(requestOf(accountId, usd(1)));
      await running.books.setStake(accountId, 0n);
      clock.at = MIDNIGHT;
      await run();
      expect(await available(accountId)).toBe(0);
      await settle(hold, usd(1));
      expect(await diem(accountId)).toBe(0);
      expect(await transfers(accountId)).toEqual(['2026-11-20 grant 3', '2026-11-21 expiry 2', 'charge']);
      clock.at = '2026-11-22T00:00:00.000Z';
      await run();
      expect((await running.books.stake(accountId)).grantedOn).toBe('2026-11-22');
    });

    it('does not let expiring DIEM be spent while the day is being set', async () => {
      const accountId = await staked(3);
      clock.at = MIDNIGHT;
      const stop = new AbortController();
      const holds: Hold[] = [];
      const spend = async (): Promise<void> => {
        while (!stop.signal.aborted) {
          const hold = await running.ledger.hold(requestOf(accountId, usd(0.001)));
          await settle(hold, usd(0.001));
          holds.push(hold);
        }
      };
      const spending = [spend(), spend(), spend()];
      await run();
      await vi.waitFor(() => expect(holds.length).toBeGreaterThan(10));
      stop.abort();
      await Promise.all(spending);
      const balances = await running.books.balances(accountId);
      expect(await transfers(accountId)).not.toContain('write_off');
      expect(await available(accountId)).toBe(Number(balances.diemNano) / 1e9);
      expect(await running.held()).toBe(0);
    });

    it('updates the hold book in a later run if the process died after the commit', async () => {
      const accountId = await staked(3);
      await running.books.setStake(accountId, usd(1));
      clock.at = MIDNIGHT;
      vi.spyOn(running.holdBook, 'post').mockRejectedValueOnce(new Error('it died'));
      await expect(run()).rejects.toThrow('it died');
      expect((await running.books.stake(accountId)).grantedOn).toBe('2026-11-20');
      others.push(await start());
      await run(others[0]);
      expect((await running.books.stake(accountId)).grantedOn).toBe('2026-11-21');
      expect(await diem(accountId)).toBe(1);
      expect(await transfers(accountId)).toHaveLength(3);
    });

    it('updates the hold book again if that failed', async () => {
      const accountId = await staked(3);
      await running.books.setStake(accountId, usd(1));
      clock.at = MIDNIGHT;
      vi.spyOn(running.holdBook, 'post').mockRejectedValueOnce(new Error('no answer'));
      await expect(run()).rejects.toThrow('no answer');
      await run();
      expect(await available(accountId)).toBe(1);
      expect(await running.held()).toBe(0);
    });

    it('returns what it set aside if the books reject, and finds a commit without a response', async () => {
      const accountId = await staked(3);
      clock.at = MIDNIGHT;
      await running.database.query(
        `ALTER TABLE ledger.transfers ADD CONSTRAINT refuse CHECK (kind <> 'grant') NOT VALID`,
      );
      await expect(run()).rejects.toThrow('refuse');
      await running.database.query('ALTER TABLE ledger.transfers DROP CONSTRAINT refuse');
      expect(await running.held()).toBe(0);
      expect(await available(accountId)).toBe(3);

      const transaction = running.database.transaction.bind(running.database);
      const spy = vi.spyOn(running.database, 'transaction').mockImplementationOnce(async (work) => {
        await transaction(work);
        throw new Error('the connection broke after the commit');
      });
      await run();
      expect(spy.mock.calls.length).toBeGreaterThan(1);
      expect(await transfers(accountId)).toEqual([
        '2026-11-20 grant 3',
        '2026-11-21 expiry 3',
        '2026-11-21 grant 3',
      ]);
      expect(await available(accountId)).toBe(3);
      expect(await running.held()).toBe(0);
    });

    it('leaves out an account whose DIEM cannot be set aside, sets all others, and then fails', async () => {
      const unlucky = await staked(1);
      const lucky = await staked(2);
      clock.at = MIDNIGHT;
      const holdRest = running.holdBook.holdRest.bind(running.holdBook);
      const spy = vi
        .spyOn(running.holdBook, 'holdRest')
        .mockImplementation((accountId, requestId) =>
          accountId === unlucky ? Promise.reject(new Error('no')) : holdRest(accountId, requestId),
        );
      await expect(run()).rejects.toThrow('the DIEM of 1 accounts could not be set');
      expect((await running.books.stake(lucky)).grantedOn).toBe('2026-11-21');
      spy.mockRestore();
      await run();
      expect((await running.books.stake(unlucky)).grantedOn).toBe('2026-11-21');
    });

    it('waits for the charges of an earlier run before anything expires', async () => {
      const accountId = await staked(3);
      vi.spyOn(running.poster, 'post').mockRejectedValue(new Error('not now'));
      await settle(await running.ledger.hold(requestOf(accountId, usd(2))), usd(2));
      await running.stop();
      clock.at = MIDNIGHT;
      // Without consumers, nothing is posted.
      running = await start({ consume: false, config: { LEDGER_START_WAIT_MS: 200 } });
      await expect(run()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
      await running.stop();
      running = await start();
      await run();
      expect(await transfers(accountId)).toEqual([
        '2026-11-20 grant 3',
        'charge',
        '2026-11-21 expiry 1',
        '2026-11-21 grant 3',
      ]);
    });

    it('sets thousands of accounts in batches, and stops between two batches on abort', async () => {
      const accounts = 3_000;
      await running.database.query(
        `INSERT INTO ledger.stakes (account_id, tokens_nano) SELECT gen_random_uuid(), $1 FROM generate_series(1, $2)`,
        [NANO_PER_USD, accounts],
      );
      clock.at = NOON;
      const stopping = new AbortController();
      const post = running.holdBook.post.bind(running.holdBook);
      const spy = vi.spyOn(running.holdBook, 'post').mockImplementation(async (postings) => {
        await post(postings);
        stopping.abort(new Error('stop'));
      });
      await expect(running.staking.setDay({ dueAt: clock.now(), signal: stopping.signal })).rejects.toThrow(
        'stop',
      );
      spy.mockRestore();
      await run();
      const [row] = await running.database.query<{ set: bigint }>(
        `SELECT count(*) AS set FROM ledger.stakes JOIN ledger.accounts ON id = account_id
     WHERE granted_on = '2026-11-21' AND tokens_nano = $1 AND diem_nano = tokens_nano`,
        [NANO_PER_USD],
      );
      expect(Number(row?.set)).toBeGreaterThanOrEqual(accounts);
      expect(await running.held()).toBe(0);
    });

    it('runs its job at every start and every ten minutes from midnight UTC', async () => {
      const accountId = await staked(2);
      clock.at = MIDNIGHT;
      const registered = running.workers.registered.find(({ job }) => job.name === setStakedDiem.name);
      expect(registered).toMatchObject({
        job: setStakedDiem,
        times: { payload: {}, cron: '*/10 * * * *', atStart: true },
      });
      await registered?.worker({}, { attempt: 1, dueAt: clock.now(), signal: new AbortController().signal });
      expect((await running.books.stake(accountId)).grantedOn).toBe('2026-11-21');
    });
  });
}
