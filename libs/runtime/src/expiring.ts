/** A value that is valid for some time from now on. */
export interface Lent<Value> {
  readonly value: Value;
  readonly lifetimeMs: number;
}

/** The part of its lifetime after which a value is replaced. What uses it may need it for a while. */
const FRESH_PART = 0.5;

/**
 * Keeps a value, such as a token, for half of its lifetime. Calls at the same time share one fetch. While
 * fetches fail, the previous value is used until it expires.
 */
export function expiring<Value>(
  fetched: () => Promise<Lent<Value>>,
  nowMs: () => number = () => performance.now(),
): () => Promise<Value> {
  let kept: { value: Value; renewMs: number; endMs: number } | undefined;
  let pending: Promise<Value> | undefined;
  const renew = async (): Promise<Value> => {
    const startMs = nowMs();
    try {
      const { value, lifetimeMs } = await fetched();
      kept = { value, renewMs: startMs + FRESH_PART * lifetimeMs, endMs: startMs + lifetimeMs };
      return value;
    } catch (error) {
      if (kept && nowMs() < kept.endMs) return kept.value;
      throw error;
    } finally {
      pending = undefined;
    }
  };
  return () => {
    if (kept && nowMs() < kept.renewMs) return Promise.resolve(kept.value);
    pending ??= renew();
    return pending;
  };
}
