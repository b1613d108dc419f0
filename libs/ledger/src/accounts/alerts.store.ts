import { type AccountEvent, type Charge, accountEvent, newAccountEvent } from '@svc/contracts/messages';
import { type Balances, type Currency, usdNumber } from '@svc/contracts/money';
import type { Alert, AlertPeriod } from '@svc/contracts/ports';
import { addToOutbox } from '@svc/events';
import type { PostedBalances } from '@svc/hold-book';
import type { Database } from '@svc/storage';
import type { PoolClient } from 'pg';
import { lockAccounts } from './accounts.store.js';

interface AlertRow {
  readonly account_id: string;
  readonly type: Alert['type'];
  readonly key_id: string | null;
  readonly end_user: string | null;
  readonly period: AlertPeriod | null;
  readonly currency: Currency;
  readonly amount_nano: bigint;
}

/** An alert that was reached. */
interface ReachedRow extends AlertRow {
  /** The balance, or what the key or the end user has spent. */
  readonly now_nano: bigint;
}

interface BalanceRow extends ReachedRow {
  readonly is_armed: boolean;
}

/** In the order in which they were set. */
export async function listAlerts(database: Database, accountId: string): Promise<Alert[]> {
  const rows = await database.query<AlertRow>(
    `SELECT account_id, type, key_id, end_user, period, currency, amount_nano
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
      `INSERT INTO ledger.alerts (account_id, type, key_id, period, currency, amount_nano, end_user)
       SELECT $1, type, key_id, period, currency, amount_nano, end_user
       FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::text[])
         WITH ORDINALITY AS alert (type, key_id, period, currency, amount_nano, end_user, place) ORDER BY place`,
      [
        accountId,
        alerts.map(({ type }) => type),
        alerts.map((alert) => ('keyId' in alert ? alert.keyId : null)),
        alerts.map((alert) => ('period' in alert ? alert.period : null)),
        alerts.map(({ currency }) => currency),
        alerts.map(({ amountNano }) => amountNano),
        alerts.map((alert) => ('endUser' in alert ? alert.endUser : null)),
      ],
    );
    await judgedBalances(client, [...accounts.values()]);
    const at = new Date().toISOString();
    const spenders = alerts.flatMap((alert) => ('period' in alert ? [{ accountId, at, ...alert }] : []));
    await judgedSpending(client, JUDGE_KEYS, latestOf(spenders, 'keyId'));
    await judgedSpending(client, JUDGE_USERS, latestOf(spenders, 'endUser'));
  });
}

/** Adds the events of what was posted. The accounts must be locked. */
export async function notifyPosted(
  client: PoolClient,
  charges: readonly Charge[],
  accounts: readonly Pick<PostedBalances, 'accountId' | 'balances'>[],
): Promise<void> {
  const { rows } = await client.query<{ account_id: string }>({
    ...WITH_ALERTS,
    values: [accounts.map(({ accountId }) => accountId)],
  });
  // Most accounts have none.
  if (rows.length === 0) return;
  const alerted = new Set(rows.map((row) => row.account_id));
  await notifyBalances(
    client,
    accounts.filter(({ accountId }) => alerted.has(accountId)),
  );
  await notifySpending(
    client,
    charges.filter(({ accountId }) => alerted.has(accountId)),
  );
}

/** Adds the events of balances that have fallen below an amount. The accounts must be locked. */
export async function notifyBalances(
  client: PoolClient,
  accounts: readonly Pick<PostedBalances, 'accountId' | 'balances'>[],
): Promise<void> {
  for (const row of await judgedBalances(client, accounts))
    if (!row.is_armed) await addEvent(client, reachedEvent(row));
}

/** Adds the events of keys and end users that have spent an amount, after their charges. */
async function notifySpending(client: PoolClient, charges: readonly Charge[]): Promise<void> {
  for (const row of [
    ...(await judgedSpending(client, JUDGE_KEYS, latestOf(charges, 'keyId'))),
    ...(await judgedSpending(client, JUDGE_USERS, latestOf(charges, 'endUser'))),
  ])
    await addEvent(client, reachedEvent(row));
}

type Spending = Pick<Charge, 'accountId' | 'at'> & Partial<Pick<Charge, 'keyId' | 'endUser'>>;

/** Who has spent, by the latest of their charges. */
function latestOf(charges: readonly Spending[], kind: 'keyId' | 'endUser'): Spender[] {
  const latest = new Map<string, Spender>();
  for (const { accountId, at, [kind]: id } of charges) {
    if (id === undefined) continue;
    const name = `${accountId} ${id}`;
    if ((latest.get(name)?.at ?? '') < at) latest.set(name, { accountId, id, at });
  }
  return [...latest.values()];
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
  /** Of a key or an end user. */
  readonly id: string;
  /** In the period that is judged. */
  readonly at: string;
}

/** Marks the alerts of those that have spent the amount in their period, and returns what is newly marked. */
async function judgedSpending(
  client: PoolClient,
  judge: typeof JUDGE_KEYS,
  spenders: readonly Spender[],
): Promise<ReachedRow[]> {
  if (spenders.length === 0) return [];
  const { rows } = await client.query<ReachedRow>({
    ...judge,
    values: [
      spenders.map(({ accountId }) => accountId),
      spenders.map(({ id }) => id),
      spenders.map(({ at }) => at),
    ],
  });
  return rows;
}

const WITH_ALERTS = {
  name: 'ledger.with-alerts',
  text: `SELECT account_id FROM unnest($1::uuid[]) AS given (account_id)
         WHERE EXISTS (SELECT FROM ledger.alerts AS alert WHERE alert.account_id = given.account_id)`,
};

const JUDGE_BALANCES = {
  name: 'ledger.judge-balances',
  text: `UPDATE ledger.alerts AS alert SET is_armed = NOT alert.is_armed
         FROM unnest($1::uuid[], $2::bigint[], $3::bigint[]) AS given (account_id, usd_nano, diem_nano),
           LATERAL (VALUES ('USD', given.usd_nano), ('DIEM', given.diem_nano)) AS balance (currency, now_nano)
         WHERE alert.account_id = given.account_id AND alert.type = 'balance.low'
           AND alert.currency = balance.currency AND alert.is_armed <> (balance.now_nano >= alert.amount_nano)
         RETURNING alert.account_id, alert.type, alert.key_id, alert.end_user, alert.period, alert.currency,
           alert.amount_nano, alert.is_armed, balance.now_nano`,
};

interface SpendingKind {
  readonly type: Alert['type'];
  readonly column: string;
  /** The sums by day. */
  readonly days: string;
}

/** A charge of an earlier period notifies nobody: its period is over. */
const judgeOf = ({ type, column, days }: SpendingKind): { readonly name: string; readonly text: string } => ({
  name: `ledger.judge ${type}`,
  text: `WITH reached AS (
           SELECT alert.account_id, alert.id, period.since, spent.now_nano
           FROM unnest($1::uuid[], $2::text[], $3::timestamptz[]) AS given (account_id, ${column}, at)
           JOIN ledger.alerts AS alert USING (account_id, ${column}),
           LATERAL (
             SELECT CASE alert.period WHEN 'LIFETIME' THEN DATE '0001-01-01' ELSE date_trunc(
               CASE alert.period WHEN 'EPOCH' THEN 'day' ELSE lower(alert.period) END, given.at AT TIME ZONE 'UTC'
             )::date END AS since
           ) AS period,
           LATERAL (
             SELECT coalesce(sum(CASE alert.currency WHEN 'USD' THEN usd_nano ELSE diem_nano END), 0)::bigint AS now_nano
             FROM ${days} AS usage
             WHERE usage.account_id = alert.account_id AND usage.${column} = alert.${column} AND usage.day >= period.since
           ) AS spent
           WHERE alert.type = '${type}' AND spent.now_nano >= alert.amount_nano
             AND (alert.notified_for IS NULL OR alert.notified_for < period.since)
         )
         UPDATE ledger.alerts AS alert SET notified_for = reached.since FROM reached
         WHERE alert.account_id = reached.account_id AND alert.id = reached.id
         RETURNING alert.account_id, alert.type, alert.key_id, alert.end_user, alert.period, alert.currency,
           alert.amount_nano, reached.now_nano`,
});

const JUDGE_KEYS = judgeOf({ type: 'key.spend_threshold', column: 'key_id', days: 'ledger.usage_days' });
const JUDGE_USERS = judgeOf({
  type: 'end_user.spend_threshold',
  column: 'end_user',
  days: 'ledger.user_days',
});

function alertOf(row: AlertRow): Alert {
  const { key_id: keyId, end_user: endUser, period, currency, amount_nano: amountNano } = row;
  const terms = { currency, amountNano };
  if (period !== null && keyId !== null) return { type: 'key.spend_threshold', keyId, period, ...terms };
  if (period !== null && endUser !== null)
    return { type: 'end_user.spend_threshold', endUser, period, ...terms };
  return { type: 'balance.low', ...terms };
}

function reachedEvent(row: ReachedRow): AccountEvent {
  const { account_id: accountId, type, currency, period } = row;
  const amount = usdNumber(row.amount_nano);
  const now = usdNumber(row.now_nano);
  if (type === 'balance.low') return newAccountEvent(accountId, type, { currency, amount, balance: now });
  const spender: AccountEvent['data'] =
    type === 'key.spend_threshold' ? { key_id: row.key_id } : { end_user: row.end_user };
  return newAccountEvent(accountId, type, { ...spender, period, currency, amount, spent: now });
}
