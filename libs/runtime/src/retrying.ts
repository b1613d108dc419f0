import { setTimeout as sleep } from 'node:timers/promises';

interface Delays {
  /** The delay after the first failure. It doubles with each further one. */
  readonly firstMs: number;
  /** The longest delay. */
  readonly lastMs: number;
  /** Delays are random, up to their full length, so that callers that failed on each other part. */
  readonly isRandom?: boolean;
  /** Called after every failure, the last one included. */
  readonly onFailure?: (error: unknown, retryMs: number) => void;
}

interface Bounds {
  readonly attempts: number;
  /** No attempt starts later than this after the first. */
  readonly deadlineMs: number;
  /** Ends a delay, with an AbortError. It does not end an attempt. */
  readonly signal: AbortSignal;
  /** Whether another attempt would be useless. Called before and after each delay. */
  readonly isFinal: (error: unknown) => boolean;
}

/** At least one of the bounds. */
type SomeBounds = Partial<Bounds> & { [Bound in keyof Bounds]: Pick<Bounds, Bound> }[keyof Bounds];

export type Retries = Delays & SomeBounds;

/** The result of the first attempt that succeeds. Rejects with the error of the last one, or if aborted. */
export async function retrying<Result>(work: () => Promise<Result>, retries: Retries): Promise<Result> {
  const { firstMs, lastMs, attempts = Number.POSITIVE_INFINITY, signal, isFinal } = retries;
  const endMs = performance.now() + (retries.deadlineMs ?? Number.POSITIVE_INFINITY);
  let fullMs = firstMs;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      const retryMs = retries.isRandom ? Math.random() * fullMs : fullMs;
      retries.onFailure?.(error, retryMs);
      if (attempt >= attempts || performance.now() + retryMs > endMs || isFinal?.(error)) throw error;
      await sleep(retryMs, undefined, { signal });
      if (isFinal?.(error)) throw error;
    }
    fullMs = Math.min(2 * fullMs, lastMs);
  }
}
