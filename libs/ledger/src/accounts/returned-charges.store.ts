/** Reference prefix of a refund that returns the full cost of a refused request. */
export const NEVER_CHARGED = 'never charged: ';

/** SQL: true unless `charge` belongs to a refused request and has been refunded. */
export const NOT_REFUNDED = `NOT EXISTS (
  SELECT FROM ledger.refunds AS given_back WHERE given_back.account_id = charge.account_id
    AND given_back.reference = '${NEVER_CHARGED}' || charge.request_id
)`;

/**
 * SQL: the daily sums of account `$1`, plus negative rows for charges of refused requests. Aggregate the
 * rows.
 */
export const USAGE_DAYS = `(
  SELECT day, key_id, model, sku, unit, units, usd_nano, diem_nano, usd_entries, diem_entries
  FROM ledger.usage_days WHERE account_id = $1
  UNION ALL
  SELECT (charge.at AT TIME ZONE 'UTC')::date, key_id, model, sku, unit, -units, -line.usd_nano, -line.diem_nano,
    -(line.usd_nano > 0 OR line.diem_nano = 0)::int, -(line.diem_nano > 0)::int
  FROM ledger.refunds AS given_back
  JOIN ledger.charges AS charge USING (account_id, request_id)
  JOIN ledger.charge_lines AS line ON line.request_id = charge.request_id AND line.at = charge.at
  WHERE account_id = $1 AND given_back.reference = '${NEVER_CHARGED}' || charge.request_id
    AND given_back.reference LIKE '${NEVER_CHARGED}%'
) AS usage_day`;

/**
 * SQL: the daily sums of the end users of account `$1`, plus negative rows for charges of refused requests.
 * Aggregate the rows.
 */
export const USER_DAYS = `(
  SELECT end_user, day, requests, prompt_tokens, completion_tokens, usd_nano, diem_nano
  FROM ledger.user_days WHERE account_id = $1
  UNION ALL
  SELECT whose.end_user, (charge.at AT TIME ZONE 'UTC')::date, -1, -charge.prompt_tokens, -charge.completion_tokens,
    -charge.usd_nano, -charge.diem_nano
  FROM ledger.refunds AS given_back
  JOIN ledger.charges AS charge USING (account_id, request_id)
  JOIN ledger.charge_users AS whose ON whose.request_id = charge.request_id AND whose.at = charge.at
  WHERE given_back.account_id = $1 AND given_back.reference = '${NEVER_CHARGED}' || charge.request_id
    AND given_back.reference LIKE '${NEVER_CHARGED}%'
) AS user_day`;

/** SQL: the sums in both currencies of some rows, as bigints, since PostgreSQL sums bigints as numeric. */
export const spentSums = (name: string, where: string): string =>
  ['usd', 'diem']
    .map(
      (currency) =>
        `coalesce(sum(${currency}_nano) FILTER (WHERE ${where}), 0)::bigint AS ${name}_${currency}`,
    )
    .join(', ');
