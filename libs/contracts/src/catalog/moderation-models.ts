import { z } from 'zod';

/** OpenAI's categories. */
export const MODERATION_CATEGORIES = [
  'harassment',
  'harassment/threatening',
  'hate',
  'hate/threatening',
  'illicit',
  'illicit/violent',
  'self-harm',
  'self-harm/instructions',
  'self-harm/intent',
  'sexual',
  'sexual/minors',
  'violence',
  'violence/graphic',
] as const;

/** The categories of each code of Llama Guard 3 and 4. The others have no such category. */
const LLAMA_GUARD = {
  S1: ['violence', 'illicit/violent'],
  S2: ['illicit'],
  S3: ['sexual', 'illicit'],
  S4: ['sexual/minors', 'sexual'],
  S5: ['harassment'],
  S9: ['illicit/violent', 'violence'],
  S10: ['hate'],
  S11: ['self-harm'],
  S12: ['sexual'],
  S14: ['illicit'],
} satisfies Record<string, (typeof MODERATION_CATEGORIES)[number][]>;

/**
 * A model that answers chats with `safe`, or with `unsafe` and a line of codes. Text with an unlisted code is
 * flagged in no category.
 */
export const Guard = z.strictObject({
  categories: z
    .record(z.string().regex(/^[A-Za-z]\w{0,15}$/), z.array(z.enum(MODERATION_CATEGORIES)))
    .default(LLAMA_GUARD),
  /** The most tokens that its chat template adds to an input. */
  templateTokens: z.int().positive().default(1_024),
});
export type Guard = z.infer<typeof Guard>;

/** The members of a model that moderates, besides those of every model. */
export const moderationFields = {
  type: z.literal('moderation'),
  /** The most tokens of one input. */
  maxInputTokens: z.int().positive().default(8_192),
  supportsVision: z.boolean().default(false),
  /** Without it, requests go to `/moderations` of the backends. */
  guard: Guard.optional(),
};
