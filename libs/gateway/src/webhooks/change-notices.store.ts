import { Injectable } from '@nestjs/common';
import { type AccountEvent, OPERATOR, accountEvent, newAccountEvent } from '@svc/contracts/messages';
import { addToOutbox } from '@svc/events';
import { Database } from '@svc/storage';
import type { PoolClient } from 'pg';
import { WebhookDeliveryStore } from './delivery.store.js';

/** What somebody is notified of, once for each state that it gets. */
export interface Noticed {
  /** Its kind and its name. */
  readonly subject: string;
  readonly state: string;
  readonly type: Parameters<typeof newAccountEvent>[1];
  readonly data: AccountEvent['data'];
  /** Nobody is notified of a state with which it begins. */
  readonly isUsual?: boolean;
}

/** Who wants to be notified. */
interface Wanted {
  readonly byOperator: boolean;
  /** `model.deprecated`. */
  readonly byAccounts: boolean;
}

/** The states of which somebody was last notified. */
@Injectable()
export class ChangeNoticesStore {
  constructor(
    private readonly database: Database,
    private readonly deliveries: WebhookDeliveryStore,
  ) {}

  async wanted(): Promise<Wanted> {
    const [row] = await this.database.query<Wanted>(
      `SELECT EXISTS (
         SELECT FROM gateway.webhook_endpoints WHERE account_id IS NULL AND state = 'enabled'
       ) AS "byOperator", EXISTS (
         SELECT FROM gateway.webhook_endpoints
         WHERE account_id IS NOT NULL AND state = 'enabled' AND 'model.deprecated' = ANY(events)
       ) AS "byAccounts"`,
    );
    return row ?? { byOperator: false, byAccounts: false };
  }

  /** Notifies the operator. Subjects of the kind that are not among them are forgotten. */
  notifyOperator(kind: string, noticed: readonly Noticed[]): Promise<void> {
    return this.database.transaction(async (client) => {
      const subjects = noticed.map(({ subject }) => subject);
      await client.query(
        `DELETE FROM gateway.notices WHERE starts_with(subject, $1) AND subject <> ALL($2::text[])`,
        [kind, subjects],
      );
      const run = (sql: string, values: readonly unknown[]) => client.query(sql, [...values]);
      for (const { type, data } of await changed(client, noticed))
        await addToOutbox(run, accountEvent, newAccountEvent(OPERATOR, type, data));
    });
  }

  /** Notifies all accounts. */
  notifyAccounts(noticed: readonly Noticed[]): Promise<void> {
    return this.database.transaction(async (client) => {
      for (const { type, data } of await changed(client, noticed))
        await this.deliveries.recordForAll(client, newAccountEvent(OPERATOR, type, data));
    });
  }
}

/** Stores the states, and returns those that differ from what was stored. */
async function changed(client: PoolClient, noticed: readonly Noticed[]): Promise<Noticed[]> {
  if (noticed.length === 0) return [];
  const { rows } = await client.query<{ subject: string; is_new: boolean }>(
    `INSERT INTO gateway.notices AS known (subject, state)
     SELECT DISTINCT ON (subject) subject, state FROM unnest($1::text[], $2::text[]) AS given (subject, state)
     ORDER BY subject
     ON CONFLICT (subject) DO UPDATE SET state = excluded.state WHERE known.state <> excluded.state
     RETURNING subject, (xmax = 0) AS is_new`,
    [noticed.map(({ subject }) => subject), noticed.map(({ state }) => state)],
  );
  const found = new Map(rows.map((row) => [row.subject, row.is_new]));
  return noticed.filter(({ subject, isUsual = false }) => {
    const isNew = found.get(subject);
    return isNew !== undefined && !(isNew && isUsual);
  });
}
