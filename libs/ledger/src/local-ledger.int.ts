import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Hold, Problem, encodeCharge, usageRecorded } from '@svc/contracts';
import { createPool } from '@svc/storage';
import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type RunningLedger,
  chargeFor,
  chargeOf,
  grantDiem,
  requestOf,
  startLedger,
  usd,
} from './testing.js';

let test: TestDatabase;
let running: RunningLedger;
let accountId: string;

/** Keeps one server running under all tests, each of which has a database of its own. */
let server: TestDatabase;

beforeAll(async () => {
  server = await startTestDatabase();
});

afterAll(() => server.stop());

beforeEach(async () => {
  test = await startTestDatabase();
  running = await startLedger({ url: test.url, config: { LEDGER_SETTLE_WAIT_MS: 300 } });
  accountId = randomUUID();
  await running.books.credit({ accountId, usdNano: usd(1), reference: 'start' });
});

afterEach(async () => {
  await running.stop();
  await test.stop();
});

const refused = (code: string) => expect.objectContaining({ code });
const usdLeft = async () => (await running.books.balances(accountId)).usdNano;

async function heldNothing(): Promise<void> {
  // A read of the books waits for the posting, and the posting tells the hold book.
  await running.books.balances(accountId);
  expect(running.holds.size).toBe(0);
  await expect.poll(() => running.holdBook.size).toBe(0);
}

async function expectSound(): Promise<void> {
  await expect(running.books.audit('whole')).resolves.toMatchObject({ ok: true, mismatches: [] });
}

/** Locks an account in another session, as a posting that hangs would. */
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

describe('hold and settle', () => {
  it('charges what was used and gives back the rest at once', async () => {
    const hold = await running.ledger.hold(requestOf(accountId, usd(0.9)));
    await running.ledger.settle(hold, chargeFor(hold, usd(0.1)));
    await expect(running.ledger.hold(requestOf(accountId, usd(0.9)))).resolves.toMatchObject({
      before: { usdNano: usd(0.9) },
    });
    await expect(usdLeft()).resolves.toBe(usd(0.9));
  });

  it('spends DIEM before USD and charges both', async () => {
    const staked = randomUUID();
    await running.books.credit({ accountId: staked, usdNano: usd(1), reference: 'start' });
    await grantDiem(running.database, staked, usd(0.25));
    const hold = await running.ledger.hold(requestOf(staked, usd(0.5)));
    expect(hold.amount).toEqual({ usdNano: usd(0.25), diemNano: usd(0.25) });
    const charge = chargeOf(staked, 0n, {
      requestId: hold.requestId,
      cost: { usdNano: 5n, diemNano: usd(0.25) },
    });
    await running.ledger.settle(hold, charge);
    await expect(running.books.balances(staked)).resolves.toEqual({ usdNano: usd(1) - 5n, diemNano: 0n });
  });

  it('refuses a charge beyond its hold, of another request, or with lines that do not sum to it', async () => {
    const hold = await running.ledger.hold(requestOf(accountId, 100n));
    const charge = chargeFor(hold, 100n);
    await expect(running.ledger.settle(hold, chargeFor(hold, 101n))).rejects.toThrow(/within its hold/);
    await expect(running.ledger.settle(hold, { ...charge, requestId: 'other' })).rejects.toThrow(/request/);
    await expect(running.ledger.settle(hold, { ...charge, lines: [] })).rejects.toThrow(/lines/);
    await running.ledger.settle(hold, charge);
    await expect(usdLeft()).resolves.toBe(usd(1) - 100n);
  });

  it('charges once when it is settled again, at once and later', async () => {
    const hold = await running.ledger.hold(requestOf(accountId, 100n));
    const charge = chargeFor(hold, 40n);
    await Promise.all([running.ledger.settle(hold, charge), running.ledger.settle(hold, charge)]);
    await running.ledger.settle(hold, charge);
    await expect(usdLeft()).resolves.toBe(usd(1) - 40n);
    await heldNothing();
  });

  it('never spends more than there is, with 1,000 requests at once, and to the nano-dollar', async () => {
    let refusals = 0;
    let chargedNano = 0n;
    const run = async (index: number): Promise<void> => {
      let hold: Hold;
      try {
        hold = await running.ledger.hold(requestOf(accountId, usd(0.004)));
      } catch (error) {
        if (!(error instanceof Problem && error.code === 'INSUFFICIENT_BALANCE')) throw error;
        refusals += 1;
        return;
      }
      if (index % 10 === 0) {
        await running.ledger.release(hold);
        return;
      }
      const cost = BigInt(3_000_000 + index);
      chargedNano += cost;
      await running.ledger.settle(hold, chargeFor(hold, cost));
    };
    await Promise.all(Array.from({ length: 1_000 }, (_, index) => run(index)));
    expect(refusals).toBe(750);
    await expect(usdLeft()).resolves.toBe(usd(1) - chargedNano);
    await heldNothing();
    const report = await running.books.audit('whole');
    expect(report).toMatchObject({ ok: true, charges: 1_000 - refusals - 25 });
  });

  it('takes a credit into account at once', async () => {
    await expect(running.ledger.hold(requestOf(accountId, usd(2)))).rejects.toEqual(
      refused('INSUFFICIENT_BALANCE'),
    );
    await running.books.credit({ accountId, usdNano: usd(1), reference: 'more' });
    await expect(running.ledger.hold(requestOf(accountId, usd(2)))).resolves.toBeDefined();
  });

  it('renews the holds that live', async () => {
    await running.stop();
    running = await startLedger({ url: test.url, config: { LEDGER_HOLD_LEASE_MS: 150 } });
    await running.ledger.hold(requestOf(accountId, usd(1)));
    await sleep(600);
    await expect(running.ledger.hold(requestOf(accountId, 1n))).rejects.toEqual(
      refused('INSUFFICIENT_BALANCE'),
    );
  });

  it('ends a hold that nobody settles or releases', async () => {
    await running.stop();
    const config = { LEDGER_HOLD_LEASE_MS: 90, LEDGER_HOLD_MAX_MS: 1 };
    running = await startLedger({ url: test.url, config });
    await running.ledger.hold(requestOf(accountId, usd(1)));
    await expect.poll(() => running.holdBook.size, { timeout: 10_000 }).toBe(0);
  });
});

describe('when the event log is down', () => {
  it('posts the charge directly', async () => {
    running.log.mode = 'refuse';
    const hold = await running.ledger.hold(requestOf(accountId, usd(0.5)));
    await running.ledger.settle(hold, chargeFor(hold, usd(0.2)));
    await expect(usdLeft()).resolves.toBe(usd(0.8));
    await heldNothing();
  });

  it('charges once when the log has stored the charge and could not say so', async () => {
    running.log.mode = 'lose';
    const holds = await Promise.all(
      Array.from({ length: 50 }, () => running.ledger.hold(requestOf(accountId, usd(0.02)))),
    );
    await Promise.all(holds.map((hold) => running.ledger.settle(hold, chargeFor(hold, usd(0.01)))));
    await expect(usdLeft()).resolves.toBe(usd(0.5));
    await heldNothing();
    await expectSound();
  });

  it('refuses to settle while the books are down too, keeps the money out of reach and charges once they are back', async () => {
    running.log.mode = 'refuse';
    const hold = await running.ledger.hold(requestOf(accountId, usd(0.5)));
    const unblock = await blockAccount(accountId);
    await expect(running.ledger.settle(hold, chargeFor(hold, usd(0.2)))).rejects.toEqual(
      refused('UNAVAILABLE'),
    );
    await running.ledger.release(hold);
    await expect(running.ledger.hold(requestOf(accountId, usd(0.81)))).rejects.toEqual(
      refused('INSUFFICIENT_BALANCE'),
    );
    await unblock();
    await expect.poll(usdLeft, { timeout: 10_000 }).toBe(usd(0.8));
    await heldNothing();
    await expectSound();
  });

  it('tries a charge once more before the process ends', async () => {
    running.log.mode = 'refuse';
    const hold = await running.ledger.hold(requestOf(accountId, usd(0.5)));
    const unblock = await blockAccount(accountId);
    const settled = running.ledger.settle(hold, chargeFor(hold, usd(0.2)));
    await expect(settled).rejects.toEqual(refused('UNAVAILABLE'));
    const stopped = running.stop();
    await unblock();
    await stopped;
    running = await startLedger({ url: test.url });
    await expect(usdLeft()).resolves.toBe(usd(0.8));
  });

  it('refuses charges beyond its bound and holds nothing for them', async () => {
    await running.stop();
    const config = { LEDGER_SETTLE_WAIT_MS: 100, LEDGER_MAX_UNPOSTED: 1 };
    running = await startLedger({ url: test.url, config });
    running.log.mode = 'refuse';
    const [kept, lost] = await Promise.all([
      running.ledger.hold(requestOf(accountId, usd(0.1))),
      running.ledger.hold(requestOf(accountId, usd(0.1))),
    ]);
    const unblock = await blockAccount(accountId);
    await expect(running.ledger.settle(kept, chargeFor(kept, usd(0.1)))).rejects.toEqual(
      refused('UNAVAILABLE'),
    );
    await expect(running.ledger.settle(lost, chargeFor(lost, usd(0.1)))).rejects.toEqual(
      refused('UNAVAILABLE'),
    );
    await unblock();
    await expect.poll(usdLeft, { timeout: 10_000 }).toBe(usd(0.9));
    await heldNothing();
  });
});

describe('after a crash', () => {
  /** Leaves what a crash between the recording and the posting of a charge leaves. */
  async function crashAfterRecording(usdNano: bigint): Promise<void> {
    await running.stop();
    running = await startLedger({ url: test.url, consume: false });
    await running.log.publish(usageRecorded, encodeCharge(chargeOf(accountId, usdNano)));
    await running.stop();
  }

  it('holds nothing that a charge recorded before has spent', async () => {
    await crashAfterRecording(usd(0.7));
    running = await startLedger({ url: test.url });
    await expect(running.ledger.hold(requestOf(accountId, usd(0.31)))).rejects.toEqual(
      refused('INSUFFICIENT_BALANCE'),
    );
    await expect(running.ledger.hold(requestOf(accountId, usd(0.3)))).resolves.toBeDefined();
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
    await expect(running.ledger.hold(requestOf(accountId, 1n))).resolves.toMatchObject({
      before: { usdNano: usd(0.3) },
    });
  });

  it('says in the audit, and refuses reads, when charges wait too long to be posted', async () => {
    await crashAfterRecording(usd(0.7));
    const unblock = await blockAccount(accountId);
    running = await startLedger({ url: test.url, config: { LEDGER_READ_WAIT_MS: 50 } });
    await expect(running.books.balances(accountId)).rejects.toEqual(refused('UNAVAILABLE'));
    await expect(running.books.audit('whole')).resolves.toMatchObject({
      ok: false,
      mismatches: [expect.stringMatching(/not every charge/i)],
    });
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
