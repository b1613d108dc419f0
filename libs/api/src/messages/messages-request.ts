import { z } from 'zod';
import { CHARS, ITEMS, chars } from '../chat/chat-bounds.js';
import { CacheControl } from '../chat/chat-messages.js';
import { ChatRequest, unknownHere } from '../chat/chat-request.js';
import { MessageParam, Texts } from './message-blocks.js';
import { MessageToolChoice, MessageTools } from './message-tools.js';

const EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max'] as const;

const display = z.enum(['summarized', 'omitted']).nullish();

const Thinking = z.discriminatedUnion('type', [
  z.object({ type: z.literal('enabled'), budget_tokens: z.int().min(1), display }),
  z.object({ type: z.literal('adaptive'), display }),
  z.object({ type: z.literal('between_tools'), display }),
  z.object({ type: z.literal('disabled') }),
]);

const Format = z.object({ type: z.literal('json_schema'), schema: z.looseObject({}) });

const of = ChatRequest.shape;

/** What determines the prompt of a message. */
const prompt = {
  model: of.model,
  messages: z.array(MessageParam).min(1).max(ITEMS.messages),
  system: Texts.nullish(),
  tools: MessageTools.nullish(),
  tool_choice: MessageToolChoice.nullish(),
  thinking: Thinking.nullish(),
  output_config: z.object({ effort: z.enum(EFFORTS).nullish(), format: Format.nullish() }).nullish(),
  output_format: Format.nullish(),
  cache_control: CacheControl.nullish(),
  svc_parameters: of.svc_parameters,
};

/** The values of `anthropic-version` that Anthropic documents. */
export const ANTHROPIC_VERSIONS = ['2026-10-21', '2023-06-01', '2023-01-01'] as const;

/** The body of a message in Anthropic's form. Members that are not listed have no effect. */
export const MessagesRequest = z.object({
  ...prompt,
  max_tokens: z.int().min(1),
  stream: of.stream,
  stop_sequences: z.array(chars(CHARS.id).min(1)).max(4).nullish(),
  temperature: of.temperature,
  top_p: of.top_p,
  top_k: of.top_k,
  session_id: of.session_id,
  metadata: z.object({ user_id: chars(CHARS.id * 2).nullish() }).nullish(),
  service_tier: z.enum(['auto', 'standard_only']).nullish(),
  models: of.models,
  fallbacks: of.fallbacks,
  fallback_on: of.fallback_on,
  context_management: z.looseObject({}).nullish(),
  speed: z.literal('standard', 'speed is always standard here').nullish(),
  container: unknownHere('container is not offered'),
  inference_geo: unknownHere('inference_geo is not offered'),
  mcp_servers: z
    .array(z.unknown())
    .max(0, 'mcp_servers is not offered; a client can offer their tools as its own')
    .nullish(),
});

/** The body of a request to count the tokens of a message's prompt. */
export const CountTokensRequest = z.object(prompt);

export type MessagesRequest = z.infer<typeof MessagesRequest>;
export type CountTokensRequest = z.infer<typeof CountTokensRequest>;
