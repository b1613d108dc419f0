import { z } from 'zod';
import { SPEECH_FORMATS } from '../catalog/audio-models.js';
import type { CallOrigin } from './calls.js';
import type { ChunkStream } from './inference-router.js';

/** A text to be spoken. */
export const SpokenText = z.object({
  input: z.string().min(1),
  voice: z.string().min(1),
  /** How the voice sounds, if it is a cloned one. */
  sample: z
    .object({
      /** Its media type. */
      type: z.string(),
      base64: z.string(),
      /** What is said in it, if that is known. */
      text: z.string().optional(),
    })
    .optional(),
  format: z.enum(SPEECH_FORMATS),
  /** Whether the caller reads the audio while it is made. */
  isStreamed: z.boolean(),
  speed: z.number().optional(),
  language: z.string().optional(),
  /** How to speak, in words. */
  instructions: z.string().optional(),
  temperature: z.number().optional(),
  topP: z.number().optional(),
  /** Further members for the backend. Those above take precedence. */
  others: z.record(z.string(), z.unknown()),
});
export type SpokenText = z.infer<typeof SpokenText>;

export interface SpeechCall extends CallOrigin {
  readonly text: SpokenText;
}

/** Calls of models that speak. Rejects as `Chat` does. */
export abstract class Speech {
  /**
   * Resolves when the first bytes of the file have arrived and are in the format of the call, so that an
   * error still has its HTTP status.
   */
  abstract speak(call: SpeechCall, signal: AbortSignal): Promise<ChunkStream>;
}
