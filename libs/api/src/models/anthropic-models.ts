import { z } from 'zod';

/** A model in the form of Anthropic's Models API. */
export const AnthropicModel = z.object({
  type: z.literal('model'),
  id: z.string(),
  display_name: z.string(),
  created_at: z.iso.datetime(),
  max_input_tokens: z.int().nullable(),
  max_tokens: z.int().nullable(),
  lifecycle: z.enum(['active', 'deprecated']),
  deprecated_at: z.iso.datetime().nullable(),
  retires_at: z.iso.datetime().nullable(),
  line: z.null(),
  capabilities: z.null().describe('Without the header `anthropic-version`, `model_spec` has them.'),
});

/** All models, on one page. */
export const AnthropicModelList = z.object({
  data: z.array(AnthropicModel),
  has_more: z.literal(false),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
});

export type AnthropicModel = z.infer<typeof AnthropicModel>;
export type AnthropicModelList = z.infer<typeof AnthropicModelList>;
