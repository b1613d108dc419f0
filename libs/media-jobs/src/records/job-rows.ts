import { type MediaJobRecord, type MediaJobState, type MediaKind, MediaOrder } from '@svc/contracts/ports';
import type { JobRecord } from './job-record.js';

/** What operators see. */
export interface ListedRow {
  readonly id: string;
  readonly request_id: string;
  readonly account_id: string;
  readonly key_id: string;
  readonly kind: MediaKind;
  readonly model: string;
  readonly state: MediaJobState;
  readonly submits: number;
  readonly backend: string | null;
  readonly failure_code: string | null;
  readonly failure_message: string | null;
  readonly refund: 'pending' | 'done' | null;
  readonly bytes: bigint | null;
  readonly callback_url: string | null;
  readonly created_at: Date;
  readonly started_at: Date | null;
  readonly ended_at: Date | null;
  readonly deadline_at: Date;
  readonly expires_at: Date;
}

export interface JobRow extends ListedRow {
  readonly order: unknown;
  readonly version: number;
  readonly tries: number;
  readonly backend_job: string | null;
  readonly mime: string | null;
  readonly expected_ms: number;
}

export const LISTED = `id, request_id, account_id, key_id, kind, model, state, submits, backend, failure_code, failure_message,
  refund, bytes, callback_url, created_at, started_at, ended_at, deadline_at, expires_at`;

/** All but the files of the order and what only the database reads. */
export const COLUMNS = `${LISTED}, "order", version, tries, backend_job, mime, expected_ms`;

export function recordOf(row: JobRow): JobRecord {
  return {
    ...listedOf(row),
    order: row.order === null ? undefined : MediaOrder.parse(row.order),
    version: row.version,
    tries: row.tries,
    backendJob: row.backend_job ?? undefined,
    mime: row.mime ?? undefined,
    expectedMs: row.expected_ms,
  };
}

export const listedOf = (row: ListedRow): MediaJobRecord => ({
  id: row.id,
  requestId: row.request_id,
  accountId: row.account_id,
  keyId: row.key_id,
  kind: row.kind,
  model: row.model,
  state: row.state,
  submits: row.submits,
  backend: row.backend ?? undefined,
  failureCode: row.failure_code ?? undefined,
  failureMessage: row.failure_message ?? undefined,
  refund: row.refund ?? undefined,
  bytes: row.bytes === null ? undefined : Number(row.bytes),
  createdAt: row.created_at,
  startedAt: row.started_at ?? undefined,
  endedAt: row.ended_at ?? undefined,
  deadlineAt: row.deadline_at,
  expiresAt: row.expires_at,
});
