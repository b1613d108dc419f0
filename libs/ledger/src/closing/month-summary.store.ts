import { type Monthly, MONTHLY, type Month } from './month.js';

/** The backend of a charge that stands for all charges of a day. */
const BACKEND = 'closed month';

/**
 * Charges that are copied as they are, because a refund refers to them. All other charges become one for each
 * account, day, key and model.
 */
const keptCharges = (month: Month): string => `
  CREATE TEMPORARY TABLE kept ON COMMIT DROP AS
  SELECT request_id, at FROM ${month.table('charges')} AS charge WHERE EXISTS (
    SELECT FROM ledger.refunds AS refund
    WHERE refund.account_id = charge.account_id AND refund.request_id = charge.request_id
  )`;

const IS_KEPT = 'EXISTS (SELECT FROM kept WHERE kept.request_id = charge.request_id AND kept.at = charge.at)';

const merged = (month: Month): string => `
  WITH merged AS (
    SELECT date_trunc('day', at, 'UTC') AS day, charge.* FROM ${month.table('charges')} AS charge
    WHERE NOT ${IS_KEPT}
  )`;

/** SQL: the request id of the charge of a day. */
const DAY_ID = `format('day %s %s %s', to_char(day AT TIME ZONE 'UTC', 'YYYY-MM-DD'), account_id,
  left(encode(sha256(convert_to(key_id || chr(10) || model, 'UTF8')), 'hex'), 32))`;

/** Through the table of all months, so that the columns have the order of the new table. */
const copied = (month: Month, of: Monthly, where: string): string => `
  INSERT INTO ${month.summary(of)}
  SELECT charge.* FROM ledger.${of} AS charge WHERE ${month.has('charge.at')} AND ${where}`;

/** Its id is one that it replaces, so the next audit of new entries starts where it would have. */
const dayCharges = (month: Month): string => `${merged(month)}
  INSERT INTO ${month.summary('charges')} (id, request_id, at, account_id, key_id, model, backend, prompt_tokens,
    completion_tokens, cached_tokens, cache_write_tokens, reasoning_tokens, usd_nano, diem_nano, write_off_nano,
    duration_ms)
  SELECT max(id), ${DAY_ID}, day, account_id, key_id, model, '${BACKEND}', sum(prompt_tokens),
    sum(completion_tokens), sum(cached_tokens), sum(cache_write_tokens), sum(reasoning_tokens), sum(usd_nano),
    sum(diem_nano), sum(write_off_nano), sum(duration_ms)
  FROM merged GROUP BY account_id, day, key_id, model`;

const dayLines = (month: Month): string => `${merged(month)}
  INSERT INTO ${month.summary('charge_lines')} (request_id, at, line, sku, unit, units, price_nano_per_million,
    amount_nano, usd_nano, diem_nano, provider_nano)
  SELECT ${DAY_ID}, day,
    row_number() OVER (PARTITION BY account_id, day, key_id, model
      ORDER BY sku, unit, price_nano_per_million, provider_nano IS NULL) - 1,
    sku, unit, units, price_nano_per_million, amount_nano, usd_nano, diem_nano, provider_nano
  FROM (
    SELECT account_id, day, key_id, model, sku, unit, price_nano_per_million, sum(line.units) AS units,
      sum(line.amount_nano) AS amount_nano, sum(line.usd_nano) AS usd_nano, sum(line.diem_nano) AS diem_nano,
      sum(line.provider_nano) AS provider_nano
    FROM merged JOIN ${month.table('charge_lines')} AS line USING (request_id, at)
    GROUP BY account_id, day, key_id, model, sku, unit, price_nano_per_million, line.provider_nano IS NULL
  ) AS line`;

const dayTransfers = (month: Month): string => `${merged(month)}
  INSERT INTO ${month.summary('transfers')} (id, at, account_id, kind, debit_account, credit_account, currency,
    amount_nano, reference)
  SELECT max(transfer.id), day, account_id, kind, debit_account, credit_account, currency, sum(amount_nano), ${DAY_ID}
  FROM merged JOIN ${month.table('transfers')} AS transfer USING (account_id, at)
  WHERE kind IN ('charge', 'write_off') AND reference = request_id
  GROUP BY account_id, day, key_id, model, kind, debit_account, credit_account, currency`;

/** Counts the entries of each day again, because the history lists those of the new lines. */
const countedDays = (month: Month): string => `
  UPDATE ledger.usage_days AS known SET usd_entries = counted.usd, diem_entries = counted.diem
  FROM (
    SELECT account_id, (at AT TIME ZONE 'UTC')::DATE AS day, key_id, model, sku,
      count(*) FILTER (WHERE line.usd_nano > 0 OR line.diem_nano = 0) AS usd,
      count(*) FILTER (WHERE line.diem_nano > 0) AS diem
    FROM ${month.summary('charges')} AS charge JOIN ${month.summary('charge_lines')} AS line USING (request_id, at)
    GROUP BY 1, 2, 3, 4, 5
  ) AS counted
  WHERE ${month.hasDay('known.day')} AND known.account_id = counted.account_id AND known.day = counted.day
    AND known.key_id = counted.key_id AND known.model = counted.model AND known.sku = counted.sku
    AND (known.usd_entries, known.diem_entries) IS DISTINCT FROM (counted.usd, counted.diem)`;

/** The statements that build the tables which replace a month's partitions. */
export const summaryStatements = (month: Month): string[] => [
  ...MONTHLY.flatMap((of) => [
    `DROP TABLE IF EXISTS ${month.summary(of)}`,
    `CREATE TABLE ${month.summary(of)} (LIKE ledger.${of} INCLUDING ALL)`,
  ]),
  keptCharges(month),
  copied(month, 'charges', IS_KEPT),
  copied(month, 'charge_lines', IS_KEPT),
  copied(
    month,
    'transfers',
    `(kind NOT IN ('charge', 'write_off') OR (reference, at) IN (SELECT request_id, at FROM kept))`,
  ),
  dayCharges(month),
  dayLines(month),
  dayTransfers(month),
  countedDays(month),
  ...MONTHLY.flatMap((of) => [
    // With it, the table is attached without a scan.
    `ALTER TABLE ${month.summary(of)} ADD CONSTRAINT is_in_month CHECK (${month.has('at')})`,
    `CREATE TRIGGER "${month.nameOf(of)}_no_truncate" BEFORE TRUNCATE ON ${month.summary(of)}
     FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change()`,
    refuseInserts(month.summary(of)),
    `ANALYZE ${month.summary(of)}`,
  ]),
];

/** Refuses further rows, also those of earlier releases. */
export const refuseInserts = (table: string): string =>
  `CREATE OR REPLACE TRIGGER closed BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION ledger.refuse_late()`;

const SUMS: Readonly<Record<'charges' | 'transfers', { readonly by: string; readonly sums: string }>> = {
  transfers: {
    by: 'account_id, kind, debit_account, credit_account, currency',
    sums: 'sum(amount_nano)',
  },
  charges: {
    by: 'account_id, key_id, model',
    sums: `sum(usd_nano), sum(diem_nano), sum(write_off_nano), sum(prompt_tokens), sum(completion_tokens),
      sum(cached_tokens), sum(cache_write_tokens), sum(reasoning_tokens), sum(duration_ms)`,
  },
};

/** Statements that return what differs between a month and its summary, as sentences. */
export const differencesOf = (month: Month): string[] =>
  (['charges', 'transfers'] as const).map((of) => {
    const { by, sums } = SUMS[of];
    const grouped = (table: string): string => `SELECT ${by}, ${sums} FROM ${table} GROUP BY ${by}`;
    const [whole, summary] = [grouped(month.table(of)), grouped(month.summary(of))];
    return `SELECT format('The summary of ${of} differs: %s', differs) AS mismatch
      FROM ((${whole} EXCEPT ${summary}) UNION ALL (${summary} EXCEPT ${whole})) AS differs`;
  });

/** The statements that replace a month's partition. All months are locked. */
export const replaceStatements = (month: Month): string[] => [
  // The summary has the charges of no single request.
  `DELETE FROM ledger.charge_users WHERE ${month.has('at')}`,
  ...MONTHLY.flatMap((of) => [
    `ALTER TABLE ledger.${of} DETACH PARTITION ${month.table(of)}`,
    `DROP TABLE ${month.table(of)}`,
    `ALTER TABLE ${month.summary(of)} RENAME TO ${month.nameOf(of)}`,
    `ALTER TABLE ledger.${of} ATTACH PARTITION ${month.table(of)}
     FOR VALUES FROM ('${month.from.toISOString()}') TO ('${month.until.toISOString()}')`,
  ]),
];

/**
 * Refunds of charges that the summary does not have, which were made since it was built. The clocks of a
 * charge and of its refund differ by less than a day.
 */
export const newRefunds = (month: Month): string => `
  SELECT count(*) AS refunds FROM ledger.refunds AS refund
  JOIN ${month.table('charges')} AS charge USING (account_id, request_id)
  WHERE refund.at > '${month.from.toISOString()}'::TIMESTAMPTZ - INTERVAL '1 day' AND NOT EXISTS (
    SELECT FROM ${month.summary('charges')} AS copy WHERE copy.request_id = charge.request_id AND copy.at = charge.at
  )`;
