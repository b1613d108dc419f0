import type { BatchEndpoint, BatchState } from '@svc/api/batches';

/** Whose API's form a batch has. */
type BatchForm = 'openai' | 'anthropic';

/** A batch, as its account sees it. */
export interface BatchRecord {
  readonly id: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly form: BatchForm;
  readonly endpoint: BatchEndpoint;
  readonly inputFileId: string;
  readonly outputFileId: string;
  readonly errorFileId: string;
  readonly state: BatchState;
  readonly lines: number;
  readonly completed: number;
  readonly failed: number;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly outputSeconds: number | null;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly finalizingAt: Date | null;
  readonly cancellingAt: Date | null;
  readonly endedAt: Date | null;
  readonly expiresAt: Date;
}

/** A batch that this process works on. */
export interface LeasedBatch extends BatchRecord {
  readonly version: number;
  /** Of its input file. */
  readonly blocks: number;
}

export interface BatchRow {
  readonly id: string;
  readonly account_id: string;
  readonly key_id: string;
  readonly form: BatchForm;
  readonly endpoint: BatchEndpoint;
  readonly input_file_id: string;
  readonly output_file_id: string;
  readonly error_file_id: string;
  readonly state: BatchState;
  readonly lines: number;
  readonly completed: number;
  readonly failed: number;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly output_seconds: number | null;
  readonly created_at: Date;
  readonly started_at: Date | null;
  readonly finalizing_at: Date | null;
  readonly cancelling_at: Date | null;
  readonly ended_at: Date | null;
  readonly expires_at: Date;
}

export const COLUMNS = `batch.id, batch.account_id, batch.key_id, batch.form, batch.endpoint, batch.input_file_id,
  batch.output_file_id, batch.error_file_id, batch.state, batch.lines, batch.completed, batch.failed, batch.metadata,
  batch.output_seconds, batch.created_at, batch.started_at, batch.finalizing_at, batch.cancelling_at, batch.ended_at,
  batch.expires_at`;

export const recordOf = (row: BatchRow): BatchRecord => ({
  id: row.id,
  accountId: row.account_id,
  keyId: row.key_id,
  form: row.form,
  endpoint: row.endpoint,
  inputFileId: row.input_file_id,
  outputFileId: row.output_file_id,
  errorFileId: row.error_file_id,
  state: row.state,
  lines: row.lines,
  completed: row.completed,
  failed: row.failed,
  metadata: row.metadata,
  outputSeconds: row.output_seconds,
  createdAt: row.created_at,
  startedAt: row.started_at,
  finalizingAt: row.finalizing_at,
  cancellingAt: row.cancelling_at,
  endedAt: row.ended_at,
  expiresAt: row.expires_at,
});
