import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { LEDGER_WIRE } from '@svc/contracts/ports';
import { usageRecorded } from '@svc/contracts/messages';
import { overWire } from '@svc/testing';
import { createPool } from '@svc/storage';
import { money } from '@svc/telemetry';
import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import type { LedgerConfig } from './ledger.config.js';
import { expectNothingHeld, ledgerConformance } from '../test/ledger.conformance.js';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type RunningLedger, chargeFor, chargeOf, requestOf, startLedger, usd } from '../test/testing.js';

let test: TestDatabase;
let running: RunningLedger;
let accountId: string;

/** Keeps one server running for all tests, each of which has its own database. */
let server: TestDatabase;

beforeAll(async () => {
  server = await startTestDatabase();
});

afterAll(() => server.stop());

beforeEach(async () => {
  test = await startTestDatabase();
  running = await startLedger({ url: test.url, config: { LEDGER_SETTLE_WAIT_MS: 30_000 } });
  accountId = randomUUID();
  await running.books.credit({ accountId, usdNano: usd(1), reference: 'start' });
});

afterEach(async () => {
  await running.stop();
  await test.stop();
});

const refused = (code: string) => expect.objectContaining({ code });
const usdLeft = async () => (await running.books.balances(accountId)).usdNano;

async function expectSound(): Promise<void> {
  await expect(running.books.audit('whole')).resolves.toMatchObject({ ok: true, mismatches: [] });
}

/** Locks an account in another session, as a hanging posting would. */
async function blockAccount(id: string): Promise<() => Promise<void>> {
  const pool = createPool(test.url, { name: 'blocker', max: 1 });
  const client = await pool.connect();
  await client.query('BEGIN');
  await client.query('SELECT 1 FROM ledger.accounts WHERE id = $1 FOR UPDATE', [id]);
  return async () => {
    await client.query('ROLLBACK');
    client.release();
    await pool.end();
  };
}

ledgerConformance('the ledger in this process', (ledger) => ledger);
ledgerConformance('the ledger over a wire', (ledger) => overWire(ledger, LEDGER_WIRE));

describe('live holds', () => {
  it('are granted without waiting, and refused by a rejection, once their account is in memory', async () => {
    await running.ledger.available(accountId);
    const hold = running.ledger.hold(requestOf(accountId, usd(1)));
    expect(hold).toMatchObject({ accountId, amount: { usdNano: usd(1) } });
    await expect(running.ledger.hold(requestOf(accountId, 1n))).rejects.toEqual(
      refused('INSUFFICIENT_BALANCE'),
    );
  });

  it('renews the holds of running requests', async () => {
    await running.stop();
    running = await startLedger({ url: test.url, config: { LEDGER_HOLD_LEASE_MS: 150 } });
    await running.ledger.hold(requestOf(accountId, usd(1)));
    await sleep(600);
    await expect(running.ledger.hold(requestOf(accountId, 1n))).rejects.toEqual(
      refused('INSUFFICIENT_BALANCE'),
    );
  });

  it('ends a hold that is neither settled nor released', async () => {
    await running.stop();
    const config = { LEDGER_HOLD_LEASE_MS: 90, LEDGER_HOLD_MAX_MS: 1 };
    running = await startLedger({ url: test.url, config });
    await running.ledger.hold(requestOf(accountId, usd(1)));
    await expect.poll(() => running.held(), { timeout: 10_000 }).toBe(0);
  });
});

describe('when the event log is down', () => {
  it('posts the charge directly', async () => {
    running.log.mode = 'refuse';
    const hold = await running.ledger.hold(requestOf(accountId, usd(0.5)));
    await running.ledger.settle(hold, chargeFor(hold, usd(0.2)));
    await expect(usdLeft()).resolves.toBe(usd(0.8));
    await expectNothingHeld(running, accountId);
  });

  it('charges once if the log has stored the charge but its acknowledgement was lost', async () => {
    running.log.mode = 'lose';
    const holds = await Promise.all(
      Array.from({ length: 50 }, async () => running.ledger.hold(requestOf(accountId, usd(0.02)))),
    );
    await Promise.all(holds.map((hold) => running.ledger.settle(hold, chargeFor(hold, usd(0.01)))));
    await expect(usdLeft()).resolves.toBe(usd(0.5));
    await expectNothingHeld(running, accountId);
    await expectSound();
  });

  describe('and the books are down too', () => {
    let folder: string;
    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'svc-journal-'));
    });
    afterEach(() => rm(folder, { recursive: true }));

    async function startWith(config: Partial<LedgerConfig>): Promise<void> {
      await running.stop();
      running = await startLedger({ url: test.url, config: { LEDGER_SETTLE_WAIT_MS: 100, ...config } });
      running.log.mode = 'refuse';
    }

    /** A request that settles while the books can't post. */
    async function unposted(
      usdNano: bigint,
    ): Promise<{ settled: Promise<void>; unblock: () => Promise<void> }> {
      const hold = await running.ledger.hold(requestOf(accountId, usd(0.5)));
      const unblock = await blockAccount(accountId);
      return { settled: running.ledger.settle(hold, chargeFor(hold, usdNano)), unblock };
    }

    it('settles by the journal, keeps the cost held, and posts it once the books are back', async () => {
      await startWith({ LEDGER_JOURNAL_DIR: folder });
      const { settled, unblock } = await unposted(usd(0.2));
      await settled;
      await expect(running.ledger.available(accountId)).resolves.toMatchObject({ usdNano: usd(0.8) });
      await unblock();
      await expect(usdLeft()).resolves.toBe(usd(0.8));
      await expectNothingHeld(running, accountId);
      await expectSound();
    });

    it('posts the charges in the journal at the next start, before anything is held', async () => {
      await startWith({ LEDGER_JOURNAL_DIR: folder });
      const { settled, unblock } = await unposted(usd(0.2));
      await settled;
      const stopped = running.stop();
      await sleep(500);
      await unblock();
      await stopped;
      await startWith({ LEDGER_JOURNAL_DIR: folder });
      const hold = await running.ledger.hold(requestOf(accountId, 1n));
      expect(hold.before.usdNano).toBe(usd(0.8));
      await expectSound();
    });

    it('refuses without a journal, and neither charges nor holds anything, then or later', async () => {
      await startWith({});
      const { settled, unblock } = await unposted(usd(0.2));
      await expect(settled).rejects.toEqual(refused('UNAVAILABLE'));
      await expect(running.ledger.available(accountId)).resolves.toMatchObject({ usdNano: usd(1) });
      await unblock();
      await expectNeverCharged();
    });

    it('refuses by its own deadline if the log hangs', async () => {
      await startWith({});
      running.log.mode = 'hang';
      const { settled, unblock } = await unposted(usd(0.2));
      await expect(settled).rejects.toEqual(refused('UNAVAILABLE'));
      await unblock();
      await expectNeverCharged();
    });

    it('gives back what a copy in the log charged for a refused request', async () => {
      await startWith({});
      running.log.mode = 'lose';
      const { settled, unblock } = await unposted(usd(0.2));
      await expect(settled).rejects.toEqual(refused('UNAVAILABLE'));
      await unblock();
      await expectNeverCharged();
    });

    it('refuses charges beyond its limit, and never charges them', async () => {
      await startWith({ LEDGER_MAX_UNPOSTED: 1, LEDGER_JOURNAL_DIR: folder });
      const other = await running.ledger.hold(requestOf(accountId, usd(0.1)));
      const { settled, unblock } = await unposted(usd(0.2));
      await expect(running.ledger.settle(other, chargeFor(other, usd(0.1)))).rejects.toEqual(
        refused('UNAVAILABLE'),
      );
      await settled;
      await unblock();
      await expect.poll(usdLeft, { timeout: 10_000 }).toBe(usd(0.8));
      await expectNothingHeld(running, accountId);
      await expectSound();
    });

    /** Also with whatever becomes known of the request later. */
    async function expectNeverCharged(): Promise<void> {
      const requests = () =>
        running.database.query('SELECT 1 FROM ledger.charges WHERE account_id = $1', [accountId]);
      await expect.poll(requests, { timeout: 10_000 }).toHaveLength(1);
      await expect.poll(usdLeft, { timeout: 10_000 }).toBe(usd(1));
      const wanted = { limit: 10, page: 1, order: 'asc' } as const;
      expect(await running.history.page({ accountId }, wanted)).toEqual({ entries: [], total: 0 });
      await expectNothingHeld(running, accountId);
      await expectSound();
    }
  });
});

describe('after a crash', () => {
  /** Leaves the state of a crash between the recording and the posting of a charge. */
  async function crashAfterRecording(usdNano: bigint): Promise<void> {
    await running.stop();
    running = await startLedger({ url: test.url, consume: false });
    await running.log.publish(usageRecorded, chargeOf(accountId, usdNano));
    await running.stop();
  }

  it('holds nothing that an earlier recorded charge has spent', async () => {
    await crashAfterRecording(usd(0.7));
    running = await startLedger({ url: test.url });
    await expect(running.ledger.hold(requestOf(accountId, usd(0.31)))).rejects.toEqual(
      refused('INSUFFICIENT_BALANCE'),
    );
    expect(await running.ledger.hold(requestOf(accountId, usd(0.3)))).toBeDefined();
    await expectSound();
  });

  it('is not ready and refuses holds until those charges are posted', async () => {
    await crashAfterRecording(usd(0.7));
    const unblock = await blockAccount(accountId);
    running = await startLedger({ url: test.url, config: { LEDGER_START_WAIT_MS: 50 } });
    expect(() => running.readiness.check()).toThrow(/earlier run/);
    await expect(running.ledger.hold(requestOf(accountId, 1n))).rejects.toEqual(refused('UNAVAILABLE'));
    await unblock();
    await expect.poll(() => isReady(running), { timeout: 10_000 }).toBe(true);
    expect(await running.ledger.hold(requestOf(accountId, 1n))).toMatchObject({
      before: { usdNano: usd(0.3) },
    });
  });

  it('refuses reads but reports no mismatch while charges wait to be posted', async () => {
    const wrong = (): unknown => money.audits.points().filter(({ values }) => values[1] === 'wrong');
    const before = wrong();
    await crashAfterRecording(usd(0.7));
    const unblock = await blockAccount(accountId);
    running = await startLedger({ url: test.url, config: { LEDGER_READ_WAIT_MS: 50 } });
    await expect(running.books.balances(accountId)).rejects.toEqual(refused('UNAVAILABLE'));
    for (const scope of ['whole', 'new'] as const)
      await expect(running.books.audit(scope)).resolves.toMatchObject({
        ok: true,
        mismatches: [],
        charges: 0,
      });
    expect(wrong()).toEqual(before);
    await unblock();
    await expect.poll(() => isReady(running), { timeout: 10_000 }).toBe(true);
    await expectSound();
  });
});

function isReady({ readiness }: RunningLedger): boolean {
  try {
    readiness.check();
    return true;
  } catch {
    return false;
  }
}
