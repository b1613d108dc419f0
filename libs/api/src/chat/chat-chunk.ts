import { z } from 'zod';
import {
  Cost,
  ReasoningDetail,
  ServedTier,
  StreamedSvcParameters,
  TokenLogprob,
  UsageView,
} from './chat-response.js';

const ToolCallPiece = z.looseObject({
  index: z.int().nonnegative(),
  id: z.string().optional().describe('On the first piece of a call.'),
  type: z.literal('function').optional(),
  function: z
    .looseObject({ name: z.string().optional(), arguments: z.string().optional() })
    .optional()
    .describe('Concatenate the pieces of `arguments` in the order of arrival.'),
});

const Delta = z.looseObject({
  role: z.literal('assistant').optional(),
  content: z.string().nullable().optional(),
  refusal: z.string().nullable().optional(),
  reasoning_content: z.string().nullable().optional(),
  reasoning_details: z.array(ReasoningDetail).nullable().optional(),
  thought_signature: z.string().nullable().optional(),
  tool_calls: z.array(ToolCallPiece).nullable().optional(),
});

/**
 * The data of one event of a streamed completion. The last one has no choices and carries `usage`, `cost` and
 * the options in effect.
 */
export const ChatCompletionChunk = z.looseObject({
  id: z.string(),
  object: z.literal('chat.completion.chunk'),
  created: z.int(),
  model: z.string(),
  choices: z.array(
    z.looseObject({
      index: z.int().nonnegative(),
      delta: Delta,
      logprobs: z
        .looseObject({
          content: z.array(TokenLogprob).nullable(),
          refusal: z.array(TokenLogprob).nullable().optional(),
        })
        .nullable()
        .optional(),
      finish_reason: z.enum(['stop', 'length', 'tool_calls', 'content_filter']).nullable(),
    }),
  ),
  service_tier: ServedTier.optional(),
  usage: UsageView.optional(),
  cost: Cost.optional(),
  svc_parameters: StreamedSvcParameters.optional(),
});

export type ChatCompletionChunk = z.infer<typeof ChatCompletionChunk>;
