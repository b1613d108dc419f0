import type { BackendHealth } from './backend-health.js';

/** What must be known of a backend, and of each of those with which it is compared. */
const OWN_CALLS = 10;
const OTHERS_CALLS = 5;

/** A backend fails by this share more often than the others. */
const MORE_FAILURES = 0.25;

/** It begins this much later than the others: by a factor, and by a time. */
const SLOWER = 5;
const LATER_MS = 500;

type OutlierReason = 'errors' | 'slow';

/** A backend that is to pause, since the others of its model do much better. */
interface Outlier {
  readonly health: BackendHealth;
  readonly reason: OutlierReason;
  /** In words for the operator. */
  readonly text: string;
  /** The time after which a response is late. */
  readonly slowMs: number;
}

/** The backends of a model that are to pause. Never do more than half of them pause. */
export function outliersAmong(all: readonly BackendHealth[]): Outlier[] {
  let free = Math.floor(all.length / 2);
  for (const health of all) if (health.isPaused) free -= 1;
  const found: Outlier[] = [];
  for (const health of all) {
    if (found.length >= free) break;
    if (health.isPaused) continue;
    const others = all.filter((other) => other !== health);
    const outlier = failing(health, others) ?? slow(health, others);
    if (outlier) found.push(outlier);
  }
  return found;
}

function failing(health: BackendHealth, others: readonly BackendHealth[]): Outlier | undefined {
  const { recent } = health;
  const own = recent.failedShare ?? 0;
  if (own <= MORE_FAILURES || recent.calls < OWN_CALLS || !recent.failedForSeveral) return undefined;
  const shares = others
    .filter((other) => other.recent.calls >= OTHERS_CALLS)
    .map((other) => other.recent.failedShare ?? 0);
  if (shares.length === 0) return undefined;
  const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length;
  if (own - mean <= MORE_FAILURES) return undefined;
  const text = `${percent(own)} of its calls fail, and ${percent(mean)} of those of the others`;
  return { health, reason: 'errors', text, slowMs: Infinity };
}

function slow(health: BackendHealth, others: readonly BackendHealth[]): Outlier | undefined {
  if (health.recent.firstBytes < OWN_CALLS) return undefined;
  const own = health.recent.firstByteMs(0.5) ?? 0;
  if (own < LATER_MS) return undefined;
  const medians = others
    .filter((other) => other.recent.firstBytes >= OTHERS_CALLS)
    .map((other) => other.recent.firstByteMs(0.5) ?? 0)
    .toSorted((a, b) => a - b);
  const usual = medians[medians.length >> 1];
  if (usual === undefined || own <= usual * SLOWER || own - usual <= LATER_MS) return undefined;
  const text = `It begins its responses in ${Math.round(own)} ms, and the others in ${Math.round(usual)} ms`;
  return { health, reason: 'slow', text, slowMs: Math.max(usual * SLOWER, usual + LATER_MS) };
}

const percent = (share: number): string => `${Math.round(share * 100)} %`;
