import { setImmediate as turn } from 'node:timers/promises';

/** Milliseconds of work on a response before yielding to other requests. */
const TURN_MS = 4;

const FLOAT_BYTES = 4;

/**
 * The JSON of an `EmbeddingReply`. `rest` has all members except `data`. Large responses contain millions of
 * numbers, so they are written vector by vector.
 */
export async function embeddingJson(
  vectors: readonly string[],
  format: 'float' | 'base64',
  rest: object,
): Promise<string> {
  const parts: string[] = [];
  let turnEndsMs = performance.now() + TURN_MS;
  for (const [index, vector] of vectors.entries()) {
    const embedding = format === 'base64' ? `"${vector}"` : `[${numbersOf(vector).join(',')}]`;
    parts.push(`{"object":"embedding","index":${index},"embedding":${embedding}}`);
    if (performance.now() < turnEndsMs) continue;
    await turn();
    turnEndsMs = performance.now() + TURN_MS;
  }
  return `{"object":"list","data":[${parts.join(',')}],${JSON.stringify(rest).slice(1)}`;
}

/** The numbers of a vector, which are exactly its 32-bit floats. */
function numbersOf(vector: string): Float32Array {
  const bytes = Buffer.from(vector, 'base64');
  const numbers = new Float32Array(bytes.length / FLOAT_BYTES);
  for (let at = 0; at < numbers.length; at += 1) numbers[at] = bytes.readFloatLE(at * FLOAT_BYTES);
  return numbers;
}
