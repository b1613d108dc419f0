import { z } from 'zod';
import { Label, PositiveUsd, TransferView } from './operator.js';

/** Gives back what a request cost: all that is left of it, or a part. */
export const NewRefund = z.strictObject({
  /** As in the header `x-request-id` of its answer. */
  requestId: Label.meta({ example: 'chatcmpl-0199f3a1c2d37b8e' }),
  /** The operator's own name for this refund. The same reference refunds an account once. */
  reference: Label.meta({ example: 'complaint-3' }),
  /** What to give back in USD. With neither currency all that is left of both; with one, that one only. */
  usd: PositiveUsd.optional(),
  diem: PositiveUsd.optional(),
});

/** A transfer for each currency that was given back. */
export const RefundTransfers = z.object({
  object: z.literal('list'),
  data: z.array(TransferView),
});

/** What to prove: `new` is what came since the last audit that found nothing. */
export const AuditQuery = z.strictObject({
  scope: z.enum(['whole', 'new']).default('whole'),
});

export type NewRefund = z.infer<typeof NewRefund>;
export type RefundTransfers = z.infer<typeof RefundTransfers>;
export type AuditQuery = z.infer<typeof AuditQuery>;
