import type { Dialect } from './dialect.js';
import { openai } from './openai.js';

const FIELDS = new Set(
  'temperature_inc entropy_thold logprob_thold no_speech_thold word_thold split_on_word max_len suppress_nst no_context'.split(
    ' ',
  ),
);

/**
 * The server of whisper.cpp. It has one model, takes one request at a time, reads WAV only unless it is
 * started with `--convert`, and translates if told so.
 */
export const whisperCpp: Dialect = {
  ...openai,
  paths: { transcription: '/inference', translation: '/inference' },
  fields: { transcription: FIELDS, translation: FIELDS },
  audioFormats: ['wav'],

  transcriptionForm(backend, audio, { file, format, kind }) {
    const form = openai.transcriptionForm(backend, audio, { file, format, kind });
    const isOwn = new Set(['model', 'translate', 'timestamp_granularities[]']);
    return [
      ...form.filter(([name]) => !isOwn.has(name)),
      ...(kind === 'translation' ? [['translate', 'true'] as const] : []),
    ];
  },

  /** Its text has a line for each segment. */
  readTranscript(body) {
    const transcript = openai.readTranscript(body);
    const lines = transcript.text.split('\n').map((line) => line.trim());
    return { ...transcript, text: lines.filter((line) => line !== '').join(' ') };
  },
};
