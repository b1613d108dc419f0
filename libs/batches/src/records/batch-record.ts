import type { Charge } from '@svc/contracts/messages';
import { totalNano } from '@svc/contracts/money';
import type { BatchEndpoint, BatchState } from '@svc/api/batches';

/** What lines have used. */
export interface LineUsage {
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly completionTokens: number;
  readonly reasoningTokens: number;
}

export const NO_LINE_USAGE: LineUsage = {
  promptTokens: 0,
  cachedTokens: 0,
  completionTokens: 0,
  reasoningTokens: 0,
};

/** What lines have used, and what that cost in USD and DIEM together. */
export interface LineSpending {
  readonly usage: LineUsage;
  readonly costNano: bigint;
}

/** How far a batch has come. */
export interface BatchProgress extends LineSpending {
  readonly completed: number;
  readonly failed: number;
}

/** Whose API's form a batch has. */
type BatchForm = 'openai' | 'anthropic';

/** A batch, as its account sees it. */
export interface BatchRecord extends BatchProgress {
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
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly maxCostNano: bigint | null;
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
  readonly max_cost_nano: bigint | null;
  readonly cost_nano: bigint;
  readonly usage: LineUsage | null;
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
  batch.expires_at, batch.max_cost_nano, batch.cost_nano, batch.usage`;

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
  maxCostNano: row.max_cost_nano,
  costNano: row.cost_nano,
  usage: row.usage ?? NO_LINE_USAGE,
  createdAt: row.created_at,
  startedAt: row.started_at,
  finalizingAt: row.finalizing_at,
  cancellingAt: row.cancelling_at,
  endedAt: row.ended_at,
  expiresAt: row.expires_at,
});

export const spendingOf = ({ cost, usage }: Charge): LineSpending => ({
  costNano: totalNano(cost),
  usage: withUsage(NO_LINE_USAGE, usage),
});

export const withUsage = (sum: LineUsage, more: LineUsage): LineUsage => ({
  promptTokens: sum.promptTokens + more.promptTokens,
  cachedTokens: sum.cachedTokens + more.cachedTokens,
  completionTokens: sum.completionTokens + more.completionTokens,
  reasoningTokens: sum.reasoningTokens + more.reasoningTokens,
});
