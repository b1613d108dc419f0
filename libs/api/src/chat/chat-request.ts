import { FALLBACKS_AT_MOST, FALLBACK_CAUSES } from '@svc/contracts/ports';
import { z } from 'zod';
import { CHARS, ITEMS, chars, maybe } from './chat-bounds.js';
import { Message } from './chat-messages.js';
import { Tool, ToolChoice } from './chat-tools.js';

const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
const VERBOSITIES = ['low', 'medium', 'high', 'auto'] as const;

/** The options of a request that does not set them. */
export const SVC_DEFAULTS = {
  enable_web_search: 'off',
  enable_web_citations: false,
  enable_web_scraping: false,
  enable_x_search: false,
  include_venice_system_prompt: true,
  include_search_results_in_stream: false,
  return_search_results_as_documents: false,
  strip_thinking_response: false,
  disable_thinking: false,
} as const;

const flag = (byDefault: boolean) => z.boolean().nullish().meta({ default: byDefault });

/** Options of this service. Unknown keys are dropped. */
export const SvcParameters = z.object({
  character_slug: chars(CHARS.id).min(1).nullish(),
  strip_thinking_response: flag(SVC_DEFAULTS.strip_thinking_response),
  disable_thinking: flag(SVC_DEFAULTS.disable_thinking),
  enable_e2ee: z.boolean().nullish(),
  enable_web_search: z
    .enum(['auto', 'off', 'on'])
    .nullish()
    .meta({ default: SVC_DEFAULTS.enable_web_search }),
  enable_web_scraping: flag(SVC_DEFAULTS.enable_web_scraping),
  enable_web_citations: flag(SVC_DEFAULTS.enable_web_citations),
  enable_x_search: flag(SVC_DEFAULTS.enable_x_search),
  include_search_results_in_stream: flag(SVC_DEFAULTS.include_search_results_in_stream),
  return_search_results_as_documents: flag(SVC_DEFAULTS.return_search_results_as_documents),
  include_venice_system_prompt: flag(SVC_DEFAULTS.include_venice_system_prompt),
  include_svc_system_prompt: flag(SVC_DEFAULTS.include_venice_system_prompt),
});

const ResponseFormat = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('json_schema'), json_schema: z.looseObject({}) }),
  // llama.cpp, Together and others accept a schema here.
  z.strictObject({ type: z.literal('json_object'), schema: z.looseObject({}).nullish() }),
  z.strictObject({ type: z.literal('text') }),
  // Of vLLM and SGLang, in the two forms that they accept.
  z.looseObject({ type: z.literal('structural_tag') }),
]);

const between = (least: number, most: number) => z.number().min(least).max(most).nullish();

export const NOT_INT64 = 'must be an integer from -2^63 to 2^63 - 1';

/**
 * A signed 64-bit integer, which is passed on as written. Here it is a double, and the largest one equals
 * 2^63, so the gateway checks the written form as well.
 */
const Int64 = z
  .number()
  .refine((value) => Number.isInteger(value) && value >= -(2 ** 63) && value <= 2 ** 63, { error: NOT_INT64 })
  .meta({ type: 'integer', format: 'int64' });

/**
 * Rejects options of other services that this one does not support: ignoring them would look like consent.
 */
export const unknownHere = (message: string) => z.null({ error: message }).optional();

/** Limits the number of an object's members. */
const atMost = (most: number): [(value: object) => boolean, string] => [
  (value) => Object.keys(value).length <= most,
  `must have at most ${most} members`,
];

/** `auto` and `none` demand no tool, so they are fine without tools. */
const isDemand = (choice: ToolChoice | null | undefined): boolean =>
  !!choice && !['auto', 'none'].includes(typeof choice === 'string' ? choice : choice.type);

/** A model id, a trait or an alias, with or without a suffix. */
const ModelName = z
  .string({ error: (issue) => (issue.input === undefined ? 'model is required' : 'model must be a string') })
  .min(1, 'model must not be empty')
  .max(CHARS.id, `model must have at most ${CHARS.id} characters`);

const FallbackName = chars(CHARS.id).min(1);

/** The members that name the models to fall back to. */
const fallbackMembers = {
  models: z.array(FallbackName).max(FALLBACKS_AT_MOST).nullish(),
  fallbacks: z
    .array(z.object({ model: FallbackName }))
    .max(FALLBACKS_AT_MOST)
    .nullish(),
  fallback_on: z.array(z.enum(FALLBACK_CAUSES)).max(FALLBACK_CAUSES.length).nullish(),
};

/**
 * The body of a chat completion. Known fields are checked for type, range and length; unknown ones are passed
 * to the backend unchanged, except those that steer the server. Unknown members of known objects are dropped.
 */
export const ChatRequest = z
  .looseObject({
    model: ModelName,
    messages: z.array(Message).min(1).max(ITEMS.messages),
    stream: z.boolean().nullish(),
    stream_options: z
      .object({ include_usage: z.boolean().nullish(), include_obfuscation: z.boolean().nullish() })
      .nullish(),
    temperature: between(0, 2),
    top_p: between(0, 1),
    /** -1 means all tokens, as with local servers. */
    top_k: z.int().min(-1).nullish(),
    min_p: between(0, 1),
    min_temp: between(0, 2),
    max_temp: between(0, 2),
    frequency_penalty: between(-2, 2),
    presence_penalty: between(-2, 2),
    repetition_penalty: z.number().min(0).nullish(),
    logit_bias: z
      .record(z.string().regex(/^\d{1,10}$/, 'must be a token id in digits'), z.number().min(-100).max(100))
      .refine(...atMost(ITEMS.tokenIds))
      .nullish(),
    n: z.int().min(1).max(128).nullish(),
    seed: Int64.nullish(),
    stop: z.union([chars(CHARS.id), z.array(chars(CHARS.id)).min(1).max(4)]).nullish(),
    stop_token_ids: z.array(z.int()).max(ITEMS.tokenIds).nullish(),
    max_completion_tokens: z.int().nullish(),
    /** Deprecated in favour of `max_completion_tokens`; zero or less is ignored. */
    max_tokens: z.int().nullish(),
    logprobs: z.boolean().nullish(),
    top_logprobs: z.int().min(0).nullish(),
    response_format: ResponseFormat.nullish(),
    tools: z.array(Tool).max(ITEMS.tools).nullish(),
    tool_choice: ToolChoice.nullish(),
    parallel_tool_calls: z.boolean().nullish(),
    functions: unknownHere('functions is not offered; use tools'),
    function_call: unknownHere('function_call is not offered; use tool_choice'),
    input: unknownHere('input is a field of /responses; use messages'),
    max_output_tokens: unknownHere('max_output_tokens is a field of /responses; use max_completion_tokens'),
    web_search: unknownHere('web_search is not offered; use svc_parameters.enable_web_search'),
    promptCacheKey: unknownHere('promptCacheKey is not offered; use prompt_cache_key'),
    reasoning: z
      .object({
        effort: z.enum(EFFORTS).nullish(),
        summary: z.enum(['auto', 'concise', 'detailed']).nullish(),
        enabled: z.boolean().nullish(),
        max_tokens: z.int().nullish(),
        exclude: z.boolean().nullish(),
      })
      .nullish(),
    reasoning_effort: z.enum(EFFORTS).nullish(),
    verbosity: z.enum(VERBOSITIES).nullish(),
    text: z.object({ verbosity: z.enum(VERBOSITIES).nullish() }).nullish(),
    modalities: z.array(z.literal('text', 'this service answers in text only')).max(ITEMS.words).nullish(),
    audio: unknownHere('audio is not offered; this service answers in text only'),
    prompt_cache_key: maybe(CHARS.id),
    session_id: maybe(CHARS.id),
    prompt_cache_retention: z.enum(['default', 'extended', '24h', 'in_memory', 'in-memory']).nullish(),
    user: maybe(CHARS.id * 2),
    anon_user_id: maybe(CHARS.id),
    store: z.boolean().nullish(),
    include: z.array(chars(CHARS.id)).max(ITEMS.words).nullish(),
    metadata: z
      .record(chars(CHARS.word), chars(CHARS.id * 2))
      .refine(...atMost(ITEMS.words))
      .nullish(),
    ...fallbackMembers,
    /** `scale` is a tier of OpenAI's, served in the default one. */
    service_tier: z.enum(['auto', 'default', 'flex', 'priority', 'scale']).nullish(),
    svc_parameters: SvcParameters.nullish(),
  })
  .refine(({ stream, stream_options: options }) => stream === true || !options, {
    path: ['stream_options'],
    error: 'stream_options is only allowed when stream is true',
  })
  .refine(({ tools, tool_choice: choice }) => (tools?.length ?? 0) > 0 || !isDemand(choice), {
    path: ['tool_choice'],
    error: 'tool_choice is only allowed with tools',
  })
  .refine(({ models, fallbacks }) => !models || !fallbacks, {
    path: ['fallbacks'],
    error: 'send the models to fall back to in either models or fallbacks',
  });

export type ChatRequest = z.infer<typeof ChatRequest>;
export type SvcParameters = z.infer<typeof SvcParameters>;
