import assert from 'node:assert/strict';
import type { AuditReport } from '@svc/contracts';
import type { PoolClient, QueryConfig, QueryResultRow } from 'pg';

/** Mismatches that are listed; the books are wrong after the first. */
const MAX_MISMATCHES = 100;
/** A whole audit of a million charges takes seconds. */
const STATEMENT_MS = 300_000;

/** Each finds what does not add up in one regard, as sentences. */
const CHECKS: readonly string[] = [
  // Every balance equals the transfers of its account and is not below zero.
  `WITH movement AS (
     SELECT credit_account AS account, currency, amount_nano AS nano FROM ledger.transfers
     UNION ALL
     SELECT debit_account, currency, -amount_nano FROM ledger.transfers
   ), moved AS (
     SELECT account, coalesce(sum(nano) FILTER (WHERE currency = 'USD'), 0) AS usd_nano,
       coalesce(sum(nano) FILTER (WHERE currency = 'DIEM'), 0) AS diem_nano
     FROM movement WHERE account LIKE 'customer:%' GROUP BY account
   ), posted AS (
     SELECT 'customer:' || id AS account, usd_nano, diem_nano FROM ledger.accounts
   )
   SELECT format('Account %s has %s nano-USD and %s nano-DIEM, but its transfers sum to %s and %s.', account,
     coalesce(posted.usd_nano, 0), coalesce(posted.diem_nano, 0),
     coalesce(moved.usd_nano, 0), coalesce(moved.diem_nano, 0)) AS mismatch
   FROM posted FULL JOIN moved USING (account)
   WHERE coalesce(posted.usd_nano, 0) <> coalesce(moved.usd_nano, 0)
     OR coalesce(posted.diem_nano, 0) <> coalesce(moved.diem_nano, 0)
     OR posted.usd_nano < 0 OR posted.diem_nano < 0`,

  // Every transfer moves money between the accounts that its kind says.
  `SELECT format('Transfer %s of kind %s goes from %s to %s and is in the history of %s.', id, kind, debit_account,
     credit_account, account_id) AS mismatch
   FROM ledger.transfers
   WHERE (
     CASE kind
       WHEN 'charge' THEN debit_account = 'customer:' || account_id AND credit_account = 'revenue'
       WHEN 'write_off' THEN debit_account = 'write_offs' AND credit_account = 'revenue'
       WHEN 'credit' THEN debit_account LIKE 'deposits:%' AND credit_account = 'customer:' || account_id
       WHEN 'deposit' THEN debit_account LIKE 'deposits:%' AND credit_account = 'customer:' || account_id
       WHEN 'refund' THEN debit_account = 'revenue' AND credit_account = 'customer:' || account_id
       WHEN 'grant' THEN debit_account = 'staking' AND credit_account = 'customer:' || account_id
       WHEN 'expiry' THEN debit_account = 'customer:' || account_id AND credit_account = 'staking'
       ELSE false
     END
   ) IS NOT TRUE`,

  // Every charge has exactly its transfers, and every transfer of a charge its charge.
  `WITH moved AS (
     SELECT reference AS request_id, at, account_id,
       coalesce(sum(amount_nano) FILTER (WHERE kind = 'charge' AND currency = 'USD'), 0) AS usd_nano,
       coalesce(sum(amount_nano) FILTER (WHERE kind = 'charge' AND currency = 'DIEM'), 0) AS diem_nano,
       coalesce(sum(amount_nano) FILTER (WHERE kind = 'write_off'), 0) AS write_off_nano,
       count(*) AS transfers
     FROM ledger.transfers WHERE kind IN ('charge', 'write_off')
     GROUP BY reference, at, account_id
   ), charged AS (
     SELECT request_id, at, account_id, usd_nano, diem_nano, write_off_nano,
       (usd_nano > 0)::INT + (diem_nano > 0)::INT + (write_off_nano > 0)::INT AS transfers
     FROM ledger.charges
   )
   SELECT format('Charge %s of account %s is %s nano-USD, %s nano-DIEM and %s written off in %s transfers, but its transfers are %s, %s and %s in %s.',
     request_id, account_id, coalesce(charged.usd_nano, 0), coalesce(charged.diem_nano, 0),
     coalesce(charged.write_off_nano, 0), coalesce(charged.transfers, 0), coalesce(moved.usd_nano, 0),
     coalesce(moved.diem_nano, 0), coalesce(moved.write_off_nano, 0), coalesce(moved.transfers, 0)) AS mismatch
   FROM charged FULL JOIN moved USING (request_id, at, account_id)
   WHERE coalesce(charged.usd_nano, 0) <> coalesce(moved.usd_nano, 0)
     OR coalesce(charged.diem_nano, 0) <> coalesce(moved.diem_nano, 0)
     OR coalesce(charged.write_off_nano, 0) <> coalesce(moved.write_off_nano, 0)
     OR coalesce(charged.transfers, 0) <> coalesce(moved.transfers, 0)`,

  // The lines of every charge sum to what it costs.
  `WITH lines AS (
     SELECT request_id, at, sum(amount_nano) AS nano FROM ledger.charge_lines GROUP BY request_id, at
   ), charged AS (
     SELECT request_id, at, usd_nano + diem_nano + write_off_nano AS nano FROM ledger.charges
   )
   SELECT format('Charge %s is %s in all, but its lines sum to %s.', request_id,
     coalesce(charged.nano, 0), coalesce(lines.nano, 0)) AS mismatch
   FROM charged FULL JOIN lines USING (request_id, at)
   WHERE coalesce(charged.nano, 0) <> coalesce(lines.nano, 0) OR charged.request_id IS NULL`,

  // A request is charged once.
  `SELECT format('Request %s is charged %s times.', request_id, count(*)) AS mismatch
   FROM ledger.charges GROUP BY request_id HAVING count(*) > 1`,

  // What an operator or a schedule caused has its reference, and every reference its transfer.
  `WITH moved AS (
     SELECT id AS transfer_id, at, account_id, kind, reference FROM ledger.transfers
     WHERE kind NOT IN ('charge', 'write_off')
   )
   SELECT format('Transfer %s of kind %s does not match its reference %s.', transfer_id, kind, reference) AS mismatch
   FROM moved FULL JOIN (SELECT *, true AS known FROM ledger.transfer_references) known
     USING (transfer_id, at, account_id, kind, reference)
   WHERE known.known IS NULL OR moved.transfer_id IS NULL`,

  // Nothing that was recorded is set aside.
  `SELECT format('A charge was not posted, because %s. Its digest is %s.', reason, digest) AS mismatch
   FROM ledger.rejected_charges`,
];

const TOTALS = `
  WITH internal AS (
    SELECT currency,
      coalesce(sum(amount_nano) FILTER (WHERE credit_account NOT LIKE 'customer:%'), 0)
        - coalesce(sum(amount_nano) FILTER (WHERE debit_account NOT LIKE 'customer:%'), 0) AS nano
    FROM ledger.transfers GROUP BY currency
  ), customers AS (
    SELECT count(*) AS accounts, coalesce(sum(usd_nano), 0) AS usd_nano, coalesce(sum(diem_nano), 0) AS diem_nano
    FROM ledger.accounts
  )
  SELECT accounts, (SELECT count(*) FROM ledger.transfers) AS transfers,
    (SELECT count(*) FROM ledger.charges) AS charges,
    usd_nano + coalesce((SELECT nano FROM internal WHERE currency = 'USD'), 0) AS imbalance_usd,
    diem_nano + coalesce((SELECT nano FROM internal WHERE currency = 'DIEM'), 0) AS imbalance_diem
  FROM customers`;

interface TotalsRow {
  readonly accounts: bigint;
  readonly transfers: bigint;
  readonly charges: bigint;
  readonly imbalance_usd: string;
  readonly imbalance_diem: string;
}

/** Proves the whole book as it is at one moment. To be run first in a transaction. */
export async function auditBooks(client: PoolClient): Promise<AuditReport> {
  await client.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
  await client.query(`SET LOCAL statement_timeout = ${STATEMENT_MS}`);
  await client.query(`SET LOCAL work_mem = '64MB'`);
  const [totals] = await select<TotalsRow>(client, TOTALS);
  assert(totals, 'totals are one row');
  const mismatches: string[] = [];
  for (const check of CHECKS) {
    const rows = await select<{ mismatch: string }>(client, `${check} LIMIT ${MAX_MISMATCHES + 1}`);
    for (const { mismatch } of rows) mismatches.push(mismatch);
  }
  const imbalanceUsdNano = BigInt(totals.imbalance_usd);
  const imbalanceDiemNano = BigInt(totals.imbalance_diem);
  return {
    ok: mismatches.length === 0 && imbalanceUsdNano === 0n && imbalanceDiemNano === 0n,
    accounts: Number(totals.accounts),
    transfers: Number(totals.transfers),
    charges: Number(totals.charges),
    imbalanceUsdNano,
    imbalanceDiemNano,
    mismatches: bounded(mismatches),
  };
}

async function select<Row extends QueryResultRow>(client: PoolClient, text: string): Promise<Row[]> {
  // The client would give up earlier than the server.
  const query: QueryConfig & { query_timeout: number } = { text, query_timeout: STATEMENT_MS };
  const { rows } = await client.query<Row>(query);
  return rows;
}

function bounded(mismatches: readonly string[]): string[] {
  if (mismatches.length <= MAX_MISMATCHES) return [...mismatches];
  return [...mismatches.slice(0, MAX_MISMATCHES - 1), 'There are further mismatches, which are not listed.'];
}
