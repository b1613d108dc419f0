import { Injectable } from '@nestjs/common';
import type { ActionQuery, ActionView } from '@svc/api/operator';
import { Database } from '@svc/storage';

/** An action that is about to begin. */
export interface NewAction extends Pick<ActionView, 'token' | 'action' | 'target' | 'requestId'> {
  readonly input: unknown;
}

interface ActionRow extends Omit<ActionView, 'id' | 'at'> {
  readonly id: bigint;
  readonly at: Date;
}

/** The log of operator actions. */
@Injectable()
export class ActionStore {
  constructor(private readonly database: Database) {}

  async begin({ token, action, target, requestId, input }: NewAction): Promise<void> {
    await this.database.query(
      `INSERT INTO gateway.operator_actions (token, action, target, request_id, input) VALUES ($1, $2, $3, $4, $5)`,
      [token, action, target, requestId, input === undefined ? null : JSON.stringify(input)],
    );
  }

  async end(requestId: string, status: number, code: string | undefined): Promise<void> {
    await this.database.query(
      'UPDATE gateway.operator_actions SET status = $2, code = $3 WHERE request_id = $1',
      [requestId, status, code],
    );
  }

  /**
   * Records that a version of a file came into force, unless the last recorded one is the same. Of several
   * gateways only the first records it, since the request id contains the previous record.
   */
  async recordFile(action: string, hash: string, input: object): Promise<void> {
    await this.database.query(
      `INSERT INTO gateway.operator_actions (token, action, target, request_id, input, status)
       SELECT 'file', $1, $2, $1 || '-' || COALESCE(last.id, 0), $3, 200
       FROM (SELECT 1) one
       LEFT JOIN LATERAL (
         SELECT id, target FROM gateway.operator_actions WHERE action = $1 ORDER BY id DESC LIMIT 1
       ) last ON true
       WHERE last.target IS DISTINCT FROM $2
       ON CONFLICT (request_id) DO NOTHING`,
      [action, hash, JSON.stringify(input)],
    );
  }

  /** At most `limit`, newest first. */
  async list(query: ActionQuery): Promise<ActionView[]> {
    const { token, action, target, requestId, from, until, before, limit } = query;
    const rows = await this.database.query<ActionRow>(
      `SELECT id, at, token, action, target, input, request_id AS "requestId", status, code
       FROM gateway.operator_actions
       WHERE ($1::text IS NULL OR token = $1) AND ($2::text IS NULL OR action = $2)
         AND ($3::text IS NULL OR target = $3) AND ($4::text IS NULL OR request_id = $4)
         AND ($5::timestamptz IS NULL OR at >= $5) AND ($6::timestamptz IS NULL OR at < $6)
         AND ($7::bigint IS NULL OR id < $7)
       ORDER BY id DESC LIMIT $8`,
      [token, action, target, requestId, dateOf(from), dateOf(until), before, limit],
    );
    return rows.map(({ id, at, ...row }) => ({ id: id.toString(), at: at.toISOString(), ...row }));
  }
}

/** PostgreSQL accepts fewer UTC offsets than ISO 8601. */
const dateOf = (instant: string | undefined): Date | undefined =>
  instant === undefined ? undefined : new Date(instant);
