import type { Metric } from '../cells/metrics.js';

const UNITS: Readonly<Record<string, string>> = { s: '_seconds', By: '_bytes' };

/** A valid Prometheus name. */
export const prometheusLabel = (name: string): string => name.replaceAll(/\W/g, '_');

/**
 * The name that Prometheus's OTLP receiver would give a metric, so that both ways lead to the same series.
 */
export function prometheusName({ kind, descriptor: { name, unit } }: Metric): string {
  const base = prometheusLabel(name);
  const suffix = UNITS[unit] ?? (unit === '1' && kind === 'gauge' ? '_ratio' : '');
  return `${base}${base.endsWith(suffix) ? '' : suffix}${kind === 'counter' ? '_total' : ''}`;
}
