import { z } from 'zod';

const PerMinute = z.int().min(1).max(2_000_000_000);

const ModelLimits = z.strictObject({
  model: z
    .string()
    .min(1)
    .max(200)
    .describe('The id of a model, or `*` for every model not listed here.')
    .meta({ example: '*' }),
  requestsPerMinute: PerMinute.optional(),
  tokensPerMinute: PerMinute.optional(),
});

/** Limits of an account that replace those of its tier. Absent ones are the tier's. */
export const AccountLimits = z.strictObject({
  concurrentRequests: z
    .int()
    .min(1)
    .max(1_000_000)
    .nullable()
    .default(null)
    .describe('The maximum number of concurrent requests; null for the default of the service.'),
  models: z
    .array(ModelLimits)
    .max(1_000)
    .refine(
      (models) => new Set(models.map(({ model }) => model)).size === models.length,
      'must name each model once',
    )
    .default([]),
});

export type AccountLimits = z.infer<typeof AccountLimits>;
