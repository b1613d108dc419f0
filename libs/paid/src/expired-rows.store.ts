import { Injectable } from '@nestjs/common';
import { Database } from '@svc/storage';

/** Rows deleted by one statement. */
const AT_ONCE = 10_000;

/** The tables whose rows are kept for a time, with their keys, and which rows have had it. */
const TABLES = [
  { table: 'gateway.sign_in_nonces', key: 'wallet, nonce', isOver: 'expires_at < now()' },
  { table: 'gateway.console_sessions', key: 'token_sha256', isOver: 'expires_at < now()' },
  { table: 'gateway.console_tickets', key: 'secret_sha256', isOver: 'expires_at < now()' },
  { table: 'gateway.repeated_requests', key: 'account_id, key', isOver: 'expires_at < now()' },
  { table: 'gateway.failed_requests', key: 'request_id', isOver: "at < now() - interval '30 days'" },
  {
    table: 'gateway.webhook_deliveries',
    key: 'id',
    isOver: "created_at < now() - interval '30 days'",
  },
  { table: 'gateway.voices', key: 'id', isOver: 'expires_at < now()' },
  { table: 'gateway.confirmation_mails', key: 'id', isOver: "sent_at < now() - interval '1 day'" },
] as const;

/** Deletes what is kept only for a time. */
@Injectable()
export class ExpiredRowsStore {
  constructor(private readonly database: Database) {}

  /** In steps that lock few rows, and skip those in use. Returns how many were deleted. */
  async delete(signal: AbortSignal): Promise<number> {
    let deleted = 0;
    for (const { table, key, isOver } of TABLES)
      for (let count = AT_ONCE; count === AT_ONCE; deleted += count) {
        signal.throwIfAborted();
        const rows = await this.database.query(
          `DELETE FROM ${table} WHERE (${key}) IN (
             SELECT ${key} FROM ${table} WHERE ${isOver} LIMIT $1 FOR UPDATE SKIP LOCKED
           ) RETURNING 1`,
          [AT_ONCE],
        );
        count = rows.length;
      }
    return deleted;
  }
}
