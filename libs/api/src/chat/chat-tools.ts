import { z } from 'zod';
import { CHARS, ITEMS, chars, maybe } from './chat-bounds.js';
import { namedMembers } from './schema-names.js';

const toolName = chars(CHARS.toolName).min(1);
/** A JSON Schema, which is not interpreted here; the member limit of the body bounds its size. */
const JsonSchema = z.looseObject({});

const definition = {
  name: toolName,
  description: maybe(CHARS.description),
  parameters: JsonSchema.nullish(),
  strict: z.boolean().nullish(),
};

const FunctionTool = z.object({
  type: z.literal('function').optional(),
  id: maybe(CHARS.longId),
  function: z.object(definition),
});

/** A function in the form of OpenAI's Responses API. */
const FlatTool = z.object({ type: z.literal('function'), ...definition });

/** A function in the form of Anthropic's Messages API. */
const SchemaTool = z.object({
  type: z.literal('custom').nullish(),
  name: toolName,
  description: maybe(CHARS.description),
  input_schema: JsonSchema,
});

const Format = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('text') }),
    z.object({
      type: z.literal('grammar'),
      grammar: z.object({ definition: chars(CHARS.text), syntax: z.enum(['lark', 'regex']) }),
    }),
  ])
  .meta(namedMembers('ToolFormat'));

/** A tool that is called with free text. */
const CustomTool = z.object({
  type: z.literal('custom'),
  custom: z.object({ name: toolName, description: maybe(CHARS.description), format: Format.nullish() }),
});

/** Has no effect here: parameters of this service enable these tools. */
const ServerTool = z.object({ type: z.enum(['web_search', 'x_search']) });

export const Tool = z.union([FunctionTool, FlatTool, SchemaTool, CustomTool, ServerTool]);
export type Tool = z.infer<typeof Tool>;

const named = z.object({ name: toolName });
const FunctionChoice = z.object({ type: z.literal('function'), function: named });
const CustomChoice = z.object({ type: z.literal('custom'), custom: named });
const CHOICES = ['auto', 'none', 'required'] as const;

export const ToolChoice = z.union([
  z.enum(CHOICES),
  z.object({ type: z.enum(CHOICES) }),
  FunctionChoice,
  /** The form of the Responses API. */
  z.object({ type: z.literal('function'), name: toolName }),
  CustomChoice,
  z.object({
    type: z.literal('allowed_tools'),
    allowed_tools: z.object({
      mode: z.enum(['auto', 'required']),
      tools: z
        .array(z.union([FunctionChoice, CustomChoice]))
        .min(1)
        .max(ITEMS.tools),
    }),
  }),
]);
export type ToolChoice = z.infer<typeof ToolChoice>;

const call = { id: maybe(CHARS.longId), index: z.int().nullish() };

const FunctionCall = z.object({
  ...call,
  type: z.literal('function').nullish(),
  function: z.object({ name: chars(CHARS.toolName), arguments: maybe(CHARS.text) }),
  /** Providers put the signature of reasoning here, and require it back. */
  extra_content: JsonSchema.nullish(),
});

const CustomCall = z.object({
  ...call,
  type: z.literal('custom'),
  custom: z.object({ name: chars(CHARS.toolName), input: chars(CHARS.text) }),
});

/** A tool call of the assistant, as the completion contained it. */
export const ToolCall = z.union([FunctionCall, CustomCall]);
