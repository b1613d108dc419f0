import { jsonHeaders } from '@svc/backend-calls';
import type { Dialect } from '../dialect/dialect.js';
import { formRequest } from './form-body.js';
import { transcriptionForm, transcriptions } from './openai-transcriptions.js';

/** Members of OpenAI's form that it does not have, or reads otherwise. */
const OTHERS = new Set(['model', 'translate', 'timestamp_granularities[]']);

/**
 * The server of whisper.cpp. It has one model, takes one request at a time, reads WAV only unless it is
 * started with `--convert`, and translates if told so.
 */
export const whisperCpp: Dialect = {
  headers: jsonHeaders,
  transcriptions: {
    fields: new Set(
      'temperature_inc entropy_thold logprob_thold no_speech_thold word_thold split_on_word max_len suppress_nst no_context'.split(
        ' ',
      ),
    ),
    audioFormats: ['wav'],

    request(backend, audio, transcribed) {
      const form = transcriptionForm(backend, audio, transcribed);
      return formRequest('/inference', [
        ...form.filter(([name]) => !OTHERS.has(name)),
        ...(transcribed.kind === 'translation' ? [['translate', 'true'] as const] : []),
      ]);
    },

    /** Its text has a line for each segment. */
    read(body) {
      const transcript = transcriptions.read(body);
      const lines = transcript.text.split('\n').map((line) => line.trim());
      return { ...transcript, text: lines.filter((line) => line !== '').join(' ') };
    },
  },
};
