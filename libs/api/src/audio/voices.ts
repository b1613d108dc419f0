import { z } from 'zod';
import { FormFile } from '../route/form-file.js';

/** The longest text that is said in a sample. */
const TEXT_CHARACTERS = 1_000;

/** A sample of a voice, as a form. */
export const VoiceRequest = z.object({
  file: FormFile.describe(
    'Some seconds of one voice, in a format of `voice_cloning.accepted_formats` of the model, at most 25 MB. Its content decides, not its name.',
  ),
  model: z.string().min(1).describe('The id or an alias of a `tts` model with `voice_cloning`.'),
  text: z
    .string()
    .min(1)
    .max(TEXT_CHARACTERS)
    .optional()
    .describe('What is said in the sample, which makes the voice more alike with some models.'),
});

export type VoiceRequest = z.infer<typeof VoiceRequest>;

/** A cloned voice, for `voice` of speech by this model. */
export const VoiceReply = z.object({
  id: z.string().describe('For `voice` of `/audio/speech`, for seven days.'),
  model: z.string(),
});

export type VoiceReply = z.infer<typeof VoiceReply>;

/** How long cloned voices are kept. Source: the public interface. */
export const VOICE_DAYS = 7;
