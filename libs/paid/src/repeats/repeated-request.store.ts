import { Injectable } from '@nestjs/common';
import type { UsageRecorded } from '@svc/contracts/messages';
import { Database } from '@svc/storage';

/** A request that a key names. */
export interface NamedRequest {
  readonly accountId: string;
  readonly key: string;
  readonly bodySha256: string;
}

/** The lease that a process has on a request. */
export interface RequestLease extends Pick<NamedRequest, 'accountId' | 'key'> {
  readonly version: number;
}

export interface RepeatedRow {
  readonly body_sha256: string;
  readonly request_id: string;
  readonly version: number;
  readonly is_made: boolean;
  readonly charge: UsageRecorded | null;
  readonly answer: Buffer | null;
}

const KEPT_SECONDS = 86_400;

/** What is stored of an account's responses at once; of more requests only the fact is kept. */
const ANSWERS_MOST = 1_000;
const ACCOUNT_BYTES = 67_108_864;

const COLUMNS = 'body_sha256, request_id, version, is_made, charge, answer';

/** Stores requests with an idempotency key. */
@Injectable()
export class RepeatedRequestStore {
  constructor(private readonly database: Database) {}

  /** Begins a request, or takes over one whose process has ended; otherwise `undefined`. */
  async lease(
    { accountId, key, bodySha256 }: NamedRequest,
    requestId: string,
    leaseMs: number,
  ): Promise<RepeatedRow | undefined> {
    const [row] = await this.database.query<RepeatedRow>(
      `INSERT INTO gateway.repeated_requests AS known
         (account_id, key, body_sha256, request_id, lease_until, expires_at)
       VALUES ($1, $2, $3, $4, now() + $5 * interval '1 millisecond', now() + $6 * interval '1 second')
       ON CONFLICT (account_id, key) DO UPDATE
         SET version = known.version + 1, lease_until = excluded.lease_until
         WHERE known.body_sha256 = excluded.body_sha256 AND NOT known.is_made AND known.lease_until < now()
       RETURNING ${COLUMNS}`,
      [accountId, key, bodySha256, requestId, leaseMs, KEPT_SECONDS],
    );
    return row;
  }

  async find({ accountId, key }: NamedRequest): Promise<RepeatedRow | undefined> {
    const [row] = await this.database.query<RepeatedRow>(
      `SELECT ${COLUMNS} FROM gateway.repeated_requests WHERE account_id = $1 AND key = $2`,
      [accountId, key],
    );
    return row;
  }

  /**
   * Ends the leases of all requests without a response whose keys have this beginning. Returns the charges
   * that are stored for them.
   */
  async releaseAll(accountId: string, beginning: string): Promise<UsageRecorded[]> {
    const rows = await this.database.query<{ charge: UsageRecorded | null }>(
      `UPDATE gateway.repeated_requests SET version = version + 1, lease_until = now()
       WHERE account_id = $1 AND starts_with(key, $2) AND NOT is_made RETURNING charge`,
      [accountId, beginning],
    );
    return rows.flatMap(({ charge }) => charge ?? []);
  }

  /**
   * Ends a lease, so that the request can be made again. Returns the charge that is stored for it, if any;
   * none is stored from then on. Its row stays if its id must not be used for another attempt.
   */
  async release({ accountId, key, version }: RequestLease): Promise<UsageRecorded | undefined> {
    const [row] = await this.database.query<{ charge: UsageRecorded | null }>(
      `WITH forgotten AS (
         DELETE FROM gateway.repeated_requests
         WHERE account_id = $1 AND key = $2 AND version = $3 AND NOT is_made AND version = 0 AND charge IS NULL
       )
       UPDATE gateway.repeated_requests SET version = version + 1, lease_until = now()
       WHERE account_id = $1 AND key = $2 AND version = $3 AND NOT is_made AND (version > 0 OR charge IS NOT NULL)
       RETURNING charge`,
      [accountId, key, version],
    );
    return row?.charge ?? undefined;
  }

  /** Gives a request another id, without a charge. Undefined if another process has it. */
  async rename(
    { accountId, key, version }: RequestLease,
    requestId: string,
    leaseMs: number,
  ): Promise<RepeatedRow | undefined> {
    const [row] = await this.database.query<RepeatedRow>(
      `UPDATE gateway.repeated_requests
       SET request_id = $4, charge = NULL, version = version + 1, lease_until = now() + $5 * interval '1 millisecond'
       WHERE account_id = $1 AND key = $2 AND version = $3 AND NOT is_made RETURNING ${COLUMNS}`,
      [accountId, key, version, requestId, leaseMs],
    );
    return row;
  }

  async renew({ accountId, key, version }: RequestLease, leaseMs: number): Promise<void> {
    await this.database.query(
      `UPDATE gateway.repeated_requests SET lease_until = now() + $4 * interval '1 millisecond'
       WHERE account_id = $1 AND key = $2 AND version = $3`,
      [accountId, key, version, leaseMs],
    );
  }

  /**
   * The charge to make: the stored one, or else this one, which is then stored. Undefined if another process
   * has taken the request over.
   */
  async charge(
    { accountId, key, version }: RequestLease,
    charge: UsageRecorded,
  ): Promise<UsageRecorded | undefined> {
    const [row] = await this.database.query<{ charge: UsageRecorded }>(
      `UPDATE gateway.repeated_requests SET charge = coalesce(charge, $4::jsonb)
       WHERE account_id = $1 AND key = $2 AND version = $3 RETURNING charge`,
      [accountId, key, version, JSON.stringify(charge)],
    );
    return row?.charge;
  }

  /** The request has its response, which is stored if it is given and there is room. */
  async made({ accountId, key, version }: RequestLease, answer: Buffer | undefined): Promise<void> {
    await this.database.query(
      `UPDATE gateway.repeated_requests SET is_made = true, answer = CASE WHEN (
           SELECT count(*) < $5 AND coalesce(sum(bytes), 0) < $6 FROM (
             SELECT octet_length(answer) AS bytes FROM gateway.repeated_requests
             WHERE account_id = $1 AND answer IS NOT NULL LIMIT $5
           ) AS stored
         ) THEN $4::bytea END
       WHERE account_id = $1 AND key = $2 AND version = $3 AND NOT is_made`,
      [accountId, key, version, answer, ANSWERS_MOST, ACCOUNT_BYTES],
    );
  }

  /** Forgets a request that has had no effect, so that its key can be used again. */
  async drop({ accountId, key, version }: RequestLease): Promise<void> {
    await this.database.query(
      `DELETE FROM gateway.repeated_requests
       WHERE account_id = $1 AND key = $2 AND version = $3 AND NOT is_made AND charge IS NULL`,
      [accountId, key, version],
    );
  }

  /** Forgets a request whose charge was refused, also if another process has taken it over meanwhile. */
  async forget({ accountId, key }: RequestLease, requestId: string): Promise<void> {
    await this.database.query(
      `DELETE FROM gateway.repeated_requests
       WHERE account_id = $1 AND key = $2 AND request_id = $3 AND NOT is_made`,
      [accountId, key, requestId],
    );
  }
}
