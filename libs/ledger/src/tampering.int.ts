import { randomUUID } from 'node:crypto';
import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PoolClient } from 'pg';
import { auditBooks } from './audit.store.js';
import { type RunningLedger, chargeOf, grantDiem, startLedger, usd } from './testing.js';

const FRED = '00000000-0000-4000-8000-00000000000f';

let test: TestDatabase;
let running: RunningLedger;

beforeAll(async () => {
  test = await startTestDatabase();
  running = await startLedger({ url: test.url });
  await running.books.credit({ accountId: FRED, usdNano: usd(1), reference: 'start' });
  await grantDiem(running.database, FRED, usd(1));
  await running.poster.post([
    chargeOf(FRED, 0n, { requestId: 'first', cost: { usdNano: 300n, diemNano: 200n }, writeOffNano: 5n }),
    chargeOf(FRED, 70n, { requestId: 'second' }),
    chargeOf(FRED, 0n, { requestId: 'free' }),
  ]);
});

afterAll(async () => {
  await running.stop();
  await test.stop();
});

describe('the books are append-only', () => {
  const month = new Date().toISOString().slice(0, 7).replace('-', '_');

  it.each(
    ['transfers', 'charges', 'charge_lines'].flatMap((table) =>
      [table, `${table}_${month}`].flatMap((name) => [
        [`UPDATE ledger.${name} SET at = at`],
        [`DELETE FROM ledger.${name}`],
        [`TRUNCATE ledger.${name}`],
      ]),
    ),
  )('%s is refused', async (sql) => {
    await expect(running.database.query(sql)).rejects.toThrow(/append-only/);
  });

  it.each([
    ['UPDATE ledger.transfer_references SET reference = reference'],
    ['DELETE FROM ledger.transfer_references'],
    ['TRUNCATE ledger.transfer_references'],
    ['DELETE FROM ledger.accounts'],
    ['TRUNCATE ledger.accounts'],
  ])('%s is refused', async (sql) => {
    await expect(running.database.query(sql)).rejects.toThrow(/append-only/);
  });

  it.each([
    ['UPDATE ledger.accounts SET usd_nano = -1', /accounts_usd_not_negative/],
    ['UPDATE ledger.accounts SET diem_nano = -1', /accounts_diem_not_negative/],
  ])('%s is refused', async (sql, reason) => {
    await expect(running.database.query(sql)).rejects.toThrow(reason);
  });
});

/** The audit of books that were changed without triggers, and were put back after. */
async function auditAfter(statements: readonly string[]) {
  class PutBack extends Error {}
  let report: Awaited<ReturnType<typeof auditBooks>> | undefined;
  const tamper = async (client: PoolClient): Promise<void> => {
    await client.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ');
    await client.query(`SET LOCAL session_replication_role = 'replica'`);
    for (const statement of statements) await client.query(statement);
    report = await auditBooks(client);
    throw new PutBack();
  };
  await expect(running.database.transaction(tamper)).rejects.toBeInstanceOf(PutBack);
  return report;
}

const JOE = randomUUID();

describe('the audit', () => {
  it('finds nothing in books that nobody tampered with', async () => {
    await expect(auditAfter([])).resolves.toMatchObject({ ok: true, mismatches: [], charges: 3 });
  });

  it.each<[string, string[], RegExp]>([
    [
      'a balance that was raised',
      [`UPDATE ledger.accounts SET usd_nano = usd_nano + 1 WHERE id = '${FRED}'`],
      /Account customer:\S+ has \d+ nano-USD/,
    ],
    [
      'a balance from nowhere',
      [`INSERT INTO ledger.accounts (id, diem_nano) VALUES ('${JOE}', 5)`],
      /has 0 nano-USD and 5 nano-DIEM, but its transfers sum to 0 and 0/,
    ],
    ['an account that was removed', ['DELETE FROM ledger.accounts'], /but its transfers sum to/],
    [
      'money that was moved from one account to another',
      [
        `INSERT INTO ledger.accounts (id, usd_nano) VALUES ('${JOE}', 10)`,
        `UPDATE ledger.accounts SET usd_nano = usd_nano - 10 WHERE id = '${FRED}'`,
      ],
      /but its transfers sum to/,
    ],
    [
      'a transfer whose amount was changed, with the balance to match',
      [
        `UPDATE ledger.transfers SET amount_nano = 60 WHERE reference = 'second'`,
        `UPDATE ledger.accounts SET usd_nano = usd_nano + 10`,
      ],
      /Charge second .* but its transfers are 60/,
    ],
    [
      'a transfer and a charge that were changed, with the balance to match',
      [
        `UPDATE ledger.transfers SET amount_nano = 60 WHERE reference = 'second'`,
        `UPDATE ledger.charges SET usd_nano = 60 WHERE request_id = 'second'`,
        `UPDATE ledger.accounts SET usd_nano = usd_nano + 10`,
      ],
      /Charge second is 60 in all, but its lines sum to 70/,
    ],
    [
      'a transfer that was removed',
      [`DELETE FROM ledger.transfers WHERE reference = 'first' AND kind = 'write_off'`],
      /Charge first .*5 written off in 3 transfers, but its transfers are .* 0 in 2/,
    ],
    [
      'a transfer that was made up',
      [
        `INSERT INTO ledger.transfers (at, account_id, kind, debit_account, credit_account, currency, amount_nano, reference)
         VALUES (now(), '${FRED}', 'charge', 'customer:${FRED}', 'revenue', 'USD', 9, 'third')`,
        `UPDATE ledger.accounts SET usd_nano = usd_nano - 9`,
      ],
      /Charge third .* is 0 nano-USD.*but its transfers are 9/,
    ],
    [
      'a transfer to the wrong account',
      [`UPDATE ledger.transfers SET credit_account = 'customer:${JOE}' WHERE reference = 'second'`],
      /Transfer \d+ of kind charge goes from customer:\S+ to customer:\S+/,
    ],
    [
      'a transfer in the wrong history',
      [`UPDATE ledger.transfers SET account_id = '${JOE}' WHERE kind = 'write_off'`],
      /of kind write_off|Charge first of account/,
    ],
    [
      'a transfer of the wrong currency',
      [`UPDATE ledger.transfers SET currency = 'DIEM' WHERE reference = 'second'`],
      /Charge second/,
    ],
    [
      'a charge that was removed',
      [`DELETE FROM ledger.charges WHERE request_id = 'second'`],
      /Charge second/,
    ],
    [
      'a charge that was removed with its transfer',
      [
        `DELETE FROM ledger.charges WHERE request_id = 'second'`,
        `DELETE FROM ledger.transfers WHERE reference = 'second'`,
        `UPDATE ledger.accounts SET usd_nano = usd_nano + 70`,
      ],
      /Charge second is 0 in all, but its lines sum to 70/,
    ],
    [
      'a charge on another account',
      [`UPDATE ledger.charges SET account_id = '${JOE}' WHERE request_id = 'second'`],
      /Charge second of account/,
    ],
    [
      'a request that was charged twice',
      [
        `INSERT INTO ledger.charges SELECT request_id, at + interval '1 ms', account_id, key_id, model, backend,
           prompt_tokens, completion_tokens, cached_tokens, cache_write_tokens, reasoning_tokens, usd_nano,
           diem_nano, write_off_nano, duration_ms
         FROM ledger.charges WHERE request_id = 'free'`,
      ],
      /Request free is charged 2 times/,
    ],
    [
      'a line that was changed',
      [`UPDATE ledger.charge_lines SET amount_nano = amount_nano + 1 WHERE request_id = 'second'`],
      /Charge second is 70 in all, but its lines sum to 71/,
    ],
    [
      'lines that were removed',
      [`DELETE FROM ledger.charge_lines WHERE request_id = 'second'`],
      /Charge second is 70 in all, but its lines sum to 0/,
    ],
    [
      'a credit without its reference',
      [`DELETE FROM ledger.transfer_references WHERE kind = 'credit'`],
      /Transfer \d+ of kind credit does not match its reference start/,
    ],
    [
      'a reference without its transfer',
      [`UPDATE ledger.transfer_references SET transfer_id = transfer_id + 1000 WHERE kind = 'credit'`],
      /of kind credit does not match/,
    ],
    [
      'a credit that was made up',
      [
        `INSERT INTO ledger.transfers (at, account_id, kind, debit_account, credit_account, currency, amount_nano, reference)
         VALUES (now(), '${FRED}', 'credit', 'deposits:operator', 'customer:${FRED}', 'USD', 9, 'gift')`,
        `UPDATE ledger.accounts SET usd_nano = usd_nano + 9`,
      ],
      /of kind credit does not match its reference gift/,
    ],
  ])('finds %s', async (_name, statements, sentence) => {
    const report = await auditAfter(statements);
    expect(report?.ok).toBe(false);
    expect(report?.mismatches).toEqual(expect.arrayContaining([expect.stringMatching(sentence)]));
  });

  it('tells the imbalance of each currency', async () => {
    const statements = ['UPDATE ledger.accounts SET usd_nano = usd_nano + 3, diem_nano = diem_nano - 4'];
    await expect(auditAfter(statements)).resolves.toMatchObject({
      imbalanceUsdNano: 3n,
      imbalanceDiemNano: -4n,
    });
  });

  it('lists a hundred mismatches at most', async () => {
    const report = await auditAfter([
      'INSERT INTO ledger.accounts (id, usd_nano) SELECT gen_random_uuid(), 1 FROM generate_series(1, 500)',
    ]);
    expect(report?.mismatches).toHaveLength(100);
    expect(report?.mismatches.at(-1)).toMatch(/further mismatches/);
  });
});
