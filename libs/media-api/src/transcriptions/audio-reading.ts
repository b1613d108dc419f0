import type { FormFile } from '@svc/api/route';
import { Problem, invalidRequest } from '@svc/contracts/problems';
import { type AudioFile, type AudioFiles, AudioRejected } from '@svc/media';

/**
 * The audio in the `file` of a form. Refuses: INVALID_REQUEST, and UNAVAILABLE while too many files are being
 * read.
 */
export async function audioIn(
  { bytes }: FormFile,
  files: AudioFiles,
  caller: { readonly account: string; readonly signal: AbortSignal },
): Promise<AudioFile> {
  try {
    return await files.read(bytes, caller);
  } catch (error) {
    if (!(error instanceof AudioRejected)) throw error;
    if (error.retryable) throw new Problem('UNAVAILABLE', { cause: error });
    throw invalidRequest([
      { code: 'custom', path: ['file'], message: `Cannot be read as audio: ${error.reason}` },
    ]);
  }
}
