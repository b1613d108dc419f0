import { BackendError, errorStatus } from '@svc/backend-calls';
import { type AudioToTranscribe, Transcript } from '@svc/contracts/inference';
import type { Backend } from '@svc/contracts/catalog';
import { RESPONSE_JSON_LIMITS, jsonOrUndefined } from '@svc/runtime';
import { z } from 'zod';
import type { TranscribedFile, TranscriptionsDialect } from '../dialect/dialect.js';
import { type FormMember, formRequest } from './form-body.js';

/** A number, which vLLM sends as a text. */
const Numeric = z.coerce.number().nonnegative();

const Span = { start: Numeric, end: Numeric };
const Word = z.object({ ...Span, word: z.string() });
const Optional = z.number().optional().catch(undefined);
const Segment = z.object({
  ...Span,
  text: z.string(),
  temperature: Optional,
  avg_logprob: Optional,
  compression_ratio: Optional,
  no_speech_prob: Optional,
  /** whisper.cpp has the words of each segment there. */
  words: z.array(Word).nullish().catch(undefined),
});

const Response = z.object({
  text: z.string(),
  language: z.string().optional().catch(undefined),
  duration: Numeric.optional().catch(undefined),
  usage: z.object({ seconds: Numeric }).optional().catch(undefined),
  segments: z.array(Segment).nullish(),
  words: z.array(Word).nullish(),
});

export const transcriptions: TranscriptionsDialect = {
  fields: new Set(
    'hotwords seed top_k top_p min_p frequency_penalty presence_penalty repetition_penalty vad_filter'.split(
      ' ',
    ),
  ),
  request: (backend, audio, transcribed) =>
    formRequest(
      transcribed.kind === 'transcription' ? '/audio/transcriptions' : '/audio/translations',
      transcriptionForm(backend, audio, transcribed),
    ),
  read: readTranscript,
};

/**
 * OpenAI's API as implemented by vLLM, SGLang, speaches and LocalAI. The format is always sent: LocalAI's
 * default is another. `stream` is never sent, since vLLM's events are not OpenAI's.
 */
export function transcriptionForm(
  { model }: Backend,
  { language, prompt, temperature, timestamps, others }: AudioToTranscribe,
  { file, format }: TranscribedFile,
): FormMember[] {
  const own: FormMember[] = [
    ['model', model],
    ['response_format', format],
    ...(language === undefined ? [] : ([['language', language]] as const)),
    ...(prompt === undefined ? [] : ([['prompt', prompt]] as const)),
    ...(temperature === undefined ? [] : ([['temperature', String(temperature)]] as const)),
    // Only a verbose response has them, and some servers reject them otherwise.
    ...(format === 'json' ? [] : timestamps.map((each) => ['timestamp_granularities[]', each] as const)),
    ['file', file],
  ];
  const names = new Set([...own.map(([name]) => name), 'stream']);
  const further = Object.entries(others).filter(([name]) => !names.has(name));
  return [...further.flatMap(([name, value]) => [value].flat().map((each) => [name, each] as const)), ...own];
}

/**
 * Reads a transcript in the verbose or the short form, without the space before the text that most servers
 * return. Throws if the body is not a transcript.
 */
function readTranscript(body: string): Transcript {
  const read = Response.safeParse(jsonOrUndefined(body, RESPONSE_JSON_LIMITS));
  if (!read.success) {
    const status = errorStatus(body);
    throw status === undefined ? new Error('the response has no transcript') : new BackendError(status, body);
  }
  const { text, language, duration, usage, segments, words } = read.data;
  const seconds = duration ?? usage?.seconds;
  return Transcript.parse({
    text: text.trim(),
    language,
    seconds,
    segments: segments ?? [],
    words: words ?? segments?.flatMap((segment) => segment.words ?? []) ?? [],
  });
}
