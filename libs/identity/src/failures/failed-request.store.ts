import { Injectable } from '@nestjs/common';
import { Database } from '@svc/storage';
import { DatabaseError } from 'pg';

/** Deadline for counting, as for other sums that operators read. */
const COUNTING_MS = 4_000;
const CANCELED = '57014';

/** Days such as `2026-11-21`, both included. */
interface RefusalPeriod {
  readonly from: string;
  readonly until: string;
  readonly limit: number;
}

/** A request that was refused or that failed. */
export interface FailedRequest {
  readonly requestId: string;
  /** When it ended. */
  readonly at: Date;
  /** The `operationId` of its route. */
  readonly route: string;
  readonly status: number;
  readonly code: string | null;
  readonly ended: string | null;
  readonly accountId: string | null;
  readonly keyId: string | null;
  readonly model: string | null;
  readonly durationMs: number;
}

/** Requests that were refused or that failed, without their content. */
@Injectable()
export class FailedRequestStore {
  constructor(private readonly database: Database) {}

  async add(requests: readonly FailedRequest[]): Promise<void> {
    const column = <Value>(of: (request: FailedRequest) => Value): Value[] => requests.map(of);
    await this.database.query(ADD, [
      column(({ requestId }) => requestId),
      column(({ at }) => at),
      column(({ route }) => route),
      column(({ status }) => status),
      column(({ code }) => code),
      column(({ ended }) => ended),
      column(({ accountId }) => accountId),
      column(({ keyId }) => keyId),
      column(({ model }) => model),
      column(({ durationMs }) => durationMs),
    ]);
  }

  async find(requestId: string): Promise<FailedRequest | undefined> {
    const [row] = await this.database.query<FailedRequest & { readonly [column: string]: unknown }>(
      `SELECT request_id AS "requestId", at, route, status, code, ended, account_id AS "accountId", key_id AS "keyId",
         model, duration_ms AS "durationMs" FROM gateway.failed_requests WHERE request_id = $1`,
      [requestId],
    );
    return row;
  }

  /**
   * How many requests were refused, by account, from one day to another: of these accounts, or of those with
   * the most. Undefined if they are too many to count in time.
   */
  async refusals(
    { from, until, limit }: RefusalPeriod,
    accountIds?: readonly string[],
  ): Promise<ReadonlyMap<string, number> | undefined> {
    const rows = await this.database
      .transaction(async (client) => {
        await client.query(`SET LOCAL statement_timeout = ${COUNTING_MS}`);
        const found = await client.query<{ readonly accountId: string; readonly refusals: bigint }>(
          REFUSALS,
          [from, until, accountIds?.length ?? limit, accountIds ?? null],
        );
        return found.rows;
      })
      .catch((error: unknown) => {
        if (error instanceof DatabaseError && error.code === CANCELED) return undefined;
        throw error;
      });
    return rows && new Map(rows.map(({ accountId, refusals }) => [accountId, Number(refusals)]));
  }
}

/** Without those whose client left. */
const REFUSALS = `
  SELECT account_id AS "accountId", count(*) AS refusals FROM gateway.failed_requests
  WHERE at >= $1::date::timestamp AT TIME ZONE 'UTC' AND at < ($2::date + 1)::timestamp AT TIME ZONE 'UTC'
    AND status BETWEEN 400 AND 498 AND account_id IS NOT NULL
    AND ($4::uuid[] IS NULL OR account_id = ANY($4::uuid[]))
  GROUP BY account_id ORDER BY refusals DESC, account_id LIMIT $3`;

const ADD = `
  INSERT INTO gateway.failed_requests
    (request_id, at, route, status, code, ended, account_id, key_id, model, duration_ms)
  SELECT * FROM unnest($1::text[], $2::timestamptz[], $3::text[], $4::int[], $5::text[], $6::text[], $7::uuid[],
    $8::text[], $9::text[], $10::int[])
  ON CONFLICT DO NOTHING`;
