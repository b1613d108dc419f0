import { jsonHeaders } from '@svc/backend-calls';
import type { Dialect } from '../dialect/dialect.js';

/**
 * Kokoro-FastAPI, which streams by default and has its own name for the language. A backend's model is
 * `kokoro`, `tts-1` or `tts-1-hd`.
 */
export const kokoro: Dialect = {
  headers: jsonHeaders,
  speech: {
    fields: new Set(['volume_multiplier', 'normalization_options']),
    request({ model }, { input, voice, format, isStreamed, speed, language, others }) {
      const own = { speed, lang_code: language, stream: isStreamed };
      const body = { ...others, ...own, model, input, voice, response_format: format };
      return { path: '/audio/speech', body: [Buffer.from(JSON.stringify(body))] };
    },
  },
};
