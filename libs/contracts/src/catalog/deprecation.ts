import { z } from 'zod';

/** A date such as `2026-11-30`, or a time. */
const Moment = z.union([z.iso.date(), z.iso.datetime({ offset: true })]);

/** When a model is removed, and what replaces it. */
export const Deprecation = z.strictObject({
  /** Clients are warned from this time on; default: at once. */
  startsAt: Moment.optional(),
  /** The model counts as deprecated from this time on. */
  date: Moment,
  /** The model is removed at this time. */
  removesAt: Moment,
  /** Whether requests go to the replacement once the model is removed. */
  autoRemap: z.boolean().default(false),
  replacementModelId: z.string().optional(),
});

export type Deprecation = z.infer<typeof Deprecation>;
