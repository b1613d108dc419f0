import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AuditReport, AuditScope } from '@svc/contracts/ports';
import { type Charge, MEDIA_JOBS_BACKEND, OPERATOR, emptyCharge } from '@svc/contracts/messages';
import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import { isLong } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BOOKS_LOCK, lockAccounts } from '../accounts/accounts.store.js';
import { type RunningLedger, chargeOf, grantDiem, startLedger, usd } from '../../test/testing.js';

let test: TestDatabase;
let running: RunningLedger;

beforeEach(async () => {
  test = await startTestDatabase();
  running = await startLedger({ url: test.url });
});

afterEach(async () => {
  await running.stop();
  await test.stop();
});

const audit = (scope: AuditScope): Promise<AuditReport> => running.books.audit(scope);

async function account(): Promise<string> {
  const accountId = randomUUID();
  await running.books.credit({ accountId, usdNano: usd(100), reference: 'start' });
  return accountId;
}

const rejectCharge = (): Promise<unknown> =>
  running.database.query(
    `INSERT INTO ledger.rejected_charges (digest, reason, event) VALUES ('d', 'odd', '{}')`,
  );

describe.each<AuditScope>(['whole', 'new'])('an audit of scope %s', (scope) => {
  const HOUR_MS = 3_600_000;
  const jobCharge = (accountId: string, ageMs: number): Charge =>
    chargeOf(accountId, 5n, {
      backend: MEDIA_JOBS_BACKEND,
      at: new Date(Date.now() - ageMs).toISOString(),
    });

  it('reports the reversal of a credit that never came, as of a deposit with that reference', async () => {
    const accountId = await account();
    await running.books.credit({ accountId, usdNano: 9n, reference: 'paid', rail: 'base' });
    await audit('whole');
    await running.database.query(
      `INSERT INTO ledger.transfers (at, account_id, kind, debit_account, credit_account, currency, amount_nano, reference)
       VALUES (now(), $1::uuid, 'credit_reversal', 'customer:' || $1, 'deposits:operator', 'USD', 9, 'paid')`,
      [accountId],
    );
    expect((await audit(scope)).mismatches).toContain(
      `Reversal paid of account ${accountId} takes 9 nano-USD back, and there is no such credit.`,
    );
  });

  it('notifies the operator that the books are wrong', async () => {
    await rejectCharge();
    const { mismatches } = await audit(scope);
    const rows = await running.database.query<{ payload: string }>(
      `SELECT payload FROM events.outbox WHERE topic = 'account.event.v1'
       UNION ALL SELECT payload FROM events.log WHERE topic = 'account.event.v1'`,
    );
    expect(JSON.parse(rows[0]?.payload ?? '')).toMatchObject({
      accountId: OPERATOR,
      type: 'ledger.audit_failed',
      data: { scope, mismatches: 1, first: mismatches[0] },
    });
  });

  it('reports the charges of jobs that do not exist, until they are refunded', async () => {
    const accountId = await account();
    await audit('whole');
    const charge = jobCharge(accountId, HOUR_MS);
    await running.poster.post([charge]);
    expect(await audit(scope)).toMatchObject({
      ok: false,
      mismatches: [
        `Request ${charge.requestId} of account customer:${accountId} cost 5 nano-USD and 0 nano-DIEM for media, but its job does not exist. Refund it.`,
      ],
    });
    await running.books.refund({ accountId, requestId: charge.requestId, reference: 'lost' });
    expect(await audit(scope)).toMatchObject({ ok: true });
  });

  it('finds nothing wrong with charges of jobs that exist, cost nothing, or may have been deleted since', async () => {
    const accountId = await account();
    const [there, gone, free] = [
      jobCharge(accountId, HOUR_MS),
      jobCharge(accountId, 14 * HOUR_MS),
      jobCharge(accountId, HOUR_MS),
    ];
    await running.poster.post([there, gone, emptyCharge(free)]);
    await running.database.query(
      `INSERT INTO media.jobs (id, request_id, account_id, key_id, kind, model, state, body_sha256, expected_ms, created_at,
         deadline_at, expires_at, next_step_at)
       VALUES ($1, $2, $3, 'k', 'video', 'clip', 'held', 'h', 1, now(), now(), now(), now())`,
      [randomUUID(), there.requestId, accountId],
    );
    expect(await audit(scope)).toMatchObject({ ok: true });
  });
});

describe('an audit of new entries', () => {
  it('covers the whole book if there was no audit before', async () => {
    const accountId = await account();
    await running.poster.post([chargeOf(accountId, 5n)]);
    const report = await audit('new');
    expect(report).toMatchObject({ ok: true, scope: 'whole', transfers: 2, charges: 1 });
    expect(report.since).toBeUndefined();
  });

  it('covers what was added since the last audit of either scope, and reports since when', async () => {
    const accountId = await account();
    await running.poster.post([chargeOf(accountId, 5n)]);
    await audit('whole');
    await running.poster.post([chargeOf(accountId, 6n), chargeOf(accountId, 7n)]);
    const first = await audit('new');
    expect(first).toMatchObject({ ok: true, scope: 'new', accounts: 1, transfers: 2, charges: 2 });
    await running.poster.post([chargeOf(accountId, 8n)]);
    const second = await audit('new');
    expect(second).toMatchObject({ ok: true, transfers: 1, charges: 1 });
    expect(second.since?.getTime()).toBeGreaterThan(first.since?.getTime() ?? Infinity);
    await expect(audit('new')).resolves.toMatchObject({ ok: true, transfers: 0, charges: 0, accounts: 1 });
  });

  it('covers entries again after an audit that found a mismatch', async () => {
    const accountId = await account();
    await audit('whole');
    await running.poster.post([chargeOf(accountId, 5n)]);
    await rejectCharge();
    await expect(audit('new')).resolves.toMatchObject({ ok: false, charges: 1 });
    await expect(audit('whole')).resolves.toMatchObject({ ok: false });
    await running.database.query('DELETE FROM ledger.rejected_charges');
    await expect(audit('new')).resolves.toMatchObject({ ok: true, charges: 1 });
  });

  it('covers all kinds of transfers, and charges with any timestamp', async () => {
    const accountId = await account();
    await audit('whole');
    await grantDiem(running.database, accountId, usd(1));
    const charge = chargeOf(accountId, 0n, { cost: { usdNano: 3n, diemNano: 4n }, writeOffNano: 2n });
    await running.poster.post([charge, chargeOf(accountId, 9n, { at: '2024-02-29T23:59:59.999Z' })]);
    await running.books.refund({ accountId, requestId: charge.requestId, reference: 'r' });
    await expect(audit('new')).resolves.toMatchObject({ ok: true, mismatches: [], transfers: 7, charges: 2 });
    await expect(audit('whole')).resolves.toMatchObject({ ok: true, mismatches: [], transfers: 8 });
  });
});

/** Opens a transaction that writes to the books like any other, and leaves it uncommitted. */
async function openWriter(accountId: string): Promise<{ commit: () => Promise<void> }> {
  const begun = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const transaction = running.database.transaction(async (client) => {
    await lockAccounts(client, new Set([accountId]));
    await client.query(
      `WITH transfer AS (
         INSERT INTO ledger.transfers (at, account_id, kind, debit_account, credit_account, currency, amount_nano, reference)
         VALUES (now(), $1::uuid, 'credit', 'deposits:operator', 'customer:' || $1::uuid, 'USD', 5, 'late') RETURNING *
       ), reference AS (
         INSERT INTO ledger.transfer_references (account_id, kind, currency, reference, transfer_id, at)
         SELECT account_id, kind, currency, reference, id, at FROM transfer
       )
       UPDATE ledger.accounts SET usd_nano = usd_nano + 5, version = version + 1 WHERE id = $1::uuid`,
      [accountId],
    );
    begun.resolve();
    await gate.promise;
  });
  await Promise.race([begun.promise, transaction]);
  return {
    commit: async () => {
      gate.resolve();
      await transaction;
    },
  };
}

/** The process ids of sessions that wait for the exclusive books lock, or hold it. */
async function exclusiveBooksLocks(state: 'waiting' | 'held'): Promise<number[]> {
  const rows = await running.database.query<{ pid: number }>(
    `SELECT pid FROM pg_locks JOIN pg_stat_activity USING (pid)
     WHERE locktype = 'advisory' AND mode = 'ExclusiveLock' AND granted = $1 AND datname = current_database()
       AND (classid::bigint << 32 | objid::bigint) = ${BOOKS_LOCK}`,
    [state === 'held'],
  );
  return rows.map(({ pid }) => pid);
}

/** Suspends the server process of an audit that waits for the books lock, and returns its process id. */
async function stopWaitingAudit(): Promise<number> {
  for (;;) {
    const [pid] = await exclusiveBooksLocks('waiting');
    if (pid === undefined) continue;
    process.kill(pid, 'SIGSTOP');
    if ((await exclusiveBooksLocks('waiting')).includes(pid)) return pid;
    process.kill(pid, 'SIGCONT');
  }
}

describe('an audit beside open transactions', () => {
  it('waits for them, because their ids are lower than ids that are already visible', async () => {
    const [slow, quick] = [await account(), await account()];
    await audit('whole');
    const writer = await openWriter(slow);
    await running.poster.post([chargeOf(quick, 5n)]);
    const audited = audit('new');
    // Long enough for an audit that does not wait to finish.
    await sleep(300);
    await writer.commit();
    await expect(audited).resolves.toMatchObject({ ok: true, mismatches: [], transfers: 2, charges: 1 });
    await expect(audit('new')).resolves.toMatchObject({ ok: true, transfers: 0, charges: 0 });
  });

  it('leaves no lock behind when the lock is granted just as the wait times out', async () => {
    const [slow, quick] = [await account(), await account()];
    const writer = await openWriter(slow);
    const audited = audit('whole');
    const pid = await stopWaitingAudit();
    try {
      // When the process resumes, the timeout (800 ms at most) has passed and the lock is granted.
      await sleep(1_000);
      await writer.commit();
      expect(await exclusiveBooksLocks('held')).toEqual([pid]);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await expect(audited).resolves.toMatchObject({ ok: true, mismatches: [] });
    await expect.poll(() => exclusiveBooksLocks('held'), { timeout: 10_000 }).toEqual([]);
    await running.poster.post([chargeOf(quick, 5n)]);
  });

  it('does not wait for one that takes too long, and covers the same entries again next time', async () => {
    const [slow, quick] = [await account(), await account()];
    await audit('whole');
    const writer = await openWriter(slow);
    const over = new AbortController();
    const audited = audit('new').finally(() => over.abort());
    let posted = 0;
    while (!over.signal.aborted) {
      await running.poster.post([chargeOf(quick, 1n)]);
      posted += 1;
    }
    await expect(audited).resolves.toMatchObject({ ok: true, mismatches: [], scope: 'new' });
    expect(posted).toBeGreaterThan(1);
    await writer.commit();
    await expect(audit('new')).resolves.toMatchObject({ ok: true, mismatches: [], charges: posted });
  });
});

const STATEMENT_TIMED_OUT = '57014';

/**
 * Retries a read when a busy machine exceeds the statement timeout; the reference makes a change happen once.
 */
async function untilInTime<Result>(ask: () => Promise<Result>): Promise<Result> {
  for (;;)
    try {
      return await ask();
    } catch (error) {
      if ((error as { code?: string }).code !== STATEMENT_TIMED_OUT) throw error;
    }
}

/** Posts charges, credits and refunds of a few accounts in parallel, until stopped. */
function keepPosting(accountIds: readonly string[]): { stop: () => Promise<number> } {
  const over = new AbortController();
  let charges = 0;
  const loop = async (lane: number): Promise<void> => {
    for (let round = 0; !over.signal.aborted; round += 1) {
      const batch = Array.from({ length: 1 + ((round * 37) % 150) }, (_, index) =>
        chargeOf(accountIds[(lane + index * 7) % accountIds.length] ?? '', 0n, {
          cost: { usdNano: BigInt(index % 5), diemNano: BigInt(index % 3) },
          keyId: `key-${index % 4}`,
        }),
      );
      await running.poster.post(batch);
      charges += batch.length;
      const accountId = accountIds[(lane + round) % accountIds.length] ?? '';
      const reference = `${lane}-${round}`;
      await untilInTime(() => running.books.credit({ accountId, usdNano: 1n, reference }));
      const paid = batch.find(({ cost }) => cost.usdNano > 0n);
      if (paid)
        await untilInTime(() =>
          running.books.refund({ accountId: paid.accountId, requestId: paid.requestId, reference }),
        );
    }
  };
  const loops = Promise.all([0, 1, 2, 3].map(loop));
  return {
    stop: async () => {
      over.abort();
      await loops;
      return charges;
    },
  };
}

describe('audits while postings run', () => {
  it('give no false alarm and miss nothing, in either scope and also two at once', async () => {
    const accountIds = await Promise.all(Array.from({ length: 6 }, account));
    for (const accountId of accountIds) await grantDiem(running.database, accountId, usd(100));
    const first = await audit('whole');
    const posting = keepPosting(accountIds);
    const scopes: AuditScope[] = Array.from({ length: isLong ? 24 : 6 }, (_, index) =>
      index % 6 === 5 ? 'whole' : 'new',
    );
    const alone: AuditReport[] = [];
    try {
      for (const scope of scopes) alone.push(await audit(scope));
      const together = await Promise.all([audit('new'), audit('whole'), audit('new')]);
      for (const report of [...alone, ...together])
        expect(report).toMatchObject({
          ok: true,
          mismatches: [],
          imbalanceUsdNano: 0n,
          imbalanceDiemNano: 0n,
        });
    } finally {
      await posting.stop();
    }
    const charges = await posting.stop();
    const last = await audit('whole');
    expect(last).toMatchObject({ ok: true, mismatches: [], charges });
    // Consecutive audits of new entries cover each charge exactly once.
    let seen = first.charges;
    for (const { scope, charges: count } of alone.slice(0, 5)) {
      expect(scope).toBe('new');
      seen += count;
    }
    const wholes = alone.filter(({ scope }) => scope === 'whole');
    expect(wholes[0]?.charges).toBeGreaterThanOrEqual(seen);
    expect(seen).toBeGreaterThan(first.charges);
    expect(wholes.at(-1)?.charges).toBeLessThanOrEqual(charges);
  });
});
