import type { ServedBy, EmbeddingTexts, EmbeddingVectors } from '@svc/contracts/inference';

/** The most concurrent batches of one request. */
export const BATCHES_AT_ONCE = 4;

/** The texts in batches of at most `size`, each with its offset. */
export function* batchesOf(
  { inputs, ...rest }: EmbeddingTexts,
  size: number,
): Generator<{ at: number; texts: EmbeddingTexts }, undefined, undefined> {
  for (let at = 0, from = 0; from < inputs.length; at += 1, from += size)
    yield { at, texts: { ...rest, inputs: inputs.slice(from, from + size) } };
}

/** The vectors of all batches. The token count is known only if every batch reported one. */
export function joined(parts: readonly EmbeddingVectors[]): EmbeddingVectors {
  const vectors = parts.flatMap((part) => part.vectors);
  let promptTokens: number | undefined = 0;
  for (const part of parts)
    promptTokens =
      promptTokens === undefined || part.promptTokens === undefined
        ? undefined
        : promptTokens + part.promptTokens;
  return { vectors, ...(promptTokens !== undefined && { promptTokens }) };
}

/** The backend of the first batch, and the number of failed calls of all batches. */
export function servedByOf(parts: readonly ServedBy[]): ServedBy {
  const retries = parts.reduce((sum, part) => sum + part.retries, 0);
  return { backend: parts[0]?.backend ?? '', retries };
}
