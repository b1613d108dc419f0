import { z } from 'zod';
import { Cost, ServedTier, SvcParametersEcho, TokenLogprob } from '../chat/chat-response.js';
import { namedMembers } from '../chat/schema-names.js';

const Count = z.int().nonnegative();
const Status = z.enum(['in_progress', 'completed', 'incomplete']);

export const UrlCitation = z
  .looseObject({
    type: z.literal('url_citation'),
    url: z.string(),
    title: z.string(),
    start_index: Count.describe('Where the mark in the text begins, in Unicode characters.'),
    end_index: Count.describe('Where the text goes on after it.'),
  })
  .meta({ title: 'UrlCitation' });
export type UrlCitation = z.infer<typeof UrlCitation>;

const ContentPart = z
  .discriminatedUnion('type', [
    z.looseObject({
      type: z.literal('output_text'),
      text: z.string(),
      annotations: z.array(UrlCitation),
      logprobs: z.array(TokenLogprob),
    }),
    z.looseObject({ type: z.literal('refusal'), refusal: z.string() }),
    z.looseObject({ type: z.literal('reasoning_text'), text: z.string() }),
    z.looseObject({ type: z.literal('summary_text'), text: z.string() }),
  ])
  .meta(namedMembers('Part'));

const item = { id: z.string(), status: Status };
const call = {
  call_id: z.string(),
  name: z.string(),
  namespace: z.string().optional().describe('That of the tool, if it has one.'),
};

/** An element of `output`. */
const OutputItem = z
  .discriminatedUnion('type', [
    z.looseObject({
      ...item,
      type: z.literal('message'),
      role: z.literal('assistant'),
      content: z.array(ContentPart),
    }),
    z.looseObject({
      ...item,
      type: z.literal('reasoning'),
      summary: z.array(ContentPart),
      content: z.array(ContentPart).optional(),
      encrypted_content: z
        .string()
        .nullable()
        .describe('What the backend needs to resume its reasoning. Send it back unchanged.'),
    }),
    z.looseObject({
      ...item,
      type: z.literal('function_call'),
      ...call,
      arguments: z.string(),
    }),
    z.looseObject({
      ...item,
      type: z.literal('custom_tool_call'),
      ...call,
      input: z.string(),
    }),
    z.looseObject({
      ...item,
      type: z.literal('web_search_call'),
      action: z.looseObject({
        type: z.literal('search'),
        query: z.string(),
        queries: z.array(z.string()),
        sources: z.array(z.looseObject({ type: z.literal('url'), url: z.string() })),
      }),
    }),
  ])
  .meta(namedMembers('Item'));

const ResponseUsage = z
  .looseObject({
    input_tokens: Count,
    input_tokens_details: z.looseObject({ cached_tokens: Count, cache_write_tokens: Count }),
    output_tokens: Count,
    output_tokens_details: z.looseObject({ reasoning_tokens: Count }),
    total_tokens: Count,
  })
  .meta({ title: 'ResponseUsage' });

const Tool = z.looseObject({ type: z.string() });

/** The settings of the request as the response repeats them, and those that have one value here. */
const settings = {
  instructions: z.string().nullable(),
  max_output_tokens: Count.nullable(),
  max_tool_calls: Count.nullable(),
  prompt_cache_key: z.string().nullable(),
  safety_identifier: z.string().nullable(),
  temperature: z.number().nullable(),
  top_p: z.number().nullable(),
  user: z.string().nullable(),
  background: z.literal(false),
  previous_response_id: z.null(),
  parallel_tool_calls: z.boolean(),
  reasoning: z.looseObject({ effort: z.string().nullable(), summary: z.string().nullable() }),
  service_tier: ServedTier,
  store: z.literal(false),
  text: z.looseObject({
    format: z.looseObject({ type: z.enum(['text', 'json_object', 'json_schema']) }),
    verbosity: z.string().nullish(),
  }),
  tool_choice: z.union([z.enum(['auto', 'none', 'required']), Tool]),
  tools: z.array(Tool),
  top_logprobs: Count,
  truncation: z.literal('disabled'),
  metadata: z.record(z.string(), z.string()),
};

/** A response, also as part of the events at its beginning and its end. */
export const ResponseReply = z.looseObject({
  id: z.string(),
  object: z.literal('response'),
  created_at: z.int(),
  status: z.enum(['in_progress', 'completed', 'incomplete', 'failed']),
  model: z.string(),
  output: z.array(OutputItem),
  error: z.looseObject({ code: z.string(), message: z.string() }).nullable(),
  incomplete_details: z.looseObject({ reason: z.enum(['max_output_tokens', 'content_filter']) }).nullable(),
  usage: ResponseUsage.nullable(),
  cost: Cost.nullable(),
  svc_parameters: SvcParametersEcho.nullable(),
  completed_at: z.int().optional().describe('Unix seconds, if its status is `completed`.'),
  ...settings,
});

/** The size of a prompt. */
export const InputTokenCount = z.object({
  object: z.literal('response.input_tokens'),
  input_tokens: Count,
});
export type InputTokenCount = z.infer<typeof InputTokenCount>;

const position = { item_id: z.string(), output_index: Count };
const inItem = { ...position, content_index: Count };
const inSummary = { ...position, summary_index: Count };
const text = { text: z.string() };
const delta = { delta: z.string() };
const event = <Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) =>
  z.looseObject({ type: z.literal(type), sequence_number: Count, ...shape });
const response = { response: ResponseReply };
const logprobs = { logprobs: z.array(TokenLogprob) };

/** The data of one event of a streamed response. `type` is also the event's name. */
export const ResponseEvent = z
  .discriminatedUnion('type', [
    event('response.created', response),
    event('response.in_progress', response),
    event('response.output_item.added', { output_index: Count, item: OutputItem }),
    event('response.output_item.done', { output_index: Count, item: OutputItem }),
    event('response.content_part.added', { ...inItem, part: ContentPart }),
    event('response.content_part.done', { ...inItem, part: ContentPart }),
    event('response.output_text.delta', { ...inItem, ...delta, ...logprobs }),
    event('response.output_text.done', { ...inItem, ...text, ...logprobs }),
    event('response.output_text.annotation.added', {
      ...inItem,
      annotation_index: Count,
      annotation: UrlCitation,
    }),
    event('response.refusal.delta', { ...inItem, ...delta }),
    event('response.refusal.done', { ...inItem, refusal: z.string() }),
    event('response.reasoning_text.delta', { ...inItem, ...delta }),
    event('response.reasoning_text.done', { ...inItem, ...text }),
    event('response.reasoning_summary_part.added', { ...inSummary, part: ContentPart }),
    event('response.reasoning_summary_part.done', { ...inSummary, part: ContentPart }),
    event('response.reasoning_summary_text.delta', { ...inSummary, ...delta }),
    event('response.reasoning_summary_text.done', { ...inSummary, ...text }),
    event('response.function_call_arguments.delta', { ...position, ...delta }),
    event('response.function_call_arguments.done', { ...position, name: z.string(), arguments: z.string() }),
    event('response.custom_tool_call_input.delta', { ...position, ...delta }),
    event('response.custom_tool_call_input.done', { ...position, input: z.string() }),
    event('response.web_search_call.in_progress', position),
    event('response.web_search_call.searching', position),
    event('response.web_search_call.completed', position),
    event('response.completed', response),
    event('response.incomplete', response),
    event('response.failed', response),
  ])
  .meta(namedMembers('Event'));
