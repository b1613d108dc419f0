import { MODERATION_CATEGORIES } from '@svc/contracts/catalog';
import { z } from 'zod';
import { ImageUrlPart, TextPart } from '../chat/chat-messages.js';
import { unknownHere } from '../chat/chat-request.js';
import { Cost } from '../chat/chat-response.js';

/** The most texts of one request, and the most parts of one input. */
const INPUTS_AT_MOST = 256;

/** Texts and images to judge. */
export const ModerationRequest = z.object({
  model: z
    .string()
    .min(1)
    .nullish()
    .describe('The id or an alias of a moderation model. Default: the one with the trait `default`.'),
  input: z
    .union([
      z.string().min(1),
      z.array(z.string()).min(1).max(INPUTS_AT_MOST),
      z
        .array(z.discriminatedUnion('type', [TextPart, ImageUrlPart]))
        .min(1)
        .max(INPUTS_AT_MOST),
    ])
    .describe('A text, up to 256 texts with a verdict each, or the parts of one input: texts and images.'),
  svc_parameters: unknownHere('svc_parameters is not offered for moderations: they are never encrypted'),
});

const byCategory = <Value extends z.ZodType>(value: Value) => z.record(z.string(), value);

export const ModerationReply = z.object({
  id: z.string(),
  model: z.string(),
  results: z
    .array(
      z.object({
        flagged: z.boolean(),
        categories: byCategory(z.boolean()).describe(
          `All of OpenAI's (${MODERATION_CATEGORIES.join(', ')}), and those that only the model has.`,
        ),
        category_scores: byCategory(z.number()).describe('From 0 to 1. A guard model has only these two.'),
        category_applied_input_types: byCategory(z.array(z.enum(['text', 'image']))),
      }),
    )
    .describe('One for each input, in order.'),
  usage: z.object({ prompt_tokens: z.int(), total_tokens: z.int() }),
  cost: Cost,
});

export type ModerationRequest = z.infer<typeof ModerationRequest>;
export type ModerationReply = z.infer<typeof ModerationReply>;
