import type { LiveBackend } from '@svc/backend-calls';
import { AUDIO_MEDIA_TYPES } from '@svc/contracts/catalog';
import type { CallFile } from '@svc/contracts/inference';
import { Problem, invalidRequest } from '@svc/contracts/problems';
import type { Dialect } from '../dialect/dialect.js';

/** Whether a backend reads files of this type. */
export function readsAudio(
  { transcriptions }: Dialect,
  { backend }: LiveBackend,
  { type }: CallFile,
): boolean {
  const formats = backend.audioFormats ?? transcriptions?.audioFormats;
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
