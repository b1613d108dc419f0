import type { BatchView, FileView } from '@svc/api/batches';
import type { MessageBatchView } from '@svc/api/messages';
import { usdNumber } from '@svc/contracts/money';
import type { FileRecord } from '../files/file.store.js';
import type { BatchRecord } from '../records/batch-record.js';

const secondsOf = (time: Date): number => Math.floor(time.getTime() / 1_000);

const secondsOrNull = (time: Date | null | undefined): number | null => (time ? secondsOf(time) : null);

export const fileView = (file: FileRecord): FileView => ({
  id: file.id,
  object: 'file',
  bytes: file.bytes,
  created_at: secondsOf(file.createdAt),
  expires_at: secondsOf(file.expiresAt),
  filename: file.filename,
  purpose: file.purpose === 'batch' ? 'batch' : 'batch_output',
  status: 'processed',
});

export function batchView(batch: BatchRecord): BatchView {
  const { state, endedAt, completed, failed, usage } = batch;
  const endedAs = (which: BatchRecord['state']): number | null =>
    state === which ? secondsOrNull(endedAt) : null;
  return {
    id: batch.id,
    object: 'batch',
    endpoint: batch.endpoint,
    errors: null,
    input_file_id: batch.inputFileId,
    completion_window: '24h',
    status: state,
    output_file_id: endedAt && completed > 0 ? batch.outputFileId : null,
    error_file_id: endedAt && failed > 0 ? batch.errorFileId : null,
    created_at: secondsOf(batch.createdAt),
    in_progress_at: secondsOrNull(batch.startedAt),
    expires_at: secondsOf(batch.expiresAt),
    finalizing_at: secondsOrNull(batch.finalizingAt),
    completed_at: endedAs('completed'),
    failed_at: null,
    expired_at: endedAs('expired'),
    cancelling_at: secondsOrNull(batch.cancellingAt),
    cancelled_at: endedAs('cancelled'),
    request_counts: { total: batch.lines, completed, failed },
    usage: {
      input_tokens: usage.promptTokens,
      input_tokens_details: { cached_tokens: usage.cachedTokens },
      output_tokens: usage.completionTokens,
      output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
      total_tokens: usage.promptTokens + usage.completionTokens,
    },
    cost_usd: usdNumber(batch.costNano),
    max_cost_usd: batch.maxCostNano === null ? null : usdNumber(batch.maxCostNano),
    metadata: batch.metadata,
  };
}

export function messageBatchView(batch: BatchRecord): MessageBatchView {
  const { id, state, endedAt, lines, completed, failed } = batch;
  const left = lines - completed - failed;
  return {
    type: 'message_batch',
    id,
    processing_status: endedAt ? 'ended' : state === 'cancelling' ? 'canceling' : 'in_progress',
    request_counts: {
      processing: endedAt ? 0 : left,
      succeeded: completed,
      errored: failed,
      canceled: state === 'cancelled' ? left : 0,
      expired: state === 'expired' ? left : 0,
    },
    created_at: batch.createdAt.toISOString(),
    expires_at: batch.expiresAt.toISOString(),
    cancel_initiated_at: batch.cancellingAt?.toISOString() ?? null,
    ended_at: endedAt?.toISOString() ?? null,
    archived_at: null,
    results_url: endedAt ? `/v1/messages/batches/${id}/results` : null,
  };
}

/** A page of a list, of which one item more than `limit` was read if there are more. */
export function pageOf<Item extends { readonly id: string }>(
  items: readonly Item[],
  limit: number,
): { object: 'list'; data: Item[]; first_id: string | null; last_id: string | null; has_more: boolean } {
  const data = items.slice(0, limit);
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: items.length > limit,
  };
}
