import { z } from 'zod';

const Ratio = z.number().min(0).max(1);
const Temperature = z.number().min(0).max(2);
const Penalty = z.number().min(-2).max(2);

/** The default sampling parameters of a model. */
export const SamplingDefaults = z.strictObject({
  temperature: Temperature.default(1),
  topP: Ratio.default(1),
  frequencyPenalty: Penalty.optional(),
  presencePenalty: Penalty.optional(),
  repetitionPenalty: z.number().min(0).optional(),
});
