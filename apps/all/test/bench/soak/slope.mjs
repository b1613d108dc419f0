import { median } from '../rounds.mjs';

/** Of a normal distribution, for an interval that contains the true value in 95 of 100 cases. */
const DEVIATIONS = 1.96;

/**
 * The slope of a line through points `[x, y]`, and an interval that contains the true one in 95 of 100 cases:
 * the median of the slopes between all pairs (Theil and Sen), which single outliers hardly change.
 */
export function slopeOf(points) {
  const slopes = points
    .flatMap(([x, y], at) => points.slice(at + 1).map(([x2, y2]) => (y2 - y) / (x2 - x)))
    .toSorted((a, b) => a - b);
  const count = points.length;
  const spread = DEVIATIONS * Math.sqrt((count * (count - 1) * (2 * count + 5)) / 18);
  const rank = (number) => slopes[Math.max(0, Math.min(slopes.length - 1, Math.round(number)))];
  return {
    slope: median(slopes),
    least: rank((slopes.length - spread) / 2),
    most: rank((slopes.length + spread) / 2),
  };
}
