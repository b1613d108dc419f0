import type { Served, ServedBy } from '@svc/contracts/inference';

/** The most concurrent batches of one request. */
const BATCHES_AT_ONCE = 4;

/** Makes the call of one batch. */
type BatchCall<Item, Part> = (items: readonly Item[], signal: AbortSignal) => Promise<Part & ServedBy>;

/** What a backend made of a batch. */
interface Counted {
  readonly promptTokens?: number | undefined;
}

/**
 * Calls for batches of at most `size` items, and joins what they make, in the order of the items. A failing
 * batch ends the others. The number of tokens is known only if it is known of each batch.
 */
export async function inBatches<Item, Part extends Counted>(
  items: readonly Item[],
  { size, signal }: { readonly size: number; readonly signal: AbortSignal },
  call: BatchCall<Item, Part>,
): Promise<Served<{ readonly parts: readonly Part[]; readonly promptTokens?: number }>> {
  const failing = new AbortController();
  const together = AbortSignal.any([signal, failing.signal]);
  const parts: (Part & ServedBy)[] = [];
  const batches = Math.ceil(items.length / size);
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < batches) {
      const at = next;
      next += 1;
      parts[at] = await call(items.slice(at * size, (at + 1) * size), together);
    }
  };
  try {
    await Promise.all(Array.from({ length: BATCHES_AT_ONCE }, work));
  } catch (error) {
    failing.abort();
    throw error;
  }
  const counts = parts.map(({ promptTokens }) => promptTokens);
  const promptTokens = counts.every((count) => count !== undefined)
    ? counts.reduce((sum, count) => sum + count, 0)
    : undefined;
  return {
    backend: parts[0]?.backend ?? '',
    retries: parts.reduce((sum, { retries }) => sum + retries, 0),
    result: { parts, ...(promptTokens !== undefined && { promptTokens }) },
  };
}
