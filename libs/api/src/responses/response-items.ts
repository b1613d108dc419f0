import { z } from 'zod';
import { CHARS, ITEMS, chars, maybe } from '../chat/chat-bounds.js';
import { ContentPart } from '../chat/chat-messages.js';
import { namedMembers } from '../chat/schema-names.js';

const [, ImageUrl, Audio, , File] = ContentPart.options;

const NOT_STORED = 'Files and responses are not stored here; send the content itself';

/** Rejects an id of something that would have to be stored. */
const notStored = z.null({ error: NOT_STORED }).optional();

const TextPart = z.object({ type: z.literal('input_text'), text: chars(CHARS.text).min(1) });

const ImagePart = z.object({
  type: z.literal('input_image'),
  image_url: ImageUrl.shape.image_url.shape.url,
  detail: maybe(CHARS.word),
  file_id: notStored,
});

const FilePart = z
  .object({
    type: z.literal('input_file'),
    file_data: File.shape.file.shape.file_data.nullish(),
    file_url: maybe(CHARS.url),
    filename: maybe(CHARS.filename),
    file_id: notStored,
  })
  .refine(({ file_data: data, file_url: url }) => (data ?? url ?? '') !== '', {
    path: ['file_data'],
    error: 'must have file_data or file_url',
  });

const AudioPart = z.object({ type: z.literal('input_audio'), input_audio: Audio.shape.input_audio });

const InputParts = z
  .array(z.discriminatedUnion('type', [TextPart, ImagePart, FilePart, AudioPart]).meta(namedMembers('Part')))
  .max(ITEMS.parts);

/** A part of the model's earlier output. Its annotations and log probabilities are not sent to the model. */
const OutputPart = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('output_text'), text: chars(CHARS.text) }),
    z.object({ type: z.literal('refusal'), refusal: chars(CHARS.text) }),
    z.object({ type: z.literal('input_text'), text: chars(CHARS.text) }),
  ])
  .meta(namedMembers('PartParam'));

const type = z.literal('message').nullish();
const Text = chars(CHARS.text);
const Texts = z.union([Text, z.array(TextPart).min(1).max(ITEMS.parts)]);

const UserItem = z.object({
  type,
  role: z.literal('user'),
  content: z.union([Text, InputParts.min(1)]),
});

const AssistantItem = z.object({
  type,
  role: z.literal('assistant'),
  content: z.union([Text, z.array(OutputPart).max(ITEMS.parts)]),
});

const InstructionItem = z.object({ type, role: z.enum(['system', 'developer']), content: Texts });

const callId = chars(CHARS.longId).min(1);
const toolName = chars(CHARS.toolName).min(1);

const FunctionCallItem = z.object({
  type: z.literal('function_call'),
  call_id: callId,
  name: toolName,
  namespace: maybe(CHARS.toolName),
  arguments: Text,
  extra_content: z.looseObject({}).nullish(),
});

const CustomCallItem = z.object({
  type: z.literal('custom_tool_call'),
  call_id: callId,
  name: toolName,
  namespace: maybe(CHARS.toolName),
  input: Text,
});

const output = z.union([Text, InputParts]);

const FunctionOutputItem = z.object({ type: z.literal('function_call_output'), call_id: callId, output });
const CustomOutputItem = z.object({ type: z.literal('custom_tool_call_output'), call_id: callId, output });

const ReasoningItem = z.object({
  type: z.literal('reasoning'),
  summary: z
    .array(z.object({ type: z.literal('summary_text'), text: Text }))
    .max(ITEMS.details)
    .nullish(),
  content: z
    .array(z.object({ type: z.literal('reasoning_text'), text: Text }))
    .max(ITEMS.details)
    .nullish(),
  encrypted_content: maybe(CHARS.signature),
});

/** The model sees the results of a search in what it wrote, so the call itself is not sent to it. */
const WebSearchItem = z.object({ type: z.literal('web_search_call') });

/** An element of `input`. */
export const InputItem = z.union([
  UserItem,
  AssistantItem,
  InstructionItem,
  FunctionCallItem,
  FunctionOutputItem,
  CustomCallItem,
  CustomOutputItem,
  ReasoningItem,
  WebSearchItem,
]);

export type InputItem = z.infer<typeof InputItem>;
