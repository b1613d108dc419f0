import { Injectable } from '@nestjs/common';
import { Database } from '@svc/storage';

/** A request that a key names. */
export interface NamedRequest {
  readonly accountId: string;
  readonly key: string;
  readonly bodySha256: string;
}

/** A response as it is stored. */
export interface StoredResponse {
  readonly credits: number;
  readonly backend: string;
  /** `null`: it was too large to be stored. */
  readonly response: string | null;
}

/** The lease that a process has on a request. */
export interface RequestLease extends NamedRequest {
  /** Of its hold and charge. */
  readonly requestId: string;
  readonly version: number;
}

interface RequestRow extends Partial<StoredResponse> {
  readonly body_sha256: string;
  readonly request_id: string;
  readonly state: 'running' | 'answered' | 'charged';
  readonly version: number;
}

const KEPT_SECONDS = 86_400;

/** Rows deleted by one statement. */
const FORGOTTEN_AT_ONCE = 10_000;

const COLUMNS = 'body_sha256, request_id, state, version, credits, backend, response';

/** Stores requests with an idempotency key. */
@Injectable()
export class RpcRequestsStore {
  constructor(private readonly database: Database) {}

  /** Begins a request, or takes over one whose process has ended; otherwise `undefined`. */
  async lease(
    { accountId, key, bodySha256 }: NamedRequest,
    requestId: string,
    leaseMs: number,
  ): Promise<RequestRow | undefined> {
    const [row] = await this.database.query<RequestRow>(
      `INSERT INTO gateway.rpc_requests AS known
         (account_id, key, body_sha256, request_id, lease_until, expires_at)
       VALUES ($1, $2, $3, $4, now() + $5 * interval '1 millisecond', now() + $6 * interval '1 second')
       ON CONFLICT (account_id, key) DO UPDATE
         SET version = known.version + 1, lease_until = excluded.lease_until
         WHERE known.body_sha256 = excluded.body_sha256 AND known.state <> 'charged' AND known.lease_until < now()
       RETURNING ${COLUMNS}`,
      [accountId, key, bodySha256, requestId, leaseMs, KEPT_SECONDS],
    );
    return row;
  }

  async find({ accountId, key }: NamedRequest): Promise<RequestRow | undefined> {
    const [row] = await this.database.query<RequestRow>(
      `SELECT ${COLUMNS} FROM gateway.rpc_requests WHERE account_id = $1 AND key = $2`,
      [accountId, key],
    );
    return row;
  }

  renew(lease: RequestLease, leaseMs: number): Promise<boolean> {
    return this.change(lease, `SET lease_until = now() + $4 * interval '1 millisecond'`, [leaseMs]);
  }

  /** Stores the response. Returns false if another process has taken the request over. */
  answer(lease: RequestLease, { credits, backend, response }: StoredResponse): Promise<boolean> {
    const set = `SET state = 'answered', credits = $4, backend = $5, response = $6`;
    return this.change(lease, set, [credits, backend, response]);
  }

  /** Returns false if its response is not stored. */
  async charged({ accountId, key, version }: RequestLease): Promise<boolean> {
    const rows = await this.database.query(
      `UPDATE gateway.rpc_requests SET state = 'charged'
       WHERE account_id = $1 AND key = $2 AND version = $3 AND state = 'answered' RETURNING 1`,
      [accountId, key, version],
    );
    return rows.length > 0;
  }

  /** Forgets a request that has had no effect, so that its key can be used again. */
  async drop({ accountId, key, version }: RequestLease): Promise<void> {
    await this.database.query(
      `DELETE FROM gateway.rpc_requests
       WHERE account_id = $1 AND key = $2 AND version = $3 AND state = 'running'`,
      [accountId, key, version],
    );
  }

  /** Deletes a limited number of expired requests. */
  async forget(): Promise<void> {
    await this.database.query(
      `DELETE FROM gateway.rpc_requests WHERE (account_id, key) IN (
         SELECT account_id, key FROM gateway.rpc_requests WHERE expires_at < now() LIMIT $1 FOR UPDATE SKIP LOCKED
       )`,
      [FORGOTTEN_AT_ONCE],
    );
  }

  private async change(
    { accountId, key, version }: RequestLease,
    set: string,
    values: readonly unknown[],
  ): Promise<boolean> {
    const rows = await this.database.query(
      `UPDATE gateway.rpc_requests ${set}
       WHERE account_id = $1 AND key = $2 AND version = $3 RETURNING 1`,
      [accountId, key, version, ...values],
    );
    return rows.length > 0;
  }
}
