import type { Dialect } from './dialect.js';
import { openai } from './openai.js';

/**
 * Kokoro-FastAPI, which streams by default and has its own name for the language. A backend's model is
 * `kokoro`, `tts-1` or `tts-1-hd`.
 */
export const kokoro: Dialect = {
  ...openai,
  paths: { speech: '/audio/speech' },
  fields: { speech: new Set(['volume_multiplier', 'normalization_options']) },

  speechBody({ model }, { input, voice, format, isStreamed, speed, language, others }) {
    const own = { speed, lang_code: language, stream: isStreamed };
    return [Buffer.from(JSON.stringify({ ...others, ...own, model, input, voice, response_format: format }))];
  },
};
