import { z } from 'zod';
import { Label, PositiveUsd, TransferView } from './operator.js';

/** Refunds the cost of a request: all that is left of it, or a part. */
export const NewRefund = z.strictObject({
  /** As in the header `x-request-id` of its response. */
  requestId: Label.meta({ example: 'chatcmpl-0199f3a1c2d37b8e' }),
  /** The operator's own name for this refund. The same reference refunds an account once. */
  reference: Label.meta({ example: 'complaint-3' }),
  /** The refund in USD. Without either currency, all that is left of both; with one, only that one. */
  usd: PositiveUsd.optional(),
  diem: PositiveUsd.optional(),
  reason: Label.optional()
    .describe('Kept with the operator action.')
    .meta({ example: 'The answer was cut off' }),
});

/** A transfer for each refunded currency. */
export const RefundTransfers = z.object({
  object: z.literal('list'),
  data: z.array(TransferView),
});

/** What to audit: `new` is everything since the last audit without mismatches. */
export const AuditQuery = z.strictObject({
  scope: z.enum(['whole', 'new']).default('whole'),
});

export type NewRefund = z.infer<typeof NewRefund>;
export type RefundTransfers = z.infer<typeof RefundTransfers>;
export type AuditQuery = z.infer<typeof AuditQuery>;
