import type { ServiceProbe } from '../probe.js';

/** Below this part of a unit a cost says more about the moment than about the request. */
const MEASURABLE = 0.5;
/** The least of so many tries is the one that was disturbed least. */
const TRIES = 3;

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
  const { exponent, costs } = await growthOf(probe, sizes, act);
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
  return { exponent: exponentOf(costs.filter(({ units }) => units >= MEASURABLE)), costs };
}

/** The slope of the line through the logarithms, by least squares. */
function exponentOf(costs: Growth['costs']): number {
  if (costs.length < 2) return 0;
  const points = costs.map(({ size, units }) => [Math.log(size), Math.log(units)] as const);
  const mean = (at: 0 | 1): number => points.reduce((sum, point) => sum + point[at], 0) / points.length;
  const [meanX, meanY] = [mean(0), mean(1)];
  const covariance = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0);
  return covariance / points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
}
