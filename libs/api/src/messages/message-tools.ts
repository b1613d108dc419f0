import { z } from 'zod';
import { CHARS, ITEMS, chars, maybe } from '../chat/chat-bounds.js';
import { CacheControl } from '../chat/chat-messages.js';

/** Anthropic's names for the web search, which is this service's own here. */
const WEB_SEARCH_TYPES = ['web_search_20250305', 'web_search_20260209', 'web_search_20260318'] as const;

const name = chars(CHARS.toolName).min(1);

const notOffered = ({ input }: { readonly input?: unknown }): string =>
  `The tool ${JSON.stringify(String(input).slice(0, CHARS.word))} is not offered here. Offered are custom tools and web_search.`;

/** A search here takes no lists of domains and no place. */
const without = (message: string) => z.array(z.unknown()).max(0, message).nullish();

/**
 * A tool of the client, with the schema of its input, or the web search. The other members of Anthropic's
 * tools have no effect.
 */
const MessageTool = z
  .object({
    type: z.enum(['custom', ...WEB_SEARCH_TYPES], { error: notOffered }).nullish(),
    name,
    description: maybe(CHARS.description),
    /** A JSON Schema, which is not interpreted here. */
    input_schema: z.looseObject({}).nullish(),
    strict: z.boolean().nullish(),
    max_uses: z.int().min(1).nullish(),
    allowed_domains: without('allowed_domains is not offered; a search covers the whole web'),
    blocked_domains: without('blocked_domains is not offered; a search covers the whole web'),
    user_location: z.null({ error: 'user_location is not offered; searches have no place' }).optional(),
    cache_control: CacheControl.nullish(),
  })
  .refine(({ type, input_schema: schema }) => isWebSearch(type) || schema, {
    path: ['input_schema'],
    error: 'is required and must be an object',
  })
  .meta({ title: 'MessageTool' });

export function isWebSearch(type: string | null | undefined): boolean {
  return type !== undefined && type !== null && type !== 'custom';
}

export const MessageTools = z.array(MessageTool).max(ITEMS.tools);

const parallel = { disable_parallel_tool_use: z.boolean().nullish() };

export const MessageToolChoice = z.discriminatedUnion('type', [
  z.object({ type: z.literal('auto'), ...parallel }),
  z.object({ type: z.literal('any'), ...parallel }),
  z.object({ type: z.literal('tool'), name, ...parallel }),
  z.object({ type: z.literal('none') }),
]);

export type MessageToolChoice = z.infer<typeof MessageToolChoice>;
