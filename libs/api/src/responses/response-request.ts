import { z } from 'zod';
import { CHARS, ITEMS, chars, maybe } from '../chat/chat-bounds.js';
import { ChatRequest } from '../chat/chat-request.js';
import { InputItem } from './response-items.js';

const toolName = chars(CHARS.toolName).min(1);
const JsonSchema = z.looseObject({});

const FunctionTool = z.object({
  type: z.literal('function'),
  name: toolName,
  description: maybe(CHARS.description),
  parameters: JsonSchema.nullish(),
  strict: z.boolean().nullish(),
});

/** A tool that is called with free text. The model is offered a function with one text. */
const CustomTool = z.object({
  type: z.literal('custom'),
  name: toolName,
  description: maybe(CHARS.description),
  format: z
    .discriminatedUnion('type', [
      z.object({ type: z.literal('text') }),
      z.object({
        type: z.literal('grammar'),
        definition: chars(CHARS.description),
        syntax: z.enum(['lark', 'regex']),
      }),
    ])
    .nullish(),
});

/** The names of a namespace and of a tool, joined, name the function that the model is offered. */
const NAMESPACED_CHARS = CHARS.toolName - 2;

const NamespaceTool = z
  .object({
    type: z.literal('namespace'),
    name: toolName,
    description: maybe(CHARS.description),
    tools: z
      .array(z.discriminatedUnion('type', [FunctionTool, CustomTool]))
      .min(1)
      .max(ITEMS.tools),
  })
  .refine(({ name, tools }) => tools.every((tool) => name.length + tool.name.length <= NAMESPACED_CHARS), {
    path: ['name'],
    error: `The names of a namespace and of each of its tools must have at most ${NAMESPACED_CHARS} characters together`,
  });

export const SEARCH_TOOLS = [
  'web_search',
  'web_search_2025_08_26',
  'web_search_preview',
  'web_search_preview_2025_03_11',
] as const;

/** Accepts only what means the same as leaving a field out. */
const unused = (message: string) => z.null({ error: message }).optional();

/** Search engines take a country and nothing nearer. */
const ONLY_COUNTRY =
  'only the country of user_location is used; leave it out, or name the place in the input';

const UserLocation = z.object({
  type: z.literal('approximate').nullish(),
  country: z
    .string()
    .regex(/^[A-Za-z]{2}$/, 'must be the two letters of a country in ISO 3166-1')
    .nullish(),
  city: unused(ONLY_COUNTRY),
  region: unused(ONLY_COUNTRY),
  timezone: unused(ONLY_COUNTRY),
});

const NO_FILTERS = 'filters are not offered; name the sites in the input';

/** The web search of this service. */
const SearchTool = z
  .object({
    type: z.enum(SEARCH_TOOLS),
    search_context_size: z.enum(['low', 'medium', 'high']).nullish(),
    user_location: UserLocation.nullish(),
    filters: z.object({ allowed_domains: z.array(z.unknown()).max(0, NO_FILTERS).nullish() }).nullish(),
  })
  .meta({ title: 'WebSearchTool' });

export const X_SEARCH_TOOL = 'x_search';

const Handles = z.array(z.string().regex(/^@?\w{1,15}$/, 'must be the name of an account on X')).max(10);
const NOT_SEEN = 'the search of posts reads texts only; leave it out, or set it to false';
const textsOnly = z.literal(false, NOT_SEEN).nullish();

/** The search of posts by the model's provider. */
const XSearchTool = z
  .object({
    type: z.literal(X_SEARCH_TOOL),
    allowed_x_handles: Handles.nullish(),
    excluded_x_handles: Handles.nullish(),
    from_date: z.iso.date().nullish(),
    to_date: z.iso.date().nullish(),
    enable_image_understanding: textsOnly,
    enable_video_understanding: textsOnly,
  })
  .refine(({ allowed_x_handles: allowed, excluded_x_handles: excluded }) => !allowed || !excluded, {
    path: ['excluded_x_handles'],
    error: 'send either allowed_x_handles or excluded_x_handles',
  })
  .meta({ title: 'PostSearchTool' });

const ChosenTool = z.object({ type: z.enum([...SEARCH_TOOLS, X_SEARCH_TOOL]) });

const NamedTool = z.object({ type: z.enum(['function', 'custom']), name: toolName });

const ResponseToolChoice = z.union([
  z.enum(['auto', 'none', 'required']),
  NamedTool,
  ChosenTool,
  z.object({
    type: z.literal('allowed_tools'),
    mode: z.enum(['auto', 'required']),
    tools: z.array(NamedTool).min(1).max(ITEMS.tools),
  }),
]);

const Format = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text') }),
  z.object({ type: z.literal('json_object') }),
  z.object({
    type: z.literal('json_schema'),
    name: chars(CHARS.name).min(1),
    description: maybe(CHARS.description),
    schema: JsonSchema,
    strict: z.boolean().nullish(),
  }),
]);

const of = ChatRequest.shape;

/** The body of a response. Unknown fields are passed to the backend unchanged. */
export const ResponseRequest = z.looseObject({
  model: of.model,
  input: z.union([chars(CHARS.text), z.array(InputItem).min(1).max(ITEMS.messages)]),
  instructions: maybe(CHARS.text),
  stream: of.stream,
  stream_options: z.object({ include_obfuscation: z.boolean().nullish() }).nullish(),
  tools: z
    .array(z.union([FunctionTool, CustomTool, NamespaceTool, SearchTool, XSearchTool]))
    .max(ITEMS.tools)
    .nullish(),
  tool_choice: ResponseToolChoice.nullish(),
  parallel_tool_calls: of.parallel_tool_calls,
  max_tool_calls: z.int().min(1).nullish(),
  text: z.object({ format: Format.nullish(), verbosity: of.verbosity }).nullish(),
  reasoning: z
    .object({
      effort: of.reasoning_effort,
      enabled: z.boolean().nullish(),
      summary: z.enum(['auto', 'concise', 'detailed', 'none']).nullish(),
    })
    .nullish(),
  max_output_tokens: z.int().min(1).nullish(),
  temperature: of.temperature,
  top_p: of.top_p,
  top_k: of.top_k,
  min_p: of.min_p,
  min_temp: of.min_temp,
  max_temp: of.max_temp,
  frequency_penalty: of.frequency_penalty,
  presence_penalty: of.presence_penalty,
  repetition_penalty: of.repetition_penalty,
  logit_bias: of.logit_bias,
  seed: of.seed,
  stop: of.stop,
  stop_token_ids: of.stop_token_ids,
  top_logprobs: z.int().min(0).max(20).nullish(),
  include: of.include,
  prompt_cache_key: of.prompt_cache_key,
  session_id: of.session_id,
  prompt_cache_retention: of.prompt_cache_retention,
  truncation: z
    .literal('disabled', 'truncation is not offered; send an input that fits, or set it to "disabled"')
    .nullish(),
  store: of.store,
  previous_response_id: unused('responses are not stored here; send the earlier items as input'),
  conversation: unused('conversations are not stored here; send the earlier items as input'),
  background: z
    .literal(false, 'background is not offered; leave it out, or use stream for long responses')
    .nullish(),
  prompt: unused('prompt templates are not stored here; use instructions and input'),
  service_tier: of.service_tier,
  safety_identifier: maybe(CHARS.id),
  user: of.user,
  metadata: of.metadata,
  models: of.models,
  fallbacks: of.fallbacks,
  fallback_on: of.fallback_on,
  web_search: z.boolean().nullish(),
  svc_parameters: of.svc_parameters,
});

export type ResponseRequest = z.infer<typeof ResponseRequest>;

const ofResponse = ResponseRequest.shape;

/** The body of a request to count the tokens of a response's prompt. Unknown fields have no effect. */
export const InputTokensRequest = z.object({
  model: ofResponse.model,
  input: ofResponse.input,
  instructions: ofResponse.instructions,
  tools: ofResponse.tools,
  tool_choice: ofResponse.tool_choice,
  parallel_tool_calls: ofResponse.parallel_tool_calls,
  text: ofResponse.text,
  reasoning: ofResponse.reasoning,
  truncation: ofResponse.truncation,
  previous_response_id: ofResponse.previous_response_id,
  conversation: ofResponse.conversation,
  svc_parameters: ofResponse.svc_parameters,
});

export type InputTokensRequest = z.infer<typeof InputTokensRequest>;
