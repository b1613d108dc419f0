import { z } from 'zod';

const CacheControl = z.looseObject({ type: z.literal('ephemeral'), ttl: z.string().optional() });
const cacheable = { cache_control: CacheControl.optional() };

export const TextPart = z.looseObject({ type: z.literal('text'), text: z.string().min(1), ...cacheable });

const AUDIO_FORMATS = ['wav', 'mp3', 'aiff', 'aac', 'ogg', 'flac', 'm4a', 'pcm16', 'pcm24'] as const;

/** A data URL may be long, and parsing one as a URL would copy it several times. */
const isUrl = (text: string): boolean => /^data:/i.test(text) || URL.canParse(text);

const Url = z.string().refine(isUrl, 'Invalid URL').meta({ format: 'uri' });

/** What a user message may be made of. */
export const ContentPart = z.discriminatedUnion('type', [
  TextPart,
  z.looseObject({ type: z.literal('image_url'), image_url: z.looseObject({ url: Url }), ...cacheable }),
  z.looseObject({
    type: z.literal('input_audio'),
    input_audio: z.looseObject({ data: z.base64(), format: z.enum(AUDIO_FORMATS).optional() }),
    ...cacheable,
  }),
  z.looseObject({ type: z.literal('video_url'), video_url: z.looseObject({ url: Url }), ...cacheable }),
  z.looseObject({
    type: z.literal('file'),
    file: z.looseObject({ file_data: z.string().min(1), filename: z.string().optional() }),
    ...cacheable,
  }),
]);

const Name = z.string().nullable().optional();
const Texts = z.array(TextPart);

const UserMessage = z.looseObject({
  role: z.literal('user'),
  content: z.union([z.string(), z.array(ContentPart).min(1)]),
  name: Name,
});

const AssistantMessage = z.looseObject({
  role: z.literal('assistant'),
  content: z.union([z.string(), Texts, z.null()]).optional(),
  name: Name,
  reasoning_content: z.string().nullable().optional(),
  reasoning_details: z
    .array(z.looseObject({ type: z.string() }))
    .nullable()
    .optional(),
  thought_signature: z.string().nullable().optional(),
  tool_calls: z.array(z.looseObject({})).nullable().optional(),
});

const ToolMessage = z.looseObject({
  role: z.literal('tool'),
  content: z.union([z.string(), Texts]),
  tool_call_id: z.string(),
  name: Name,
});

const SystemMessage = z.looseObject({
  role: z.literal('system'),
  content: z.union([z.string(), Texts]),
  name: Name,
});

const DeveloperMessage = SystemMessage.extend({ role: z.literal('developer') });

export const Message = z.discriminatedUnion('role', [
  UserMessage,
  AssistantMessage,
  ToolMessage,
  SystemMessage,
  DeveloperMessage,
]);

const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
const VERBOSITIES = ['low', 'medium', 'high', 'auto'] as const;

/** Options of this service. Unknown keys are dropped. */
export const SvcParameters = z.object({
  character_slug: z.string().min(1).optional(),
  strip_thinking_response: z.boolean().optional(),
  disable_thinking: z.boolean().optional(),
  enable_e2ee: z.boolean().optional(),
  enable_web_search: z.enum(['auto', 'off', 'on']).optional(),
  enable_web_scraping: z.boolean().optional(),
  enable_web_citations: z.boolean().optional(),
  enable_x_search: z.boolean().optional(),
  include_search_results_in_stream: z.boolean().optional(),
  return_search_results_as_documents: z.boolean().optional(),
  include_venice_system_prompt: z.boolean().optional(),
  include_svc_system_prompt: z.boolean().optional(),
});

const FunctionTool = z.looseObject({
  type: z.string().optional(),
  function: z.looseObject({
    name: z.string().min(1),
    description: z.string().optional(),
    parameters: z.record(z.string(), z.unknown()).optional(),
    strict: z.boolean().nullable().optional(),
  }),
});

const ServerTool = z.object({ type: z.enum(['web_search', 'x_search']) });

const ResponseFormat = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('json_schema'), json_schema: z.record(z.string(), z.unknown()) }),
  z.strictObject({ type: z.literal('json_object') }),
  z.strictObject({ type: z.literal('text') }),
]);

const between = (least: number, most: number) => z.number().min(least).max(most).nullable().optional();

/**
 * The body of a chat completion. Known fields are checked to type and range; unknown ones travel to the backend
 * as they came.
 */
export const ChatRequest = z.looseObject({
  model: z
    .string({
      error: (issue) => (issue.input === undefined ? 'model is required' : 'model must be a string'),
    })
    .min(1),
  messages: z.array(Message).min(1),
  stream: z.boolean().nullable().optional(),
  stream_options: z.looseObject({ include_usage: z.boolean().optional() }).nullable().optional(),
  temperature: between(0, 2),
  top_p: between(0, 1),
  top_k: z.int().min(0).nullable().optional(),
  min_p: between(0, 1),
  min_temp: between(0, 2),
  max_temp: between(0, 2),
  frequency_penalty: between(-2, 2),
  presence_penalty: between(-2, 2),
  repetition_penalty: z.number().min(0).nullable().optional(),
  n: z.int().min(1).max(128).nullable().optional(),
  seed: z.int().positive().nullable().optional(),
  stop: z
    .union([z.string(), z.array(z.string()).min(1).max(4)])
    .nullable()
    .optional(),
  stop_token_ids: z.array(z.number()).nullable().optional(),
  max_completion_tokens: z.int().nullable().optional(),
  /** Deprecated in favour of `max_completion_tokens`; zero or less is ignored. */
  max_tokens: z.int().nullable().optional(),
  logprobs: z.boolean().nullable().optional(),
  top_logprobs: z.int().min(0).nullable().optional(),
  response_format: ResponseFormat.nullable().optional(),
  tools: z
    .array(z.union([ServerTool, FunctionTool]))
    .nullable()
    .optional(),
  tool_choice: z
    .union([
      z.string(),
      z.looseObject({ type: z.enum(['auto', 'none', 'required']) }),
      z.looseObject({ type: z.string(), function: z.looseObject({ name: z.string() }) }),
    ])
    .nullable()
    .optional(),
  parallel_tool_calls: z.boolean().nullable().optional(),
  reasoning: z
    .looseObject({
      effort: z.enum(EFFORTS).nullable().optional(),
      summary: z.enum(['auto', 'concise', 'detailed']).nullable().optional(),
      enabled: z.boolean().nullable().optional(),
    })
    .nullable()
    .optional(),
  reasoning_effort: z.enum(EFFORTS).nullable().optional(),
  verbosity: z.enum(VERBOSITIES).nullable().optional(),
  text: z
    .looseObject({ verbosity: z.enum(VERBOSITIES).optional() })
    .nullable()
    .optional(),
  prompt_cache_key: z.string().nullable().optional(),
  prompt_cache_retention: z.enum(['default', 'extended', '24h']).nullable().optional(),
  user: z.string().nullable().optional(),
  store: z.boolean().nullable().optional(),
  include: z.array(z.string()).nullable().optional(),
  metadata: z.record(z.string(), z.string()).nullable().optional(),
  fallbacks: z
    .array(z.looseObject({ model: z.string() }))
    .max(10)
    .nullable()
    .optional(),
  svc_parameters: SvcParameters.nullable().optional(),
});

export type ChatRequest = z.infer<typeof ChatRequest>;
export type Message = z.infer<typeof Message>;
export type ContentPart = z.infer<typeof ContentPart>;
export type SvcParameters = z.infer<typeof SvcParameters>;
