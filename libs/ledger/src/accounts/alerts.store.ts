import { type AccountEvent, type Charge, accountEvent, newAccountEvent } from '@svc/contracts/messages';
import { type Balances, type Currency, usdNumber } from '@svc/contracts/money';
import type { Alert, LimitPeriod } from '@svc/contracts/ports';
import { addToOutbox } from '@svc/events';
import type { PostedBalances } from '@svc/hold-book';
import type { Database } from '@svc/storage';
import type { PoolClient } from 'pg';
import { lockAccounts } from './accounts.store.js';

interface AlertRow {
  readonly account_id: string;
  readonly type: Alert['type'];
  readonly key_id: string | null;
  readonly period: LimitPeriod | null;
  readonly currency: Currency;
  readonly amount_nano: bigint;
}

/** An alert that was reached. */
interface ReachedRow extends AlertRow {
  /** The balance, or what the key has spent. */
  readonly now_nano: bigint;
}

interface BalanceRow extends ReachedRow {
  readonly is_armed: boolean;
}

/** In the order in which they were set. */
export async function listAlerts(database: Database, accountId: string): Promise<Alert[]> {
  const rows = await database.query<AlertRow>(
    `SELECT account_id, type, key_id, period, currency, amount_nano
     FROM ledger.alerts WHERE account_id = $1 ORDER BY id`,
    [accountId],
  );
  return rows.map(alertOf);
}

/** What is already so is not notified. */
export function replaceAlerts(
  database: Database,
  accountId: string,
  alerts: readonly Alert[],
): Promise<void> {
  return database.transaction(async (client) => {
    const accounts = await lockAccounts(client, new Set([accountId]));
    await client.query('DELETE FROM ledger.alerts WHERE account_id = $1', [accountId]);
    await client.query(
      `INSERT INTO ledger.alerts (account_id, type, key_id, period, currency, amount_nano)
       SELECT $1, type, key_id, period, currency, amount_nano
       FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[])
         WITH ORDINALITY AS alert (type, key_id, period, currency, amount_nano, place) ORDER BY place`,
      [
        accountId,
        alerts.map(({ type }) => type),
        alerts.map((alert) => ('keyId' in alert ? alert.keyId : null)),
        alerts.map((alert) => ('period' in alert ? alert.period : null)),
        alerts.map(({ currency }) => currency),
        alerts.map(({ amountNano }) => amountNano),
      ],
    );
    await judgedBalances(client, [...accounts.values()]);
    const at = new Date().toISOString();
    const keys = new Set(alerts.flatMap((alert) => ('keyId' in alert ? [alert.keyId] : [])));
    const spenders = Array.from(keys, (keyId) => ({ accountId, keyId, at }));
    await judgedSpending(client, spenders);
  });
}

/** Adds the events of balances that have fallen below an amount. The accounts must be locked. */
export async function notifyBalances(
  client: PoolClient,
  accounts: readonly Pick<PostedBalances, 'accountId' | 'balances'>[],
): Promise<void> {
  for (const row of await judgedBalances(client, accounts))
    if (!row.is_armed) await addEvent(client, reachedEvent(row));
}

/** Adds the events of keys that have spent an amount, after their charges. The accounts must be locked. */
export async function notifySpending(client: PoolClient, charges: readonly Charge[]): Promise<void> {
  const latest = new Map<string, Spender>();
  for (const { accountId, keyId, at } of charges) {
    const name = `${accountId} ${keyId}`;
    if ((latest.get(name)?.at ?? '') < at) latest.set(name, { accountId, keyId, at });
  }
  for (const row of await judgedSpending(client, [...latest.values()]))
    await addEvent(client, reachedEvent(row));
}

/** Adds an event to the transaction of the change that it reports. */
export function addEvent(client: PoolClient, event: AccountEvent): Promise<void> {
  return addToOutbox((sql, values) => client.query(sql, [...values]), accountEvent, event);
}

/** How money is shown in events. */
export const amountsOf = ({ usdNano, diemNano }: Balances): { usd: number; diem: number } => ({
  usd: usdNumber(usdNano),
  diem: usdNumber(diemNano),
});

/** Sets which alerts of balances are armed, and returns those that changed. */
async function judgedBalances(
  client: PoolClient,
  accounts: readonly Pick<PostedBalances, 'accountId' | 'balances'>[],
): Promise<BalanceRow[]> {
  const { rows } = await client.query<BalanceRow>({
    ...JUDGE_BALANCES,
    values: [
      accounts.map(({ accountId }) => accountId),
      accounts.map(({ balances }) => balances.usdNano),
      accounts.map(({ balances }) => balances.diemNano),
    ],
  });
  return rows;
}

interface Spender {
  readonly accountId: string;
  readonly keyId: string;
  /** In the period that is judged. */
  readonly at: string;
}

/** Marks the alerts whose keys have spent the amount in their period, and returns the newly marked ones. */
async function judgedSpending(client: PoolClient, spenders: readonly Spender[]): Promise<ReachedRow[]> {
  if (spenders.length === 0) return [];
  const { rows } = await client.query<ReachedRow>({
    ...JUDGE_SPENDING,
    values: [
      spenders.map(({ accountId }) => accountId),
      spenders.map(({ keyId }) => keyId),
      spenders.map(({ at }) => at),
    ],
  });
  return rows;
}

const JUDGE_BALANCES = {
  name: 'ledger.judge-balances',
  text: `UPDATE ledger.alerts AS alert SET is_armed = NOT alert.is_armed
         FROM unnest($1::uuid[], $2::bigint[], $3::bigint[]) AS given (account_id, usd_nano, diem_nano),
           LATERAL (VALUES ('USD', given.usd_nano), ('DIEM', given.diem_nano)) AS balance (currency, now_nano)
         WHERE alert.account_id = given.account_id AND alert.type = 'balance.low'
           AND alert.currency = balance.currency AND alert.is_armed <> (balance.now_nano >= alert.amount_nano)
         RETURNING alert.account_id, alert.type, alert.key_id, alert.period, alert.currency, alert.amount_nano,
           alert.is_armed, balance.now_nano`,
};

/** A charge of an earlier period notifies nobody: its period is over. */
const JUDGE_SPENDING = {
  name: 'ledger.judge-spending',
  text: `WITH reached AS (
           SELECT alert.account_id, alert.id, period.since, spent.now_nano
           FROM unnest($1::uuid[], $2::text[], $3::timestamptz[]) AS given (account_id, key_id, at)
           JOIN ledger.alerts AS alert USING (account_id, key_id),
           LATERAL (
             SELECT CASE alert.period WHEN 'LIFETIME' THEN DATE '0001-01-01' ELSE date_trunc(
               CASE alert.period WHEN 'EPOCH' THEN 'day' ELSE lower(alert.period) END, given.at AT TIME ZONE 'UTC'
             )::date END AS since
           ) AS period,
           LATERAL (
             SELECT coalesce(sum(CASE alert.currency WHEN 'USD' THEN usd_nano ELSE diem_nano END), 0)::bigint AS now_nano
             FROM ledger.usage_days AS usage
             WHERE usage.account_id = alert.account_id AND usage.key_id = alert.key_id AND usage.day >= period.since
           ) AS spent
           WHERE alert.type = 'key.spend_threshold' AND spent.now_nano >= alert.amount_nano
             AND (alert.notified_for IS NULL OR alert.notified_for < period.since)
         )
         UPDATE ledger.alerts AS alert SET notified_for = reached.since FROM reached
         WHERE alert.account_id = reached.account_id AND alert.id = reached.id
         RETURNING alert.account_id, alert.type, alert.key_id, alert.period, alert.currency, alert.amount_nano,
           reached.now_nano`,
};

function alertOf(row: AlertRow): Alert {
  const terms = { currency: row.currency, amountNano: row.amount_nano };
  return row.key_id === null || row.period === null
    ? { type: 'balance.low', ...terms }
    : { type: 'key.spend_threshold', keyId: row.key_id, period: row.period, ...terms };
}

function reachedEvent(row: ReachedRow): AccountEvent {
  const { account_id: accountId, type, currency } = row;
  const amount = usdNumber(row.amount_nano);
  const now = usdNumber(row.now_nano);
  return type === 'balance.low'
    ? newAccountEvent(accountId, type, { currency, amount, balance: now })
    : newAccountEvent(accountId, type, {
        key_id: row.key_id,
        period: row.period,
        currency,
        amount,
        spent: now,
      });
}
