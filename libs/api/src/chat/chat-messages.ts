import { z } from 'zod';
import { CHARS, ITEMS, chars, maybe } from './chat-bounds.js';
import { ToolCall } from './chat-tools.js';

export const CacheControl = z.object({ type: z.literal('ephemeral'), ttl: maybe(CHARS.word) });
const cacheable = { cache_control: CacheControl.nullish() };

export const TextPart = z.object({
  type: z.literal('text'),
  text: chars(CHARS.text).min(1),
  ...cacheable,
});

const AUDIO_FORMATS = ['wav', 'mp3', 'aiff', 'aac', 'ogg', 'flac', 'm4a', 'pcm16', 'pcm24'] as const;

const isDataUrl = (text: string): boolean => /^data:/i.test(text);

/** A data URL may be long, and parsing it as a URL would copy it several times. */
const isUrl = (text: string): boolean => isDataUrl(text) || (text.length <= CHARS.url && URL.canParse(text));

const Url = chars(CHARS.data)
  .refine(isUrl, {
    error: ({ input }) =>
      String(input).length > CHARS.url && !isDataUrl(String(input))
        ? `must have at most ${CHARS.url} characters, or be a data URL`
        : 'must be a data URL, or a URL that begins with http:// or https://',
  })
  .meta({ format: 'uri' });

export const ImageUrlPart = z.object({
  type: z.literal('image_url'),
  image_url: z.object({ url: Url, detail: maybe(CHARS.word) }),
  ...cacheable,
});

const AudioPart = z.object({
  type: z.literal('input_audio'),
  input_audio: z.object({
    data: chars(CHARS.data).min(1).meta({ format: 'byte' }),
    format: z.enum(AUDIO_FORMATS).nullish(),
  }),
  ...cacheable,
});

const VideoUrlPart = z.object({
  type: z.literal('video_url'),
  video_url: z.object({ url: Url }),
  ...cacheable,
});

const FilePart = z.object({
  type: z.literal('file'),
  file: z.object({ file_data: chars(CHARS.data).min(1), filename: maybe(CHARS.filename) }),
  ...cacheable,
});

/** The parts of a user message. */
export const ContentPart = z.discriminatedUnion('type', [
  TextPart,
  ImageUrlPart,
  AudioPart,
  VideoUrlPart,
  FilePart,
]);

const name = maybe(CHARS.name);
const Texts = z.array(TextPart).max(ITEMS.parts);
const TextOrTexts = z.union([chars(CHARS.text), Texts]);

const UserMessage = z.object({
  role: z.literal('user'),
  content: z.union([chars(CHARS.text), z.array(ContentPart).min(1).max(ITEMS.parts)]),
  name,
});

/** Each provider has its own fields here, and requires them back unchanged. */
const ReasoningDetail = z.looseObject({ type: chars(CHARS.id) });

const AssistantMessage = z.object({
  role: z.literal('assistant'),
  content: z.union([chars(CHARS.text), Texts, z.null()]).optional(),
  name,
  refusal: maybe(CHARS.text),
  reasoning_content: maybe(CHARS.text),
  reasoning: maybe(CHARS.text),
  reasoning_details: z.array(ReasoningDetail).max(ITEMS.details).nullish(),
  thought_signature: maybe(CHARS.text),
  tool_calls: z.array(ToolCall).max(ITEMS.toolCalls).nullish(),
  /** The completion continues this message, with backends that support that. */
  prefix: z.boolean().nullish(),
  partial: z.boolean().nullish(),
});

const ToolMessage = z.object({
  role: z.literal('tool'),
  content: TextOrTexts,
  tool_call_id: chars(CHARS.longId),
  name: maybe(CHARS.toolName),
});

const SystemMessage = z.object({ role: z.literal('system'), content: TextOrTexts, name });

const DeveloperMessage = SystemMessage.extend({ role: z.literal('developer') });

export const Message = z.discriminatedUnion('role', [
  UserMessage,
  AssistantMessage,
  ToolMessage,
  SystemMessage,
  DeveloperMessage,
]);

export type Message = z.infer<typeof Message>;
export type ContentPart = z.infer<typeof ContentPart>;
