import { z } from 'zod';
import { CHARS, ITEMS, chars, maybe } from '../chat/chat-bounds.js';
import { CacheControl } from '../chat/chat-messages.js';
import { namedMembers } from '../chat/schema-names.js';

const cacheable = { cache_control: CacheControl.nullish() };

/** Sources are cited in another way here, so the places that a client sends back are not used. */
const citations = z.array(z.looseObject({})).max(ITEMS.details).nullish();

const TextBlock = z.object({
  type: z.literal('text'),
  text: chars(CHARS.text).min(1),
  citations,
  ...cacheable,
});

const IMAGE_TYPES = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'] as const;

const base64 = chars(CHARS.data).min(1).meta({ format: 'byte' });

const url = chars(CHARS.url)
  .refine((text) => URL.canParse(text), 'must be a URL that begins with http:// or https://')
  .meta({ format: 'uri' });

const UrlSource = z.object({ type: z.literal('url'), url });

const ImageBlock = z.object({
  type: z.literal('image'),
  source: z.discriminatedUnion('type', [
    z.object({ type: z.literal('base64'), media_type: z.enum(IMAGE_TYPES), data: base64 }),
    UrlSource,
  ]),
  ...cacheable,
});

const DocumentBlock = z.object({
  type: z.literal('document'),
  source: z.discriminatedUnion('type', [
    z
      .object({ type: z.literal('base64'), media_type: z.literal('application/pdf'), data: base64 })
      .meta({ title: 'PdfSource' }),
    z.object({
      type: z.literal('text'),
      media_type: z.literal('text/plain'),
      data: chars(CHARS.text).min(1),
    }),
    z.object({
      type: z.literal('content'),
      content: z.union([
        chars(CHARS.text).min(1),
        z.array(z.discriminatedUnion('type', [TextBlock, ImageBlock])).max(ITEMS.parts),
      ]),
    }),
    UrlSource,
  ]),
  title: maybe(CHARS.filename),
  context: maybe(CHARS.text),
  citations: z
    .object({ enabled: z.literal(false, 'citations of documents are not offered').nullish() })
    .nullish(),
  ...cacheable,
});

const SearchResultBlock = z.object({
  type: z.literal('search_result'),
  source: chars(CHARS.url),
  title: chars(CHARS.filename),
  content: z.array(TextBlock).max(ITEMS.parts),
  citations: z
    .object({ enabled: z.literal(false, 'citations of search results are not offered').nullish() })
    .nullish(),
  ...cacheable,
});

/** What a tool may return. */
const ResultBlock = z
  .discriminatedUnion('type', [TextBlock, ImageBlock, DocumentBlock, SearchResultBlock])
  .meta(namedMembers('BlockParam'));

const ToolResultBlock = z.object({
  type: z.literal('tool_result'),
  tool_use_id: chars(CHARS.longId),
  content: z.union([chars(CHARS.text), z.array(ResultBlock).max(ITEMS.parts)]).nullish(),
  is_error: z.boolean().nullish(),
  ...cacheable,
});

const ToolUseBlock = z.object({
  type: z.literal('tool_use'),
  id: chars(CHARS.longId),
  name: chars(CHARS.toolName),
  input: z.looseObject({}),
  ...cacheable,
});

const ThinkingBlock = z.object({
  type: z.literal('thinking'),
  thinking: chars(CHARS.text),
  signature: chars(CHARS.signature),
});

const RedactedThinkingBlock = z.object({
  type: z.literal('redacted_thinking'),
  data: chars(CHARS.signature),
});

/**
 * Blocks of earlier responses that come from tools of the service or the provider. They go back to a provider
 * that has made them; other models do not need them.
 */
const ServerToolBlock = z
  .looseObject({
    type: z.enum([
      'server_tool_use',
      'web_search_tool_result',
      'web_fetch_tool_result',
      'code_execution_tool_result',
      'bash_code_execution_tool_result',
      'text_editor_code_execution_tool_result',
      'tool_search_tool_result',
      'mcp_tool_use',
      'mcp_tool_result',
      'container_upload',
      'compaction',
    ]),
  })
  .meta({ title: 'ServerToolBlock' });

/** The blocks of a user message. */
export const UserBlock = z
  .discriminatedUnion('type', [TextBlock, ImageBlock, DocumentBlock, SearchResultBlock, ToolResultBlock])
  .meta(namedMembers('BlockParam'));

/** The blocks of an assistant message. */
export const AssistantBlock = z
  .discriminatedUnion('type', [
    TextBlock,
    ThinkingBlock,
    RedactedThinkingBlock,
    ToolUseBlock,
    ServerToolBlock,
  ])
  .meta(namedMembers('BlockParam'));

/** A text, or a list of text blocks. */
export const Texts = z.union([chars(CHARS.text), z.array(TextBlock).max(ITEMS.parts)]);

export const MessageParam = z.discriminatedUnion('role', [
  z.object({
    role: z.literal('user'),
    content: z.union([chars(CHARS.text), z.array(UserBlock).min(1).max(ITEMS.parts)]),
  }),
  z.object({
    role: z.literal('assistant'),
    content: z.union([chars(CHARS.text), z.array(AssistantBlock).max(ITEMS.parts)]),
  }),
  z.object({ role: z.literal('system'), content: Texts }),
]);

export type UserBlock = z.infer<typeof UserBlock>;
export type AssistantBlock = z.infer<typeof AssistantBlock>;
export type MessageParam = z.infer<typeof MessageParam>;
