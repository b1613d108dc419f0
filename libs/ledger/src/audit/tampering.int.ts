import { randomUUID } from 'node:crypto';
import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PoolClient } from 'pg';
import type { AuditReport, AuditScope } from '@svc/contracts/ports';
import { auditBooks } from './audit.store.js';
import { type RunningLedger, chargeOf, grantDiem, startLedger, usd } from '../../test/testing.js';

const FRED = '00000000-0000-4000-8000-00000000000f';

let test: TestDatabase;
let running: RunningLedger;

beforeAll(async () => {
  test = await startTestDatabase();
  running = await startLedger({ url: test.url });
  await running.books.credit({ accountId: FRED, usdNano: usd(1), reference: 'old' });
  await grantDiem(running.database, FRED, usd(1));
  await running.poster.post([chargeOf(FRED, 40n, { requestId: 'old' })]);
  await running.books.refund({ accountId: FRED, requestId: 'old', reference: 'old' });
  await running.books.audit('whole');
  // Everything below is new since that audit.
  await running.books.credit({ accountId: FRED, usdNano: usd(1), reference: 'start' });
  await running.poster.post([
    chargeOf(FRED, 0n, { requestId: 'first', cost: { usdNano: 300n, diemNano: 200n }, writeOffNano: 5n }),
    chargeOf(FRED, 70n, { requestId: 'second' }),
    chargeOf(FRED, 0n, { requestId: 'free' }),
  ]);
  const amount = { usdNano: 30n, diemNano: 20n };
  await running.books.refund({ accountId: FRED, requestId: 'first', reference: 'sorry', amount });
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
  )('rejects %s', async (sql) => {
    await expect(running.database.query(sql)).rejects.toThrow(/append-only/);
  });

  it.each([
    ['UPDATE ledger.transfer_references SET reference = reference'],
    ['DELETE FROM ledger.transfer_references'],
    ['TRUNCATE ledger.transfer_references'],
    ['UPDATE ledger.refunds SET reference = reference'],
    ['DELETE FROM ledger.refunds'],
    ['TRUNCATE ledger.refunds'],
    ['UPDATE ledger.audit_marks SET transfer_id = 0'],
    ['DELETE FROM ledger.audit_marks'],
    ['TRUNCATE ledger.audit_marks'],
    ['DELETE FROM ledger.accounts'],
    ['TRUNCATE ledger.accounts'],
  ])('rejects %s', async (sql) => {
    await expect(running.database.query(sql)).rejects.toThrow(/append-only/);
  });

  it.each([
    ['UPDATE ledger.accounts SET usd_nano = -1', /accounts_usd_not_negative/],
    ['UPDATE ledger.accounts SET diem_nano = -1', /accounts_diem_not_negative/],
  ])('rejects %s', async (sql, reason) => {
    await expect(running.database.query(sql)).rejects.toThrow(reason);
  });
});

/** Audits the books after changing them without triggers and checks, then restores them. */
async function auditAfter(scope: AuditScope, statements: readonly string[]): Promise<AuditReport> {
  class PutBack extends Error {}
  let report: AuditReport | undefined;
  const tamper = async (client: PoolClient): Promise<void> => {
    await client.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ');
    await client.query(`SET LOCAL session_replication_role = 'replica'`);
    for (const statement of statements) await client.query(statement);
    ({ report } = await auditBooks(client, scope));
    throw new PutBack();
  };
  await expect(running.database.transaction(tamper)).rejects.toBeInstanceOf(PutBack);
  if (!report) throw new Error('there was no audit');
  return report;
}

const JOE = randomUUID();

/** A refund in USD with its transfer, its reference and its effect on the balance. */
const refundOf = (requestId: string, usdNano: number): string[] => [
  `WITH transfer AS (
     INSERT INTO ledger.transfers (at, account_id, kind, debit_account, credit_account, currency, amount_nano, reference)
     VALUES (now(), '${FRED}', 'refund', 'revenue', 'customer:${FRED}', 'USD', ${usdNano}, 'much') RETURNING *
   ), reference AS (
     INSERT INTO ledger.transfer_references (account_id, kind, currency, reference, transfer_id, at)
     SELECT account_id, kind, currency, reference, id, at FROM transfer
   )
   INSERT INTO ledger.refunds (account_id, reference, request_id, usd_nano, diem_nano, at)
   SELECT account_id, reference, '${requestId}', amount_nano, 0, at FROM transfer`,
  `UPDATE ledger.accounts SET usd_nano = usd_nano + ${usdNano}`,
];

/** Name, statements, and a sentence of the report. All the changes are new since the last audit. */
const TAMPERINGS: readonly [string, string[], RegExp][] = [
  [
    'a raised balance',
    [`UPDATE ledger.accounts SET usd_nano = usd_nano + 1 WHERE id = '${FRED}'`],
    /Account customer:\S+ has \d+ nano-USD/,
  ],
  [
    'a balance from nowhere',
    [`INSERT INTO ledger.accounts (id, diem_nano) VALUES ('${JOE}', 5)`],
    /has 0 nano-USD and 5 nano-DIEM, but its transfers sum to 0 and 0/,
  ],
  ['a removed account', ['DELETE FROM ledger.accounts'], /but its transfers sum to/],
  [
    'money moved from one account to another',
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
    /Charge second is 60 in all, .* but its lines sum to 70,/,
  ],
  [
    'a removed transfer',
    [`DELETE FROM ledger.transfers WHERE reference = 'first' AND kind = 'write_off'`],
    /Charge first .*5 written off in 3 transfers, but its transfers are .* 0 in 2/,
  ],
  [
    'a debt from nowhere',
    [`UPDATE ledger.accounts SET debt_nano = 1 WHERE id = '${FRED}'`],
    /Account customer:\S+ owes 1 nano-USD, but its transfers sum to 0/,
  ],
  [
    'a reversal of a deposit that never came',
    [
      `INSERT INTO ledger.transfers (at, account_id, kind, debit_account, credit_account, currency, amount_nano, reference)
         VALUES (now(), '${FRED}', 'reversal', 'customer:${FRED}', 'deposits:base', 'USD', 9, 'never')`,
      `UPDATE ledger.accounts SET usd_nano = usd_nano - 9`,
    ],
    /Reversal never of account \S+ takes 9 nano-USD back, and there is no such credit/,
  ],
  [
    'an invented transfer',
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
    /Transfer \d+ of kind charge moves USD from customer:\S+ to customer:\S+/,
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
  ['a removed charge', [`DELETE FROM ledger.charges WHERE request_id = 'second'`], /Charge second/],
  [
    'a charge removed with its transfer',
    [
      `DELETE FROM ledger.charges WHERE request_id = 'second'`,
      `DELETE FROM ledger.transfers WHERE reference = 'second'`,
      `UPDATE ledger.accounts SET usd_nano = usd_nano + 70`,
    ],
    /Charge second is 0 in all, .* but its lines sum to 70,/,
  ],
  [
    'a charge on another account',
    [`UPDATE ledger.charges SET account_id = '${JOE}' WHERE request_id = 'second'`],
    /Charge second of account/,
  ],
  [
    'a request charged twice',
    [
      `INSERT INTO ledger.charges SELECT request_id, at + interval '1 ms', account_id, key_id, model, backend,
           prompt_tokens, completion_tokens, cached_tokens, cache_write_tokens, reasoning_tokens, usd_nano,
           diem_nano, write_off_nano, duration_ms
         FROM ledger.charges WHERE request_id = 'free'`,
    ],
    /Request free is charged 2 times/,
  ],
  [
    'a request charged again, long after',
    [
      `INSERT INTO ledger.charges SELECT request_id, at + interval '1 ms', account_id, key_id, model, backend,
           prompt_tokens, completion_tokens, cached_tokens, cache_write_tokens, reasoning_tokens, usd_nano,
           diem_nano, write_off_nano, duration_ms
         FROM ledger.charges WHERE request_id = 'old'`,
    ],
    /Request old is charged 2 times/,
  ],
  [
    'a changed line',
    [`UPDATE ledger.charge_lines SET amount_nano = amount_nano + 1 WHERE request_id = 'second'`],
    /Charge second is 70 in all, .* but its lines sum to 71,/,
  ],
  [
    'removed lines',
    [`DELETE FROM ledger.charge_lines WHERE request_id = 'second'`],
    /Charge second is 70 in all, .* but its lines sum to 0,/,
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
    'an invented credit',
    [
      `INSERT INTO ledger.transfers (at, account_id, kind, debit_account, credit_account, currency, amount_nano, reference)
         VALUES (now(), '${FRED}', 'credit', 'deposits:operator', 'customer:${FRED}', 'USD', 9, 'gift')`,
      `UPDATE ledger.accounts SET usd_nano = usd_nano + 9`,
    ],
    /of kind credit does not match its reference gift/,
  ],
  [
    'a line paid in another currency',
    [
      `UPDATE ledger.charge_lines SET usd_nano = usd_nano - 1, diem_nano = diem_nano + 1
         WHERE request_id = 'first'`,
    ],
    /Charge first is 505 in all, 300 .* but its lines sum to 505, 299 and 201/,
  ],
  [
    'a changed day',
    ['UPDATE ledger.usage_days SET usd_nano = usd_nano - 1'],
    /Day \S+ of account \S+, key key, .* has 80 units for 409 .* but its lines sum to 80, 410 and 200/,
  ],
  [
    'changed units of a day',
    ['UPDATE ledger.usage_days SET units = units + 1'],
    /has 81 units .* but its lines sum to 80,/,
  ],
  ['a removed day', ['DELETE FROM ledger.usage_days'], /Day .* has 0 units for 0/],
  [
    'a charge moved to another key',
    [`UPDATE ledger.charges SET key_id = 'other' WHERE request_id = 'second'`],
    /key other, .* has 0 units for 0 .* but its lines sum to \d+, 70 and 0/,
  ],
  [
    'a removed refund',
    [`DELETE FROM ledger.refunds WHERE reference = 'sorry'`],
    /Refund sorry of account \S+ is 0 nano-USD and 0 nano-DIEM, but its transfers are 30 and 20/,
  ],
  [
    'an invented refund',
    [
      `INSERT INTO ledger.refunds (account_id, reference, request_id, usd_nano, diem_nano, at)
         VALUES ('${FRED}', 'gift', 'second', 1, 0, now())`,
    ],
    /Refund gift .* is 1 nano-USD and 0 nano-DIEM, but its transfers are 0 and 0/,
  ],
  [
    'a removed transfer of a refund',
    [
      `DELETE FROM ledger.transfers WHERE reference = 'sorry' AND currency = 'DIEM'`,
      `DELETE FROM ledger.transfer_references WHERE reference = 'sorry' AND currency = 'DIEM'`,
      'UPDATE ledger.accounts SET diem_nano = diem_nano - 20',
    ],
    /Refund sorry .* but its transfers are 30 and 0/,
  ],
  [
    'a refund beyond the charge, with everything related to it',
    refundOf('second', 71),
    /Request second of account \S+ was refunded 71 nano-USD and 0 nano-DIEM, but it cost 70 and 0/,
  ],
  [
    'refunds that together exceed an old charge',
    refundOf('old', 1),
    /Request old .* was refunded 41 nano-USD/,
  ],
  [
    'a refund of a request that was not charged',
    refundOf('none', 5),
    /Request none .* was refunded 5 .* but it cost 0/,
  ],
  [
    'DIEM that would never expire',
    ['DELETE FROM ledger.stakes'],
    /Account customer:\S+ has \d+ nano-DIEM and no stake/,
  ],
  [
    'a grant of USD',
    [
      `WITH transfer AS (
           INSERT INTO ledger.transfers (at, account_id, kind, debit_account, credit_account, currency, amount_nano, reference)
           VALUES (now(), '${FRED}', 'grant', 'staking', 'customer:${FRED}', 'USD', 9, 'day') RETURNING *
         )
         INSERT INTO ledger.transfer_references (account_id, kind, currency, reference, transfer_id, at)
         SELECT account_id, kind, currency, reference, id, at FROM transfer`,
      'UPDATE ledger.accounts SET usd_nano = usd_nano + 9',
    ],
    /of kind grant moves USD/,
  ],
  [
    'a rejected charge',
    [`INSERT INTO ledger.rejected_charges (digest, reason, event) VALUES ('d', 'it is odd', '{}')`],
    /A charge was not posted, because it is odd/,
  ],
];

describe.each<AuditScope>(['whole', 'new'])('the audit of scope %s', (scope) => {
  it('finds nothing if the books are intact', async () => {
    const charges = scope === 'whole' ? 4 : 3;
    await expect(auditAfter(scope, [])).resolves.toMatchObject({ ok: true, scope, mismatches: [], charges });
  });

  it.each(TAMPERINGS)('finds %s', async (_name, statements, sentence) => {
    const report = await auditAfter(scope, statements);
    expect(report.ok).toBe(false);
    expect(report.mismatches).toEqual(expect.arrayContaining([expect.stringMatching(sentence)]));
  });

  it('reports the imbalance of each currency', async () => {
    const statements = ['UPDATE ledger.accounts SET usd_nano = usd_nano + 3, diem_nano = diem_nano - 4'];
    await expect(auditAfter(scope, statements)).resolves.toMatchObject({
      imbalanceUsdNano: 3n,
      imbalanceDiemNano: -4n,
    });
  });

  it('lists at most 100 mismatches', async () => {
    const report = await auditAfter(scope, [
      'INSERT INTO ledger.accounts (id, usd_nano) SELECT gen_random_uuid(), 1 FROM generate_series(1, 500)',
    ]);
    expect(report.mismatches).toHaveLength(100);
    expect(report.mismatches.at(-1)).toMatch(/further mismatches/);
  });
});

describe('tampering with entries that an audit has already proved', () => {
  it.each<[string, string[], RegExp]>([
    [
      'a charge that was removed with everything related to it',
      [
        `DELETE FROM ledger.transfers WHERE reference = 'old' AND kind IN ('charge', 'refund')`,
        `DELETE FROM ledger.transfer_references WHERE reference = 'old' AND kind = 'refund'`,
        `DELETE FROM ledger.refunds WHERE reference = 'old'`,
        `DELETE FROM ledger.charge_lines WHERE request_id = 'old'`,
        `DELETE FROM ledger.charges WHERE request_id = 'old'`,
        'UPDATE ledger.usage_days SET units = units - 20, usd_nano = usd_nano - 40',
        'UPDATE ledger.audit_usage_days SET units = units - 20, usd_nano = usd_nano - 40',
      ],
      /The last audit saw 1 charges; of those ids there are 0/,
    ],
    [
      'a changed old line',
      [`UPDATE ledger.charge_lines SET amount_nano = 41 WHERE request_id = 'old'`],
      /Charge old is 40 in all, .* but its lines sum to 41/,
    ],
    [
      'a removed old reference',
      [`DELETE FROM ledger.transfer_references WHERE reference = 'old' AND kind = 'credit'`],
      /of kind credit does not match its reference old/,
    ],
  ])('is found only by the audit of the whole book: %s', async (_name, statements, sentence) => {
    const report = await auditAfter('whole', statements);
    expect(report.ok).toBe(false);
    expect(report.mismatches).toEqual(expect.arrayContaining([expect.stringMatching(sentence)]));
    await expect(auditAfter('new', statements)).resolves.toMatchObject({ ok: true });
  });
});
