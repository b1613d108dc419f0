import { Injectable } from '@nestjs/common';
import { LIMIT_LOG_LENGTH, LimitReached } from '@svc/contracts/messages';
import { Database } from '@svc/storage';

interface ReachedRow {
  readonly account_id: string;
  readonly at: Date;
  readonly request_id: string;
  readonly key_id: string;
  readonly model: string;
  readonly route: string | null;
  readonly tier: string;
  readonly type: string;
}

/** The latest refused requests of each account. */
@Injectable()
export class LimitLogStore {
  constructor(private readonly database: Database) {}

  /** Adds entries, each once however often it is delivered, and deletes those too old to be shown. */
  async add(entries: readonly LimitReached[]): Promise<void> {
    const column = (name: keyof LimitReached): (string | null)[] =>
      entries.map((entry) => entry[name] ?? null);
    const accountIds = [...new Set(column('accountId'))];
    await this.database.query(
      `INSERT INTO limiter.reached (account_id, at, request_id, key_id, model, route, tier, type)
       SELECT * FROM unnest($1::uuid[], $2::timestamptz[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[])
       ON CONFLICT DO NOTHING`,
      [
        column('accountId'),
        column('at'),
        column('requestId'),
        column('keyId'),
        column('model'),
        column('route'),
        column('tier'),
        column('type'),
      ],
    );
    await this.database.query(
      `DELETE FROM limiter.reached AS old
       USING unnest($1::uuid[]) AS account (id), LATERAL (
         SELECT at, request_id FROM limiter.reached WHERE account_id = account.id
         ORDER BY at DESC, request_id DESC OFFSET $2 LIMIT 1
       ) AS first_old
       WHERE old.account_id = account.id AND (old.at, old.request_id) <= (first_old.at, first_old.request_id)`,
      [accountIds, LIMIT_LOG_LENGTH],
    );
  }

  /** The latest entries of an account, newest first. */
  async latest(accountId: string): Promise<LimitReached[]> {
    const rows = await this.database.query<ReachedRow>(
      `SELECT account_id, at, request_id, key_id, model, route, tier, type FROM limiter.reached
       WHERE account_id = $1 ORDER BY at DESC, request_id DESC LIMIT $2`,
      [accountId, LIMIT_LOG_LENGTH],
    );
    return rows.map((row) =>
      LimitReached.parse({
        requestId: row.request_id,
        accountId: row.account_id,
        keyId: row.key_id,
        model: row.model,
        ...(row.route !== null && { route: row.route }),
        tier: row.tier,
        type: row.type,
        at: row.at.toISOString(),
      }),
    );
  }
}
