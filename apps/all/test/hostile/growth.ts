import type { ServiceProbe } from '../probe.js';

/** A cost below a unit is allowed however it grows, and says more about the moment than about the request. */
const MEASURABLE = 1;
/** A cost too small to be told from none. */
const LEAST = 0.05;
/** The least of so many tries is the one that was disturbed least. */
const TRIES = 3;
/** What grows with the square does so in each of so many measurements; what is disturbed, in some. */
const MEASUREMENTS = 8;
/** What is disturbed costs little and is measured often; no more measurements begin after so long. */
const PATIENCE_MS = 30_000;
/** For a test that asks for growth: what grows with the square takes its time. */
export const GROWTH_MS = 240_000;

interface Growth {
  /** What the cost grows with: 1 with the size, 2 with its square. 0 where it stays too small to tell. */
  readonly exponent: number;
  /** Processor time of the service by size, in units, beside what the smallest size costs. */
  readonly costs: readonly { readonly size: number; readonly units: number }[];
}

/** A cost that grows faster than this is not linear, whatever the noise. */
const LINEAR = 1.5;

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
  const began = performance.now();
  const isOver = (done: number): boolean =>
    done >= MEASUREMENTS || (done >= 2 && performance.now() - began > PATIENCE_MS);
  let growth = await growthOf(probe, sizes, act);
  for (let done = 1; growth.exponent >= LINEAR && !isOver(done); done += 1)
    growth = await growthOf(probe, sizes, act);
  const { exponent, costs } = growth;
  if (exponent < LINEAR) return [];
  const told = costs.map(({ size, units }) => `${size}: ${units.toFixed(2)}`).join(', ');
  return [`it grows with the power ${exponent.toFixed(2)} of the size (units of work by size: ${told})`];
}

async function growthOf(
  probe: ServiceProbe,
  sizes: readonly number[],
  act: (size: number) => Promise<unknown>,
): Promise<Growth> {
  const unitMs = await probe.unitMs();
  const costOf = async (size: number): Promise<number> => {
    let least = Number.POSITIVE_INFINITY;
    for (let attempt = 0; attempt < TRIES; attempt += 1) {
      const beforeMs = await probe.cpuMs();
      await act(size);
      least = Math.min(least, (await probe.cpuMs()) - beforeMs);
    }
    return least / unitMs;
  };
  const smallest = await costOf(1);
  const costs: { size: number; units: number }[] = [];
  for (const size of sizes) costs.push({ size, units: Math.max(0, (await costOf(size)) - smallest) });
  return { exponent: exponentOf(costs), costs };
}

/** The slope, by logarithms, over the last two steps. */
function exponentOf(costs: Growth['costs']): number {
  const [from, , to] = costs.slice(-3);
  if (!from || !to || to.units < MEASURABLE) return 0;
  return Math.log(to.units / Math.max(from.units, LEAST)) / Math.log(to.size / from.size);
}
