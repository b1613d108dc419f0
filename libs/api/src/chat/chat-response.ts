import { SERVICE_TIERS } from '@svc/contracts/money';
import { z } from 'zod';

const Count = z.int().nonnegative();

export const UsageView = z.looseObject({
  prompt_tokens: Count,
  completion_tokens: Count,
  total_tokens: Count,
  prompt_tokens_details: z
    .looseObject({
      cached_tokens: Count.nullable().optional(),
      cache_creation_input_tokens: Count.nullable().optional(),
    })
    .nullable()
    .optional(),
  completion_tokens_details: z
    .looseObject({ reasoning_tokens: Count.nullable().optional() })
    .nullable()
    .optional(),
});

/** The cost of a request: `usd` and `diem` as numbers of at most nine decimals, exactly as posted. */
export const Cost = z.object({ usd: z.number().nonnegative(), diem: z.number().nonnegative() });

/** The options in effect. */
export const SvcParametersEcho = z.object({
  enable_e2ee: z.boolean(),
  enable_web_search: z.enum(['auto', 'off', 'on']),
  enable_web_citations: z.boolean(),
  enable_web_scraping: z.boolean(),
  enable_x_search: z.boolean(),
  include_venice_system_prompt: z.boolean(),
  include_search_results_in_stream: z.boolean(),
  return_search_results_as_documents: z.boolean(),
  strip_thinking_response: z.boolean(),
  disable_thinking: z.boolean(),
  character_slug: z.string().optional(),
  web_search_query: z
    .string()
    .optional()
    .describe("The search query; the model's own if the model called the search."),
  web_search_error: z.string().optional().describe('Why the completion does not use the requested search.'),
  web_scraping_errors: z
    .array(z.object({ url: z.string(), error: z.string() }))
    .optional()
    .describe('The pages that could not be read, with the reason.'),
  web_search_citations: z.array(
    z.object({
      title: z.string(),
      url: z.string(),
      content: z.string().optional(),
      date: z.string().optional(),
    }),
  ),
});

/** The same in a stream, as far as they are known. */
export const StreamedSvcParameters = SvcParametersEcho.partial().meta({ title: 'StreamedSvcParameters' });

export const TokenLogprob = z.looseObject({
  token: z.string(),
  logprob: z.number(),
  bytes: z.array(z.int()).nullable(),
  top_logprobs: z.array(
    z.looseObject({ token: z.string(), logprob: z.number(), bytes: z.array(z.int()).optional() }),
  ),
});

const Logprobs = z
  .looseObject({ content: z.array(TokenLogprob).nullable(), refusal: z.array(TokenLogprob).nullable() })
  .nullable();

/** The tier of service that a request was served in. */
export const ServedTier = z
  .enum(['default', ...SERVICE_TIERS])
  .describe('The tier that the request was served in, if it asked for one.');

const FinishReason = z.enum(['stop', 'length', 'tool_calls', 'content_filter']);

const ToolCall = z.looseObject({
  id: z.string(),
  type: z.literal('function'),
  function: z.looseObject({ name: z.string(), arguments: z.string() }),
});

const TextParts = z.array(z.looseObject({ type: z.literal('text'), text: z.string() }));

/** Clients send it back unchanged, so that a model can resume its reasoning. */
export const ReasoningDetail = z.looseObject({ type: z.string() });

export const ChatCompletion = z.looseObject({
  id: z.string(),
  object: z.literal('chat.completion'),
  created: z.int(),
  model: z.string(),
  choices: z.array(
    z.looseObject({
      index: z.int(),
      finish_reason: FinishReason,
      stop_reason: z.enum(['stop', 'length']).nullable().optional(),
      logprobs: Logprobs,
      message: z.looseObject({
        role: z.literal('assistant'),
        content: z.union([z.string(), TextParts]).nullable(),
        refusal: z.string().nullable().optional(),
        reasoning_content: z.string().nullable().optional(),
        reasoning_details: z.array(ReasoningDetail).nullable().optional(),
        thought_signature: z.string().nullable().optional(),
        tool_calls: z.array(ToolCall).nullable().optional(),
      }),
    }),
  ),
  usage: UsageView,
  cost: Cost,
  service_tier: ServedTier.optional(),
  prompt_logprobs: z.unknown(),
  svc_parameters: SvcParametersEcho,
});

export type ChatCompletion = z.infer<typeof ChatCompletion>;
export type Cost = z.infer<typeof Cost>;
export type SvcParametersEcho = z.infer<typeof SvcParametersEcho>;
export type UsageView = z.infer<typeof UsageView>;
