import { Injectable } from '@nestjs/common';
import { accountEvent, newAccountEvent } from '@svc/contracts/messages';
import { addToOutbox } from '@svc/events';
import { Database } from '@svc/storage';

/** The most keys of one transaction; the next run finds the rest. */
const AT_ONCE = 1_000;

/** The keys that expire soon. */
@Injectable()
export class ExpiringKeysStore {
  constructor(private readonly database: Database) {}

  /** Adds the event of each, once for each expiry that it gets. */
  async notify(): Promise<void> {
    await this.database.transaction(async (client) => {
      const { rows } = await client.query<{ id: string; account_id: string; expires_at: Date }>(
        `UPDATE gateway.api_keys SET notified_expiry = expires_at WHERE id IN (
           SELECT id FROM gateway.api_keys
           WHERE expires_at BETWEEN now() AND now() + interval '3 days' AND revoked_at IS NULL
             AND notified_expiry IS DISTINCT FROM expires_at
           ORDER BY expires_at LIMIT ${AT_ONCE} FOR NO KEY UPDATE SKIP LOCKED
         ) RETURNING id, account_id, expires_at`,
      );
      for (const { id, account_id: accountId, expires_at: expiresAt } of rows) {
        const data = { key_id: id, expires_at: expiresAt.toISOString() };
        const event = newAccountEvent(accountId, 'key.expiring', data);
        await addToOutbox((sql, values) => client.query(sql, [...values]), accountEvent, event);
      }
    });
  }
}
