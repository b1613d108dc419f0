import { z } from 'zod';
import { Cost, SvcParametersEcho } from '../chat/chat-response.js';
import { namedMembers } from '../chat/schema-names.js';

const Count = z.int().nonnegative();

const usage = {
  input_tokens: Count.describe('Without the tokens read from a cache or written to one.'),
  cache_creation_input_tokens: Count,
  cache_read_input_tokens: Count,
  output_tokens: Count.describe('With those of reasoning.'),
  output_tokens_details: z.looseObject({ thinking_tokens: Count }).nullable(),
  server_tool_use: z
    .looseObject({ web_search_requests: Count, web_fetch_requests: Count })
    .nullable()
    .describe('`null` without a search.'),
};

export const MessageUsage = z
  .looseObject({
    ...usage,
    cache_creation: z
      .looseObject({
        ephemeral_5m_input_tokens: Count.optional(),
        ephemeral_1h_input_tokens: Count.optional(),
      })
      .nullish(),
    inference_geo: z.string().nullish(),
    service_tier: z.string().nullish(),
    speed: z.string().nullish(),
  })
  .meta({ title: 'MessageUsage' });

const SearchFound = z.looseObject({
  type: z.literal('web_search_result'),
  url: z.string(),
  title: z.string(),
  encrypted_content: z.string().describe('Always empty: a search is not sent back.'),
  page_age: z.string().nullable(),
});

const Caller = z.looseObject({ type: z.literal('direct') }).meta({ title: 'DirectCaller' });

/** What a model's provider may send in addition, to those who get its responses as they are. */
const other = z.looseObject({ type: z.string() });

const Blocks = z
  .discriminatedUnion('type', [
    z.looseObject({
      type: z.literal('text'),
      text: z.string(),
      // Some clients accept a list or nothing, and fail on null.
      citations: z.array(z.looseObject({})).optional(),
    }),
    z.looseObject({
      type: z.literal('thinking'),
      thinking: z.string(),
      signature: z.string().describe('What a model needs to resume its reasoning; it may be empty.'),
    }),
    z.looseObject({ type: z.literal('redacted_thinking'), data: z.string() }),
    z.looseObject({
      type: z.literal('tool_use'),
      id: z.string(),
      name: z.string(),
      input: z.looseObject({}),
      caller: Caller,
    }),
    z.looseObject({
      type: z.literal('server_tool_use'),
      id: z.string(),
      name: z.literal('web_search'),
      input: z.looseObject({ query: z.string() }),
      caller: Caller,
    }),
    z.looseObject({
      type: z.literal('web_search_tool_result'),
      tool_use_id: z.string(),
      content: z.array(SearchFound),
      caller: Caller,
    }),
  ])
  .meta(namedMembers('Block'));

/** A block of a message. Clients send blocks of reasoning back unchanged. */
const MessageBlock = z.union([Blocks, other]);

const StopReason = z
  .string()
  .describe('`end_turn`, `max_tokens`, `stop_sequence`, `tool_use`, `refusal`, or another of the provider.');

const StopDetails = z
  .looseObject({ type: z.string(), category: z.string().nullish(), explanation: z.string().nullish() })
  .nullish();

const stop = {
  stop_reason: StopReason,
  stop_sequence: z
    .string()
    .nullable()
    .describe('The sequence that ended the text, if the backend reports it.'),
  stop_details: StopDetails,
  container: z.looseObject({}).nullish(),
};

const message = {
  id: z.string(),
  type: z.literal('message'),
  role: z.literal('assistant'),
  model: z.string(),
  content: z.array(MessageBlock),
  diagnostics: z.looseObject({}).nullish(),
};

export const MessageReply = z.looseObject({
  ...message,
  ...stop,
  usage: MessageUsage,
  cost: Cost,
  svc_parameters: SvcParametersEcho,
});

const Deltas = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text_delta'), text: z.string() }),
  z.looseObject({ type: z.literal('thinking_delta'), thinking: z.string() }),
  z.looseObject({ type: z.literal('signature_delta'), signature: z.string() }),
  z.looseObject({ type: z.literal('input_json_delta'), partial_json: z.string() }),
]);

const Delta = z.union([Deltas, other]);

/** The body of an error, whole or as an event. */
export const MessageError = z.looseObject({
  type: z.literal('error'),
  error: z.looseObject({
    type: z.enum([
      'invalid_request_error',
      'authentication_error',
      'billing_error',
      'permission_error',
      'not_found_error',
      'request_too_large',
      'rate_limit_error',
      'timeout_error',
      'api_error',
      'overloaded_error',
    ]),
    message: z.string(),
    details: z.looseObject({
      error_code: z.string().describe('The same code as in the errors of the other endpoints.'),
      issues: z
        .array(
          z.looseObject({
            code: z.string(),
            path: z.array(z.union([z.string(), z.number()])),
            message: z.string(),
          }),
        )
        .optional()
        .describe('The faulty fields.'),
    }),
  }),
  request_id: z.string(),
});

/** The data of an event of a streamed message, whose name is its type. */
export const MessageEvent = z
  .discriminatedUnion('type', [
    z.looseObject({
      type: z.literal('message_start'),
      message: z.looseObject({
        ...message,
        ...stop,
        stop_reason: z.null(),
        usage: MessageUsage.partial().describe(
          'The input is estimated, or that of the provider; `message_delta` has the final counts.',
        ),
      }),
    }),
    z.looseObject({ type: z.literal('content_block_start'), index: Count, content_block: MessageBlock }),
    z.looseObject({ type: z.literal('content_block_delta'), index: Count, delta: Delta }),
    z.looseObject({ type: z.literal('content_block_stop'), index: Count }),
    z.looseObject({
      type: z.literal('message_delta'),
      delta: z.looseObject(stop),
      usage: MessageUsage,
      cost: Cost,
      svc_parameters: SvcParametersEcho,
    }),
    z.looseObject({ type: z.literal('message_stop') }),
    z.looseObject({ type: z.literal('ping') }),
    MessageError,
  ])
  .meta(namedMembers('Event'));

export const TokenCount = z.object({ input_tokens: Count });

export type MessageUsage = z.infer<typeof MessageUsage>;
export type TokenCount = z.infer<typeof TokenCount>;
export type MessageError = z.infer<typeof MessageError>;
