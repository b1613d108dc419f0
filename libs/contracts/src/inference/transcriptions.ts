import { z } from 'zod';
import type { CallFile, CallOrigin, Served } from './calls.js';

/** How a file is to be transcribed or translated. */
export const AudioToTranscribe = z.object({
  /** The language that is spoken, as an ISO 639-1 code. */
  language: z.string().optional(),
  /** Text that guides the style, or that came before. */
  prompt: z.string().optional(),
  temperature: z.number().optional(),
  timestamps: z.array(z.enum(['word', 'segment'])),
  /** Further members for the backend. Those above take precedence. */
  others: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
});
export type AudioToTranscribe = z.infer<typeof AudioToTranscribe>;

const Seconds = z.number().nonnegative();
const Span = { start: Seconds, end: Seconds };

/** What is said in a file. */
export const Transcript = z.object({
  text: z.string(),
  language: z.string().optional(),
  /** The length of the audio as the backend measured it. */
  seconds: Seconds.optional(),
  /** Without members that only its decoder uses. */
  segments: z.array(
    z.object({
      ...Span,
      text: z.string(),
      temperature: z.number().optional(),
      avg_logprob: z.number().optional(),
      compression_ratio: z.number().optional(),
      no_speech_prob: z.number().optional(),
    }),
  ),
  words: z.array(z.object({ ...Span, word: z.string() })),
});
export type Transcript = z.infer<typeof Transcript>;

export interface TranscriptionCall extends CallOrigin {
  readonly kind: 'transcription' | 'translation';
  readonly audio: AudioToTranscribe;
  readonly file: CallFile;
}

/**
 * Calls of models that transcribe. Rejects as `Chat` does, and with INVALID_REQUEST for a file
 * that no backend reads.
 */
export abstract class Transcriptions {
  abstract transcribe(call: TranscriptionCall, signal: AbortSignal): Promise<Served<Transcript>>;
}
