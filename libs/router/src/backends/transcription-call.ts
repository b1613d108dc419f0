import { AUDIO_MEDIA_TYPES } from '@svc/contracts/catalog';
import type { CallFile, Transcript, TranscriptionCall } from '@svc/contracts/inference';
import { Problem, invalidRequest } from '@svc/contracts/problems';
import type { TranscribedFile } from '../dialects/dialect.js';
import { formWriter } from '../dialects/form-body.js';
import type { RouterConfig } from '../router.config.js';
import type { LiveBackend } from './backend-pool.js';
import type { Passing } from './call-body.js';
import type { CallMode } from './call-mode.js';

/** How a file is sent, and the response read, in a format. */
export function transcriptionModes(
  { kind, audio, file }: TranscriptionCall,
  settings: RouterConfig,
  pass: Passing,
): (format: TranscribedFile['format']) => CallMode<{ readonly result: Transcript }> {
  const { ROUTER_TRANSCRIPTION_TIMEOUT_MS: limitMs, ROUTER_RESPONSE_LIMIT_BYTES: limitBytes } = settings;
  const form = formWriter();
  return (format) => ({
    deadlineMs: limitMs,
    pauseMs: limitMs,
    isStream: false,
    contentType: form.contentType,
    serves: (live) => readsAudio(live, file),
    body: (live) => {
      const passed = { ...audio, others: pass(audio.others, live) };
      return form.body(live.dialect.transcriptionForm(live.backend, passed, { kind, file, format }));
    },
    take: async (exchange, { dialect }) => ({
      result: dialect.readTranscript(await exchange.text(limitBytes)),
    }),
  });
}

/** Whether a backend reads files of this type. */
export function readsAudio({ backend, dialect }: LiveBackend, { type }: CallFile): boolean {
  const formats = backend.audioFormats ?? dialect.audioFormats;
  return formats?.some((format) => AUDIO_MEDIA_TYPES[format] === type) ?? true;
}

export function unreadable({ type }: CallFile): Problem {
  const message = `must be a file that this model reads; it does not read ${type}`;
  return invalidRequest([{ code: 'custom', path: ['file'], message }]);
}

/** vLLM names the format in its message only. */
export function isRefusedFormat(error: unknown): boolean {
  if (!(error instanceof Problem) || error.code !== 'INVALID_REQUEST') return false;
  return error.param === 'response_format' || /response_format|verbose_json/.test(error.message);
}
