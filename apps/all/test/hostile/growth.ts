import type { ServiceProbe } from '../probe.js';

/** A cost below one unit is allowed however it grows; it depends more on the moment than on the request. */
const MEASURABLE = 1;
/** A cost too small to be measured. */
const LEAST = 0.05;
/** The minimum number of attempts for each size. The lowest cost is the least disturbed one. */
const TRIES = 3;
/** Quadratic growth shows in every attempt, so more attempts don't help. */
const MOST_TRIES = 24;
/** No more attempts start after this CPU time of the service, which a busy machine does not shorten. */
const PATIENCE_CPU_MS = 60_000;
/** For tests that measure growth: quadratic growth takes time. */
export const GROWTH_MS = 240_000;

interface Growth {
  /** The exponent of the growth: 1 for linear, 2 for quadratic. 0 if the cost is too small to measure. */
  readonly exponent: number;
  /** CPU time of the service by size, in units, minus the cost of the smallest size. */
  readonly costs: readonly { readonly size: number; readonly units: number }[];
}

const NO_GROWTH: Growth = { exponent: 0, costs: [] };

/** Costs that grow faster than this are not linear, whatever the noise. */
const LINEAR = 1.5;

/** The cost of the smallest size is the baseline. */
const SMALLEST = 1;

/** Sizes that double, up to the largest one. */
export function doublings(largest: number, count = 5): number[] {
  return Array.from({ length: count }, (_, at) => Math.floor(largest / 2 ** (count - 1 - at)));
}

/** The fault in the growth of the service's CPU time with the size of the work; undefined if it is linear. */
export async function growthFaults(
  probe: ServiceProbe,
  sizes: readonly number[],
  act: (size: number) => Promise<unknown>,
): Promise<string[]> {
  const unitMs = await probe.unitMs();
  const leastMs = new Map<number, number>();
  const beganMs = await probe.cpuMs();
  let growth = NO_GROWTH;
  for (let tries = 1; tries <= MOST_TRIES; tries += 1) {
    for (const size of [SMALLEST, ...sizes]) {
      const beforeMs = await probe.cpuMs();
      await act(size);
      const costMs = (await probe.cpuMs()) - beforeMs;
      leastMs.set(size, Math.min(costMs, leastMs.get(size) ?? Number.POSITIVE_INFINITY));
    }
    growth = growthOf(leastMs, sizes, unitMs);
    if (tries < TRIES) continue;
    if (growth.exponent < LINEAR) return [];
    if ((await probe.cpuMs()) - beganMs > PATIENCE_CPU_MS) break;
  }
  const { exponent, costs } = growth;
  const figures = costs.map(({ size, units }) => `${size}: ${units.toFixed(2)}`).join(', ');
  return [`it grows with the power ${exponent.toFixed(2)} of the size (units of work by size: ${figures})`];
}

function growthOf(leastMs: ReadonlyMap<number, number>, sizes: readonly number[], unitMs: number): Growth {
  const unitsOf = (size: number): number => (leastMs.get(size) ?? 0) / unitMs;
  const smallest = unitsOf(SMALLEST);
  const costs = sizes.map((size) => ({ size, units: Math.max(0, unitsOf(size) - smallest) }));
  return { exponent: exponentOf(costs), costs };
}

/**
 * The slope on a logarithmic scale, over all steps: a collection of garbage at the largest size counts less
 * than over the last two.
 */
function exponentOf(costs: Growth['costs']): number {
  const from = costs[0];
  const to = costs.at(-1);
  if (!from || !to || to.units < MEASURABLE) return 0;
  return Math.log(to.units / Math.max(from.units, LEAST)) / Math.log(to.size / from.size);
}
