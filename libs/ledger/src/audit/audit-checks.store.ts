import { MEDIA_JOBS_BACKEND } from '@svc/contracts/messages';
import { TRANSFER_KINDS, type TransferKind } from '@svc/contracts/ports';

/** The last ids that an audit saw, and when it ran. */
export interface Watermarks {
  readonly at: Date;
  readonly transferId: bigint;
  readonly chargeId: bigint;
  readonly refundId: bigint;
}

/** What the checks read, as SQL: whole tables, or the rows after a mark. */
export interface AuditedRows {
  readonly transfers: string;
  readonly charges: string;
  readonly lines: string;
  readonly refunds: string;
  readonly references: string;
  /** The balances that the transfers add to. */
  readonly balances: string;
  /** The daily sums that the lines add to. */
  readonly days: string;
  /** The daily sums that are checked. */
  readonly knownDays: string;
  /** Whether days without lines are checked too. */
  readonly everyDay: boolean;
}

/** The whole book, starting from zero. */
export const WHOLE: AuditedRows = {
  transfers: 'ledger.transfers',
  charges: 'ledger.charges',
  lines: 'ledger.charge_lines',
  refunds: 'ledger.refunds',
  references: 'ledger.transfer_references',
  balances: '(SELECT * FROM ledger.audit_balances WHERE false)',
  days: '(SELECT * FROM ledger.audit_usage_days WHERE false)',
  knownDays: 'ledger.usage_days',
  everyDay: true,
};

/** Charges are rarely posted later than this after their timestamp. */
const POSTED_WITHIN_MS = 60_000;

/**
 * The rows after a mark. Lines have no id, so these are the lines of the new charges plus recent lines
 * without a charge.
 */
export function rowsSince({ at, transferId, chargeId, refundId }: Watermarks): AuditedRows {
  const charges = `(SELECT * FROM ledger.charges WHERE id > ${chargeId})`;
  const late = `'${new Date(at.getTime() - POSTED_WITHIN_MS).toISOString()}'::TIMESTAMPTZ`;
  return {
    transfers: `(SELECT * FROM ledger.transfers WHERE id > ${transferId})`,
    charges,
    lines: `(
      SELECT line.* FROM ${charges} AS fresh
      JOIN ledger.charge_lines AS line ON line.request_id = fresh.request_id AND line.at = fresh.at
      UNION ALL
      SELECT line.* FROM ledger.charge_lines AS line
      WHERE line.at >= ${late} AND NOT EXISTS (
        SELECT FROM ledger.charges AS charge
        WHERE charge.request_id = line.request_id AND charge.at = line.at AND charge.at >= ${late}
      )
    )`,
    refunds: `(SELECT * FROM ledger.refunds WHERE id > ${refundId})`,
    references: `(SELECT * FROM ledger.transfer_references WHERE transfer_id > ${transferId})`,
    balances: 'ledger.audit_balances',
    days: 'ledger.audit_usage_days',
    knownDays: 'ledger.usage_days',
    everyDay: false,
  };
}

/** SQL statements that each return the mismatches of one check, as sentences. */
export function checksOf(rows: AuditedRows): string[] {
  return [
    balanceCheck(rows),
    kindCheck(rows),
    chargeCheck(rows),
    lineCheck(rows),
    usageCheck(rows),
    rows.everyDay ? requestCheck(rows) : newRequestCheck(rows),
    referenceCheck(rows),
    refundCheck(rows),
    refundSumCheck(rows),
    reversalCheck(rows),
    debtCheck(rows),
    DIEM_EXPIRES,
    JOBS_EXIST,
    NOTHING_REJECTED,
  ];
}

/** The checks of charges that need no rows of other months. */
export function monthChecksOf(rows: AuditedRows): string[] {
  return [kindCheck(rows), chargeCheck(rows), lineCheck(rows), usageCheck(rows), requestCheck(rows)];
}

/** Every balance equals the sum of the account's transfers and is not negative. */
const balanceCheck = ({ transfers, balances }: AuditedRows): string => `
  WITH transfer AS NOT MATERIALIZED (SELECT * FROM ${transfers} AS transfer),
  movement AS (
    SELECT credit_account AS account, currency, amount_nano AS nano FROM transfer
    UNION ALL
    SELECT debit_account, currency, -amount_nano FROM transfer
  ), change AS (
    SELECT account, coalesce(sum(nano) FILTER (WHERE currency = 'USD'), 0) AS usd_nano,
      coalesce(sum(nano) FILTER (WHERE currency = 'DIEM'), 0) AS diem_nano
    FROM movement WHERE account LIKE 'customer:%' GROUP BY account
    UNION ALL
    SELECT 'customer:' || account_id, usd_nano, diem_nano FROM ${balances} AS balance
  ), moved AS (
    SELECT account, sum(usd_nano) AS usd_nano, sum(diem_nano) AS diem_nano FROM change GROUP BY account
  ), posted AS (
    SELECT 'customer:' || id AS account, usd_nano, diem_nano FROM ledger.accounts
  )
  SELECT format('Account %s has %s nano-USD and %s nano-DIEM, but its transfers sum to %s and %s.', account,
    coalesce(posted.usd_nano, 0), coalesce(posted.diem_nano, 0),
    coalesce(moved.usd_nano, 0), coalesce(moved.diem_nano, 0)) AS mismatch
  FROM posted FULL JOIN moved USING (account)
  WHERE coalesce(posted.usd_nano, 0) <> coalesce(moved.usd_nano, 0)
    OR coalesce(posted.diem_nano, 0) <> coalesce(moved.diem_nano, 0)
    OR posted.usd_nano < 0 OR posted.diem_nano < 0`;

/** The accounts and the currency of a transfer of each kind. */
const TERMS: Readonly<Record<TransferKind, string>> = {
  charge: `debit_account = 'customer:' || account_id AND credit_account = 'revenue'`,
  write_off: `debit_account = 'write_offs' AND credit_account = 'revenue' AND currency = 'USD'`,
  credit: `debit_account LIKE 'deposits:%' AND credit_account = 'customer:' || account_id AND currency = 'USD'`,
  deposit: `debit_account LIKE 'deposits:%' AND credit_account = 'customer:' || account_id AND currency = 'USD'`,
  refund: `debit_account = 'revenue' AND credit_account = 'customer:' || account_id`,
  reversal: `debit_account = 'customer:' || account_id AND credit_account LIKE 'deposits:%' AND currency = 'USD'`,
  debit: `debit_account = 'customer:' || account_id AND credit_account = 'deposits:operator' AND currency = 'USD'`,
  credit_reversal: `debit_account = 'customer:' || account_id AND credit_account = 'deposits:operator' AND currency = 'USD'`,
  debt: `debit_account = 'debts' AND credit_account = 'customer:' || account_id AND currency = 'USD'`,
  repayment: `debit_account = 'customer:' || account_id AND credit_account = 'debts' AND currency = 'USD'`,
  grant: `debit_account = 'staking' AND credit_account = 'customer:' || account_id AND currency = 'DIEM'`,
  expiry: `debit_account = 'customer:' || account_id AND credit_account = 'staking' AND currency = 'DIEM'`,
};

const TERMS_BY_KIND = TRANSFER_KINDS.map((kind) => `WHEN '${kind}' THEN ${TERMS[kind]}`).join('\n      ');

/** Every transfer moves the right currency between the accounts that its kind allows. */
const kindCheck = ({ transfers }: AuditedRows): string => `
  SELECT format('Transfer %s of kind %s moves %s from %s to %s and is in the history of %s.', id, kind, currency,
    debit_account, credit_account, account_id) AS mismatch
  FROM ${transfers} AS transfer
  WHERE (
    CASE kind
      ${TERMS_BY_KIND}
      ELSE false
    END
  ) IS NOT TRUE`;

/** Every charge has exactly its transfers, and every charge transfer has its charge. */
const chargeCheck = ({ transfers, charges }: AuditedRows): string => `
  WITH moved AS (
    SELECT reference AS request_id, at, account_id,
      coalesce(sum(amount_nano) FILTER (WHERE kind = 'charge' AND currency = 'USD'), 0) AS usd_nano,
      coalesce(sum(amount_nano) FILTER (WHERE kind = 'charge' AND currency = 'DIEM'), 0) AS diem_nano,
      coalesce(sum(amount_nano) FILTER (WHERE kind = 'write_off'), 0) AS write_off_nano,
      count(*) AS transfers
    FROM ${transfers} AS transfer WHERE kind IN ('charge', 'write_off')
    GROUP BY reference, at, account_id
  ), charged AS (
    SELECT request_id, at, account_id, usd_nano, diem_nano, write_off_nano,
      (usd_nano > 0)::INT + (diem_nano > 0)::INT + (write_off_nano > 0)::INT AS transfers
    FROM ${charges} AS charge
  )
  SELECT format('Charge %s of account %s is %s nano-USD, %s nano-DIEM and %s written off in %s transfers, but its transfers are %s, %s and %s in %s.',
    request_id, account_id, coalesce(charged.usd_nano, 0), coalesce(charged.diem_nano, 0),
    coalesce(charged.write_off_nano, 0), coalesce(charged.transfers, 0), coalesce(moved.usd_nano, 0),
    coalesce(moved.diem_nano, 0), coalesce(moved.write_off_nano, 0), coalesce(moved.transfers, 0)) AS mismatch
  FROM charged FULL JOIN moved USING (request_id, at, account_id)
  WHERE coalesce(charged.usd_nano, 0) <> coalesce(moved.usd_nano, 0)
    OR coalesce(charged.diem_nano, 0) <> coalesce(moved.diem_nano, 0)
    OR coalesce(charged.write_off_nano, 0) <> coalesce(moved.write_off_nano, 0)
    OR coalesce(charged.transfers, 0) <> coalesce(moved.transfers, 0)`;

/** The lines of every charge sum to its cost, and to what was paid in each currency. */
const lineCheck = ({ charges, lines }: AuditedRows): string => `
  WITH line AS (
    SELECT request_id, at, sum(amount_nano) AS nano, sum(usd_nano) AS usd_nano, sum(diem_nano) AS diem_nano
    FROM ${lines} AS line GROUP BY request_id, at
  ), charged AS (
    SELECT request_id, at, usd_nano + diem_nano + write_off_nano AS nano, usd_nano, diem_nano
    FROM ${charges} AS charge
  )
  SELECT format('Charge %s is %s in all, %s nano-USD and %s nano-DIEM of it paid, but its lines sum to %s, %s and %s.',
    request_id, coalesce(charged.nano, 0), coalesce(charged.usd_nano, 0), coalesce(charged.diem_nano, 0),
    coalesce(line.nano, 0), coalesce(line.usd_nano, 0), coalesce(line.diem_nano, 0)) AS mismatch
  FROM charged FULL JOIN line USING (request_id, at)
  WHERE coalesce(charged.nano, 0) <> coalesce(line.nano, 0)
    OR coalesce(charged.usd_nano, 0) <> coalesce(line.usd_nano, 0)
    OR coalesce(charged.diem_nano, 0) <> coalesce(line.diem_nano, 0)
    OR charged.request_id IS NULL`;

/** The sums of every day equal those of its lines. */
const usageCheck = ({ charges, lines, days, knownDays, everyDay }: AuditedRows): string => `
  WITH added AS (
    SELECT account_id, (at AT TIME ZONE 'UTC')::DATE AS day, key_id, model, sku, sum(line.units) AS units,
      sum(line.usd_nano) AS usd_nano, sum(line.diem_nano) AS diem_nano
    FROM ${charges} AS charge JOIN ${lines} AS line USING (request_id, at)
    GROUP BY 1, 2, 3, 4, 5
  ), summed AS (
    SELECT account_id, day, key_id, model, sku, added.units + coalesce(before.units, 0) AS units,
      added.usd_nano + coalesce(before.usd_nano, 0) AS usd_nano,
      added.diem_nano + coalesce(before.diem_nano, 0) AS diem_nano
    FROM added LEFT JOIN ${days} AS before USING (account_id, day, key_id, model, sku)
  )
  SELECT format('Day %s of account %s, key %s, model %s and sku %s has %s units for %s nano-USD and %s nano-DIEM, but its lines sum to %s, %s and %s.',
    day, account_id, key_id, model, sku, coalesce(known.units, 0), coalesce(known.usd_nano, 0),
    coalesce(known.diem_nano, 0), coalesce(summed.units, 0), coalesce(summed.usd_nano, 0),
    coalesce(summed.diem_nano, 0)) AS mismatch
  FROM summed ${everyDay ? 'FULL' : 'LEFT'} JOIN ${knownDays} AS known
    USING (account_id, day, key_id, model, sku)
  WHERE coalesce(known.units, 0) <> coalesce(summed.units, 0)
    OR coalesce(known.usd_nano, 0) <> coalesce(summed.usd_nano, 0)
    OR coalesce(known.diem_nano, 0) <> coalesce(summed.diem_nano, 0)`;

/** A request is charged once. */
const requestCheck = ({ charges }: AuditedRows): string => `
  SELECT format('Request %s is charged %s times.', request_id, count(*)) AS mismatch
  FROM ${charges} AS charge GROUP BY request_id HAVING count(*) > 1`;

/** No new charge is for a request that already has one. */
const newRequestCheck = ({ charges }: AuditedRows): string => `
  SELECT format('Request %s is charged %s times.', fresh.request_id, count(DISTINCT charge.at)) AS mismatch
  FROM ${charges} AS fresh JOIN ledger.charges AS charge ON charge.request_id = fresh.request_id
  GROUP BY fresh.request_id HAVING count(DISTINCT charge.at) > 1`;

/** Every transfer caused by an operator or a schedule has its reference, and every reference its transfer. */
const referenceCheck = ({ transfers, references }: AuditedRows): string => `
  WITH moved AS (
    SELECT id AS transfer_id, at, account_id, kind, currency, reference FROM ${transfers} AS transfer
    WHERE kind NOT IN ('charge', 'write_off')
  )
  SELECT format('Transfer %s of kind %s does not match its reference %s.', transfer_id, kind, reference) AS mismatch
  FROM moved FULL JOIN (SELECT *, true AS known FROM ${references} AS reference) AS known
    USING (transfer_id, at, account_id, kind, currency, reference)
  WHERE known.known IS NULL OR moved.transfer_id IS NULL`;

/** Every refund has exactly its transfers, and every refund transfer has its refund. */
const refundCheck = ({ transfers, refunds }: AuditedRows): string => `
  WITH moved AS (
    SELECT account_id, reference, at,
      coalesce(sum(amount_nano) FILTER (WHERE currency = 'USD'), 0) AS usd_nano,
      coalesce(sum(amount_nano) FILTER (WHERE currency = 'DIEM'), 0) AS diem_nano
    FROM ${transfers} AS transfer WHERE kind = 'refund' GROUP BY account_id, reference, at
  )
  SELECT format('Refund %s of account %s is %s nano-USD and %s nano-DIEM, but its transfers are %s and %s.',
    reference, account_id, coalesce(refund.usd_nano, 0), coalesce(refund.diem_nano, 0),
    coalesce(moved.usd_nano, 0), coalesce(moved.diem_nano, 0)) AS mismatch
  FROM ${refunds} AS refund FULL JOIN moved USING (account_id, reference, at)
  WHERE coalesce(refund.usd_nano, 0) <> coalesce(moved.usd_nano, 0)
    OR coalesce(refund.diem_nano, 0) <> coalesce(moved.diem_nano, 0)`;

/** No request was refunded more than it cost, in either currency. */
const refundSumCheck = ({ refunds }: AuditedRows): string => `
  WITH refunded AS (
    SELECT account_id, request_id, sum(usd_nano) AS usd_nano, sum(diem_nano) AS diem_nano
    FROM ledger.refunds
    WHERE (account_id, request_id) IN (SELECT account_id, request_id FROM ${refunds} AS refund)
    GROUP BY account_id, request_id
  )
  SELECT format('Request %s of account %s was refunded %s nano-USD and %s nano-DIEM, but it cost %s and %s.',
    request_id, account_id, refunded.usd_nano, refunded.diem_nano,
    coalesce(charge.usd_nano, 0), coalesce(charge.diem_nano, 0)) AS mismatch
  FROM refunded LEFT JOIN ledger.charges AS charge USING (account_id, request_id)
  WHERE refunded.usd_nano > coalesce(charge.usd_nano, 0) OR refunded.diem_nano > coalesce(charge.diem_nano, 0)`;

/** Every reversal returns one whole credit or deposit to the account it came from. */
const reversalCheck = ({ transfers }: AuditedRows): string => `
  SELECT format('Reversal %s of account %s takes %s nano-USD back, and there is no such credit.', reference,
    account_id, amount_nano) AS mismatch
  FROM ${transfers} AS reversal WHERE kind IN ('reversal', 'credit_reversal') AND NOT EXISTS (
    SELECT FROM ledger.transfers AS deposit
    WHERE deposit.account_id = reversal.account_id
      AND deposit.kind = CASE reversal.kind WHEN 'reversal' THEN 'deposit' ELSE 'credit' END
      AND deposit.reference = reversal.reference AND deposit.amount_nano = reversal.amount_nano
      AND deposit.debit_account = reversal.credit_account
  )`;

/** An account's debt equals what it was lent less what it has repaid. */
const debtCheck = ({ transfers }: AuditedRows): string => `
  WITH touched AS (
    SELECT id AS account_id FROM ledger.accounts WHERE debt_nano <> 0
    UNION SELECT account_id FROM ${transfers} AS transfer WHERE kind IN ('debt', 'repayment')
  ), owed AS (
    SELECT account_id, coalesce(sum(CASE kind WHEN 'debt' THEN amount_nano ELSE -amount_nano END), 0) AS nano
    FROM touched LEFT JOIN ledger.transfers AS transfer USING (account_id)
    WHERE kind IN ('debt', 'repayment') GROUP BY account_id
  )
  SELECT format('Account customer:%s owes %s nano-USD, but its transfers sum to %s.', account_id,
    coalesce(debt_nano, 0), coalesce(nano, 0)) AS mismatch
  FROM touched LEFT JOIN owed USING (account_id) LEFT JOIN ledger.accounts ON id = account_id
  WHERE coalesce(debt_nano, 0) <> coalesce(nano, 0)`;

/** Every account with DIEM has a stake, so that its DIEM is reset every day. */
const DIEM_EXPIRES = `
  SELECT format('Account customer:%s has %s nano-DIEM and no stake, so they would never expire.', id, diem_nano)
    AS mismatch
  FROM ledger.accounts AS account
  WHERE diem_nano > 0
    AND NOT EXISTS (SELECT FROM ledger.stakes AS stake WHERE stake.account_id = account.id)`;

/**
 * Every job for media that was charged exists, or was refunded: a restore posts charges of jobs that it has
 * lost. Jobs are kept for at least 13 hours.
 */
const JOBS_EXIST = `
  SELECT format('Request %s of account customer:%s cost %s nano-USD and %s nano-DIEM for media, but its job does not exist. Refund it.',
    request_id, account_id, usd_nano, diem_nano) AS mismatch
  FROM ledger.charges AS charge
  WHERE backend = '${MEDIA_JOBS_BACKEND}' AND at > now() - interval '12 hours' AND usd_nano + diem_nano > 0
    AND NOT EXISTS (SELECT FROM media.jobs AS job WHERE job.request_id = charge.request_id)
    AND NOT EXISTS (
      SELECT FROM ledger.refunds AS refund
      WHERE refund.account_id = charge.account_id AND refund.request_id = charge.request_id
    )`;

/** No recorded charge was rejected. */
const NOTHING_REJECTED = `
  SELECT format('A charge was not posted, because %s. Its digest is %s.', reason, digest) AS mismatch
  FROM ledger.rejected_charges`;
