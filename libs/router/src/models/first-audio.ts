import { BackendError, type ByteSource, errorStatus } from '@svc/backend-calls';
import type { SpeechFormat } from '@svc/contracts/catalog';
import type { Exchange } from '@svc/runtime';
import { SIGNATURE_BYTES, isInFormat } from './audio-signatures.js';

/** Enough for any message of an error. */
const ERROR_LIMIT_BYTES = 64 * 1024;
const ERROR_READ_MS = 5_000;

/** The media types of error pages and messages. */
const TEXT_TYPE = /^\s*(text\/|application\/(\w+\+)?(json|xml))/i;

/**
 * Reads the beginning of a file of speech, and returns all bytes that arrived. Throws BackendError for an
 * error in place of audio, and Error for anything else that does not have this format, so that another
 * backend can be called.
 *
 * @param source The audio, if the response has it in another form.
 */
export async function firstAudio(
  exchange: Exchange,
  format: SpeechFormat,
  source: ByteSource,
): Promise<readonly Buffer[]> {
  const type = String(exchange.headers['content-type'] ?? '');
  if (source === exchange && TEXT_TYPE.test(type)) throw await textual(exchange);
  const bytes: Buffer[] = [];
  let size = 0;
  while (size < SIGNATURE_BYTES) {
    const arrived = await source.read();
    if (arrived.length === 0) break;
    for (const part of arrived) size += part.length;
    bytes.push(...arrived);
  }
  if (isInFormat(Buffer.concat(bytes).subarray(0, SIGNATURE_BYTES), format)) return bytes;
  throw new Error(
    `the response of ${size < SIGNATURE_BYTES ? size : 'many'} bytes is not in the format ${format}`,
  );
}

/** The error for a text with status 200. */
async function textual(exchange: Exchange): Promise<Error> {
  exchange.endWithin(ERROR_READ_MS);
  const text = await exchange.beginning(ERROR_LIMIT_BYTES).catch(() => '');
  const status = errorStatus(text);
  return status === undefined ? new Error('the response is a text') : new BackendError(status, text);
}
