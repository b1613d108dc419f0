import { Injectable } from '@nestjs/common';
import type { WebhookDeliveryQuery, WebhookDeliveryView } from '@svc/api/webhooks';
import { type AccountEvent, OPERATOR, accountEvent, newAccountEvent } from '@svc/contracts/messages';
import { Problem } from '@svc/contracts/problems';
import { endpointOfOrigin } from '@svc/media-api';
import { addToOutbox } from '@svc/events';
import { Database } from '@svc/storage';
import type { PoolClient } from 'pg';
import { OWNED } from './endpoint.store.js';

/** An endpoint to which this process delivers for the time of a lease. */
export interface LeasedEndpoint {
  readonly id: string;
  readonly url: string;
  readonly secret: Buffer;
  readonly earlier_secret: Buffer | null;
  readonly lease_until: Date;
  /** Its mails have codes. */
  readonly unconfirmed: boolean;
}

/** A server of the customer, or a mailbox. */
export type Channel = 'server' | 'mail';

/** A delivery that is due. */
export interface DueDelivery {
  readonly id: string;
  readonly event_id: string;
  readonly body: string;
  readonly tries: number;
  /** In place of the URL of the endpoint. */
  readonly url: string | null;
}

/** The outcome of an attempt. */
export interface Attempted {
  readonly id: string;
  readonly state: WebhookDeliveryView['state'];
  readonly status: number | null;
  readonly fault: string | null;
  /** The wait before the next attempt of a pending delivery. */
  readonly retryMs: number | null;
  /** The endpoint wants no more events. */
  readonly isGone: boolean;
  /** The fault is in this deployment, so it does not count against the endpoint. */
  readonly isOurs?: boolean;
}

/** A delivery as it is listed. */
export interface StoredDelivery extends Pick<
  WebhookDeliveryView,
  'id' | 'state' | 'tries' | 'status' | 'fault'
> {
  readonly event_id: string;
  readonly event_type: string;
  readonly created_at: Date;
  readonly tried_at: Date | null;
  readonly next_try_at: Date | null;
}

const COLUMNS = 'id, event_id, event_type, state, tries, status, fault, created_at, tried_at, next_try_at';

/** SQL: those to which something may be sent. An unconfirmed address gets its code. */
const BY_CHANNEL: Readonly<Record<Channel, string>> = {
  server: `state = 'enabled' AND NOT starts_with(url, 'mailto:')`,
  mail: `(state = 'enabled' OR unconfirmed) AND starts_with(url, 'mailto:')`,
};

/** An endpoint is disabled after this time without a success. */
const FAILING_DAYS = 5;

/** What is to be delivered, or was. */
@Injectable()
export class WebhookDeliveryStore {
  constructor(private readonly database: Database) {}

  /**
   * Adds a delivery for each endpoint that wants an event, once however often it is called. A suspended
   * account gets its suspension and what happened before. A callback has the endpoint of its origin.
   */
  async record(event: AccountEvent): Promise<void> {
    const { accountId, callbackUrl } = event;
    const called =
      callbackUrl === undefined ? undefined : await endpointOfOrigin(this.database, accountId, callbackUrl);
    await this.database.query(
      `WITH added AS (
         INSERT INTO gateway.webhook_deliveries (id, endpoint_id, event_id, event_type, body, url, next_try_at)
         SELECT gen_random_uuid(), endpoint.id, $2, $3, $4, $6, now()
         FROM gateway.webhook_endpoints AS endpoint
         LEFT JOIN gateway.accounts AS account ON account.id = endpoint.account_id
         WHERE ${OWNED} AND endpoint.state = 'enabled'
           AND CASE WHEN $6::text IS NULL THEN $3 = ANY(endpoint.events) ELSE endpoint.id = $7 END
           AND (account.suspended_at IS NULL OR account.suspended_at > $5 OR $3 = 'account.suspended')
         ON CONFLICT (endpoint_id, event_id) DO NOTHING RETURNING endpoint_id
       )
       UPDATE gateway.webhook_endpoints SET due_at = least(due_at, now())
       WHERE id IN (SELECT endpoint_id FROM added)`,
      [accountId, event.id, event.type, bodyOf(event), event.at, callbackUrl ?? null, called ?? null],
    );
  }

  /** Adds a delivery for each endpoint of an account that wants an event of all accounts. */
  async recordForAll(client: PoolClient, event: AccountEvent): Promise<void> {
    await client.query(
      `WITH added AS (
         INSERT INTO gateway.webhook_deliveries (id, endpoint_id, event_id, event_type, body, next_try_at)
         SELECT gen_random_uuid(), endpoint.id, $1, $2, $3, now()
         FROM gateway.webhook_endpoints AS endpoint
         JOIN gateway.accounts AS account ON account.id = endpoint.account_id
         WHERE endpoint.state = 'enabled' AND $2 = ANY(endpoint.events) AND account.suspended_at IS NULL
         RETURNING endpoint_id
       )
       UPDATE gateway.webhook_endpoints SET due_at = least(due_at, now())
       WHERE id IN (SELECT endpoint_id FROM added)`,
      [event.id, event.type, bodyOf(event)],
    );
  }

  /** Adds a delivery to one endpoint, whatever it wants. */
  async add(endpointId: string, event: AccountEvent): Promise<StoredDelivery> {
    return this.database.transaction(async (client) => {
      const { rows } = await client.query<StoredDelivery>(
        `INSERT INTO gateway.webhook_deliveries (id, endpoint_id, event_id, event_type, body, next_try_at)
         VALUES (gen_random_uuid(), $1, $2, $3, $4, now()) RETURNING ${COLUMNS}`,
        [endpointId, event.id, event.type, bodyOf(event)],
      );
      await makeDue(client, endpointId);
      return known(rows);
    });
  }

  /** Deliveries to an endpoint, newest first. */
  list(endpointId: string, { limit, before }: WebhookDeliveryQuery): Promise<StoredDelivery[]> {
    return this.database.query(
      `SELECT ${COLUMNS} FROM gateway.webhook_deliveries
       WHERE endpoint_id = $1 AND ($2::uuid IS NULL OR (created_at, id) < (
         SELECT created_at, id FROM gateway.webhook_deliveries WHERE endpoint_id = $1 AND id = $2
       )) ORDER BY created_at DESC, id DESC LIMIT $3`,
      [endpointId, before, limit],
    );
  }

  /** Delivers again, with all attempts. Refuses: WEBHOOK_DELIVERY_NOT_FOUND. */
  async replay(endpointId: string, id: string): Promise<StoredDelivery> {
    return this.database.transaction(async (client) => {
      const { rows } = await client.query<StoredDelivery>(
        `UPDATE gateway.webhook_deliveries SET state = 'pending', tries = 0, next_try_at = now()
         WHERE endpoint_id = $1 AND id = $2 RETURNING ${COLUMNS}`,
        [endpointId, id],
      );
      await makeDue(client, endpointId);
      return known(rows);
    });
  }

  /** Takes endpoints with due deliveries that no other process has. */
  claim(channel: Channel, most: number, leaseMs: number): Promise<LeasedEndpoint[]> {
    return this.database.query(
      `UPDATE gateway.webhook_endpoints AS endpoint SET lease_until = now() + make_interval(secs => $2 / 1000.0)
       FROM (
         SELECT id FROM gateway.webhook_endpoints
         WHERE ${BY_CHANNEL[channel]} AND due_at <= now() AND (lease_until IS NULL OR lease_until < now())
         ORDER BY due_at LIMIT $1 FOR NO KEY UPDATE SKIP LOCKED
       ) AS due
       WHERE endpoint.id = due.id
       RETURNING endpoint.id, url, secret, lease_until, unconfirmed,
         CASE WHEN earlier_secret_until > now() THEN earlier_secret END AS earlier_secret`,
      [most, leaseMs],
    );
  }

  /** The time until the next endpoint can be claimed; undefined if nothing is due at any. */
  async idleMs(channel: Channel): Promise<number | undefined> {
    const [row] = await this.database.query<{ ms: number | null }>(
      `SELECT (extract(epoch FROM min(greatest(due_at, lease_until)) - now()) * 1000)::float8 AS ms
       FROM gateway.webhook_endpoints WHERE ${BY_CHANNEL[channel]} AND due_at IS NOT NULL`,
    );
    return row?.ms ?? undefined;
  }

  due(endpointId: string, most: number): Promise<DueDelivery[]> {
    return this.database.query(
      `SELECT id, event_id, body, tries, url FROM gateway.webhook_deliveries
       WHERE endpoint_id = $1 AND next_try_at <= now() ORDER BY next_try_at LIMIT $2`,
      [endpointId, most],
    );
  }

  /**
   * Stores outcomes and ends the lease after a pause, unless another process has the endpoint by now. Until
   * then nobody delivers to it.
   */
  async finish(
    { id, lease_until }: LeasedEndpoint,
    attempted: readonly Attempted[],
    pauseMs = 0,
  ): Promise<void> {
    await this.database.transaction(async (client) => {
      // Locked first, so that the next statements see every delivery that was added before.
      const { rowCount } = await client.query(
        'SELECT FROM gateway.webhook_endpoints WHERE id = $1 AND lease_until = $2 FOR NO KEY UPDATE',
        [id, lease_until],
      );
      if (rowCount === 0) return;
      await client.query(STORE_ATTEMPTS, [
        attempted.map((each) => each.id),
        attempted.map(({ state }) => state),
        attempted.map(({ status }) => status),
        attempted.map(({ fault }) => fault),
        attempted.map(({ retryMs }) => retryMs),
      ]);
      const hasSucceeded = attempted.some(({ state }) => state === 'delivered');
      const { rows } = await client.query<DisabledRow>(END_LEASE, [
        id,
        hasSucceeded,
        attempted.some(({ isOurs = false }) => !isOurs),
        attempted.some(({ isGone }) => isGone),
        pauseMs,
      ]);
      const [ended] = rows;
      if (ended?.state === 'gone' || ended?.state === 'failing') await addDisabled(client, ended);
    });
  }
}

interface DisabledRow {
  readonly id: string;
  readonly account_id: string;
  readonly url: string;
  readonly state: string;
}

const STORE_ATTEMPTS = `
  UPDATE gateway.webhook_deliveries AS delivery
  SET state = given.state, status = given.status, fault = given.fault, tries = tries + 1, tried_at = now(),
    next_try_at = now() + make_interval(secs => given.retry_ms / 1000.0)
  FROM unnest($1::uuid[], $2::text[], $3::int[], $4::text[], $5::float8[]) AS given (id, state, status, fault, retry_ms)
  WHERE delivery.id = given.id`;

const END_LEASE = `
  UPDATE gateway.webhook_endpoints
  SET lease_until = CASE WHEN $5 > 0 THEN now() + make_interval(secs => $5 / 1000.0) END,
    due_at = (SELECT min(next_try_at) FROM gateway.webhook_deliveries WHERE endpoint_id = $1),
    failing_since = CASE WHEN $2 THEN NULL WHEN $3 THEN coalesce(failing_since, now()) ELSE failing_since END,
    state = CASE WHEN state <> 'enabled' THEN state WHEN $4 THEN 'gone'
      WHEN NOT $2 AND $3 AND failing_since < now() - interval '${FAILING_DAYS} days' THEN 'failing' ELSE state END
  WHERE id = $1 RETURNING id, coalesce(account_id, '${OPERATOR}') AS account_id, url, state`;

/** Notifies the other endpoints of the account. */
function addDisabled(client: PoolClient, { id, account_id, url, state }: DisabledRow): Promise<void> {
  const data = { endpoint_id: id, url, state };
  const event = newAccountEvent(account_id, 'webhook_endpoint.disabled', data);
  return addToOutbox((sql, values) => client.query(sql, [...values]), accountEvent, event);
}

async function makeDue(client: PoolClient, endpointId: string): Promise<void> {
  await client.query('UPDATE gateway.webhook_endpoints SET due_at = least(due_at, now()) WHERE id = $1', [
    endpointId,
  ]);
}

function known([delivery]: readonly StoredDelivery[]): StoredDelivery {
  if (!delivery) throw new Problem('WEBHOOK_DELIVERY_NOT_FOUND', { param: 'deliveryId' });
  return delivery;
}

/** As OpenAI's events. Every attempt sends and signs the same bytes. */
function bodyOf({ id, type, at, data }: AccountEvent): string {
  const createdAt = Math.floor(Date.parse(at) / 1_000);
  return JSON.stringify({ id, object: 'event', created_at: createdAt, type, data });
}
