import type { Readable } from 'node:stream';
import { Problem } from '@svc/contracts/problems';
import { DeadlineExceeded, within } from '../within.js';

/** A body may take this long, plus a second for each `bytesPerSecond` received. */
interface Pace {
  readonly graceMs: number;
  readonly bytesPerSecond: number;
}

/**
 * A body that its handler reads while it is received. Throws PAYLOAD_TOO_LARGE; REQUEST_INCOMPLETE if the
 * client takes too long for its size or leaves; INVALID_REQUEST if it cannot be decoded. The time that the
 * handler takes does not count.
 */
export async function* streamedBody(
  stream: Readable,
  { graceMs, bytesPerSecond }: Pace,
  limitBytes: number,
): AsyncGenerator<Buffer> {
  const chunks = stream.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer, undefined>;
  let bytes = 0;
  let waitedMs = 0;
  try {
    for (;;) {
      const leftMs = graceMs + (bytes / bytesPerSecond) * 1_000 - waitedMs;
      const sinceMs = performance.now();
      const next: IteratorResult<Buffer, undefined> = await within(Math.max(1, leftMs), chunks.next());
      waitedMs += performance.now() - sinceMs;
      if (next.done === true) return;
      bytes += next.value.length;
      if (bytes > limitBytes) throw new Problem('PAYLOAD_TOO_LARGE');
      yield next.value;
    }
  } catch (error) {
    throw error instanceof Problem ? error : faultOf(error);
  } finally {
    // The client sees a refusal only if the rest is read.
    stream.on('error', () => undefined);
    stream.resume();
  }
}

function faultOf(error: unknown): Problem {
  const { code } = error as NodeJS.ErrnoException;
  const isClient = error instanceof DeadlineExceeded || code === 'ECONNRESET' || code === 'ABORT_ERR';
  if (isClient) return new Problem('REQUEST_INCOMPLETE', { cause: error });
  const message = 'The body is not what its content-encoding says.';
  return new Problem('INVALID_REQUEST', { message, cause: error });
}
