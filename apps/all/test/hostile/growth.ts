import type { ServiceProbe } from '../probe.js';

/** A cost below a unit is allowed however it grows, and says more about the moment than about the request. */
const MEASURABLE = 1;
/** A cost too small to be told from none. */
const LEAST = 0.05;
/** Each size is tried this often at least. The least of its costs is the one that was disturbed least. */
const TRIES = 3;
/** What grows with the square does so however often it is tried. */
const MOST_TRIES = 24;
/** No more tries begin after this much processor time of the service: a busy machine does not shorten it. */
const PATIENCE_CPU_MS = 60_000;
/** For a test that asks for growth: what grows with the square takes its time. */
export const GROWTH_MS = 240_000;

interface Growth {
  /** What the cost grows with: 1 with the size, 2 with its square. 0 where it stays too small to tell. */
  readonly exponent: number;
  /** Processor time of the service by size, in units, beside what the smallest size costs. */
  readonly costs: readonly { readonly size: number; readonly units: number }[];
}

const NO_GROWTH: Growth = { exponent: 0, costs: [] };

/** A cost that grows faster than this is not linear, whatever the noise. */
const LINEAR = 1.5;

/** What this costs is no cost of a size. */
const SMALLEST = 1;

/** Sizes that double, up to a largest one. */
export function doublings(largest: number, count = 5): number[] {
  return Array.from({ length: count }, (_, at) => Math.floor(largest / 2 ** (count - 1 - at)));
}

/** What is wrong with how the processor time of the service grows with the size of what is done; nothing if it is linear. */
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
  const told = costs.map(({ size, units }) => `${size}: ${units.toFixed(2)}`).join(', ');
  return [`it grows with the power ${exponent.toFixed(2)} of the size (units of work by size: ${told})`];
}

function growthOf(leastMs: ReadonlyMap<number, number>, sizes: readonly number[], unitMs: number): Growth {
  const unitsOf = (size: number): number => (leastMs.get(size) ?? 0) / unitMs;
  const smallest = unitsOf(SMALLEST);
  const costs = sizes.map((size) => ({ size, units: Math.max(0, unitsOf(size) - smallest) }));
  return { exponent: exponentOf(costs), costs };
}

/** The slope, by logarithms, over the last two steps. */
function exponentOf(costs: Growth['costs']): number {
  const [from, , to] = costs.slice(-3);
  if (!from || !to || to.units < MEASURABLE) return 0;
  return Math.log(to.units / Math.max(from.units, LEAST)) / Math.log(to.size / from.size);
}
