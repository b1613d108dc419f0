import type { BackendHealth } from './backend-health.js';

/** The share of the calls under way that may be retries, and how many may be in any case. */
const RETRY_SHARE = 0.2;
const LEAST_RETRIES = 3;

interface RetriedCandidate {
  readonly live: { readonly health: BackendHealth; readonly inFlight: number };
}

/**
 * Whether another backend is called after one failed. While most backends work, a call may leave one that
 * pauses: that adds nothing to the load. Otherwise retries are at most a fifth of the calls under way and
 * three, since a fault of all backends would double their load.
 */
export function mayRetry(
  { health }: RetriedCandidate['live'],
  candidates: readonly RetriedCandidate[],
): boolean {
  let paused = 0;
  let retrying = 0;
  let inFlight = 0;
  for (const { live } of candidates) {
    if (live.health.isPaused) paused += 1;
    retrying += live.health.retrying;
    inFlight += live.inFlight;
  }
  if (health.isPaused && paused * 2 <= candidates.length) return true;
  return retrying < inFlight * RETRY_SHARE + LEAST_RETRIES;
}
