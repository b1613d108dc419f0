import { z } from 'zod';
import { FormFile } from '../route/form-file.js';

const TRANSCRIPT_FORMATS = ['json', 'text', 'srt', 'verbose_json', 'vtt'] as const;

/** Enough for the 224 tokens that models read. */
const PROMPT_CHARACTERS = 4_096;

const form = {
  file: FormFile.describe(
    'The audio: WAV, MP3, AAC, FLAC, Ogg (Opus, Vorbis), MP4, M4A or WebM, at most 25 MB. Its content decides, not its name.',
  ),
  model: z.string().min(1).describe('The id or an alias of an `asr` model.'),
  prompt: z
    .string()
    .max(PROMPT_CHARACTERS)
    .optional()
    .describe('Text that shows the style or the spelling of names.'),
  response_format: z
    .enum(TRANSCRIPT_FORMATS)
    .default('json')
    .describe('`text`, `srt` and `vtt` are returned as `text/plain`.'),
  temperature: z.number().min(0).max(1).optional(),
  timestamps: z
    .boolean()
    .optional()
    .describe('Whether `json` contains the times of words and segments. Default: `false`.'),
  timestamp_granularities: z
    .array(z.enum(['word', 'segment']))
    .max(16)
    .default(['segment'])
    .describe('The times that `verbose_json` contains.'),
  stream: z
    .boolean()
    .optional()
    .describe(
      'Whether the transcript is returned as events, once it is complete and charged. They have its text, without times.',
    ),
  chunking_strategy: z
    .union([z.string(), z.record(z.string(), z.unknown())])
    .optional()
    .describe('Accepted but not used.'),
  include: z.array(z.string()).optional().describe('Accepted but not used.'),
};

interface EventTerms {
  readonly stream?: boolean | undefined;
  readonly response_format: (typeof TRANSCRIPT_FORMATS)[number];
  readonly timestamps?: boolean | undefined;
}

/** Events have only the text. */
const hasFormatOfEvents = ({ stream, response_format: format, timestamps }: EventTerms): boolean =>
  stream !== true || (timestamps !== true && (format === 'json' || format === 'text'));

const FORMAT_OF_EVENTS = {
  path: ['stream'],
  error: 'stream is only allowed with the response_format `json` or `text`, and without timestamps',
};

/** An audio file to translate into English, as a form. The backend gets unknown members that it may. */
export const TranslationRequest = z.looseObject(form).refine(hasFormatOfEvents, FORMAT_OF_EVENTS);

/** An audio file to transcribe, as a form. The backend gets unknown members that it may. */
export const TranscriptionRequest = z
  .looseObject({
    ...form,
    language: z
      .string()
      .regex(/^[A-Za-z]{2,3}$/, 'Must be the ISO 639-1 code of a language, such as `en`')
      .optional()
      .describe('The ISO 639-1 code of the language that is spoken. Default: detected.'),
  })
  .refine(hasFormatOfEvents, FORMAT_OF_EVENTS);

const Seconds = z.number().nonnegative();
const Span = { start: Seconds, end: Seconds };
const Words = z.array(z.object({ word: z.string(), ...Span }));

const Usage = z.object({ type: z.literal('duration'), seconds: Seconds });

const common = {
  text: z.string(),
  duration: Seconds.describe('The seconds of audio that are charged.'),
  usage: Usage,
};

const PlainTranscript = z.object({
  ...common,
  timestamps: z
    .object({ word: Words, segment: z.array(z.object({ text: z.string(), ...Span })) })
    .optional()
    .describe('With `timestamps: true`.'),
});

const VerboseTranscript = z.object({
  task: z.enum(['transcribe', 'translate']),
  language: z.string().describe('As the model names it; `unknown` if it does not.'),
  ...common,
  segments: z
    .array(
      z.object({
        id: z.int(),
        seek: z.int(),
        ...Span,
        text: z.string(),
        tokens: z.array(z.int()),
        temperature: z.number(),
        avg_logprob: z.number(),
        compression_ratio: z.number(),
        no_speech_prob: z.number(),
      }),
    )
    .optional()
    .describe('Numbers that the model does not report are 0, and `tokens` is empty.'),
  words: Words.optional(),
});

export const TranscriptReply = z.union([VerboseTranscript, PlainTranscript]);

/** An event of a transcript: first one with all of the text, then one with its end. */
export const TranscriptEvent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('transcript.text.delta'), delta: z.string() }),
  z.object({ type: z.literal('transcript.text.done'), text: z.string(), usage: Usage }),
]);

export type TranscriptionRequest = z.infer<typeof TranscriptionRequest>;
export type TranslationRequest = z.infer<typeof TranslationRequest>;
export type TranscriptReply = z.infer<typeof TranscriptReply>;
export type TranscriptEvent = z.infer<typeof TranscriptEvent>;
