import { z } from 'zod';
import { SPEECH_FORMATS, VOICE_CHARACTERS } from '@svc/contracts/catalog';

/** Source of the bounds: the public interface. */
const INPUT_CHARACTERS = 4_096;
const PROMPT_CHARACTERS = 500;

/** The number of Unicode characters of a text: its code points. */
export function characterCount(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

const Input = z
  .string()
  .meta({ minLength: 1, maxLength: INPUT_CHARACTERS })
  .refine(
    (text) => text.length <= INPUT_CHARACTERS || characterCount(text) <= INPUT_CHARACTERS,
    `Must have at most ${INPUT_CHARACTERS} characters`,
  )
  .regex(/[\p{L}\p{N}]/u, 'Must contain speakable text: at least one letter or digit');

const Voice = z.string().min(1).max(VOICE_CHARACTERS);
const Prompt = z.string().max(PROMPT_CHARACTERS);

/** A text to speak. */
export const SpeechRequest = z.looseObject({
  model: z.string().min(1).describe('The id or an alias of a `tts` model.'),
  input: Input.describe(`The text, with at most ${INPUT_CHARACTERS} characters.`),
  voice: z
    .union([Voice, z.object({ id: Voice })])
    .nullish()
    .describe(
      'The name of a voice of the model, or the id of a cloned one. Default: the voice of the model.',
    ),
  response_format: z
    .enum(SPEECH_FORMATS)
    .nullish()
    .describe('One of the `supported_formats` of the model. Default: that of the model.'),
  speed: z.number().min(0.25).max(4).nullish(),
  streaming: z
    .boolean()
    .nullish()
    .describe('Whether to send the audio while it is made, instead of the whole file. Default: `false`.'),
  stream_format: z
    .enum(['audio'], {
      error: ({ input }) =>
        input === 'sse' ? '`sse` is not supported; use `audio` to stream the bytes of the file' : undefined,
    })
    .nullish()
    .describe("OpenAI's name: `audio` means `streaming: true`."),
  language: z.string().min(2).max(32).nullish().describe('For models that need it.'),
  prompt: Prompt.nullish().describe('How to speak, for models that support it.'),
  instructions: Prompt.nullish().describe("OpenAI's name for `prompt`."),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
});

export type SpeechRequest = z.infer<typeof SpeechRequest>;
